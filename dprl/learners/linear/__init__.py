"""Learners for linear models; each file contains one paper's algorithm."""
