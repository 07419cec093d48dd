"""Files that visitors give, read in the background: pages compute nothing."""
