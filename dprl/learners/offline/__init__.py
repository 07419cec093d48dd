"""Offline learners: pessimism on a private data set. One paper algorithm a file."""
