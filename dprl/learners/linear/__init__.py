"""Learners for linear models, one paper's algorithm in each file."""
