"""Read files that visitors upload, in separate processes, because the pages themselves compute nothing."""
