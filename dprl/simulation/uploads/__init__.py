"""Uploaded data sets: declare them, read and store them, and learn from them with privacy."""
