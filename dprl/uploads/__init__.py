"""Read files that visitors upload, in separate processes, because pages themselves compute nothing."""
