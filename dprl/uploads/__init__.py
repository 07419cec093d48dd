"""Reading files that visitors upload, in the background, because pages compute nothing."""
