"""Offline learners, which plan pessimistically from one private data set; each file contains one paper's algorithm."""
