"""Offline learners, which plan pessimistically from one private data set."""
