"""Read visitors' files in separate processes, because the pages themselves compute nothing."""
