"""Learners of linear models: one paper algorithm per file."""
