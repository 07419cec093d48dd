"""Learners for linear models; each file has one paper's algorithm."""
