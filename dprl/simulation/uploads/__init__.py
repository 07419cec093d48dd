"""Uploaded data sets: what is declared of them, how they are read, kept and learned from."""
