"""Offline learners, which plan pessimistically from a private data set; one paper's algorithm in each file."""
