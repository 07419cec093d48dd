"""Offline learners, which plan pessimistically from one private data set; each file has one paper's algorithm."""
