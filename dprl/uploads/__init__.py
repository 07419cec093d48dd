"""Files that visitors upload, read in the background: pages compute nothing."""
