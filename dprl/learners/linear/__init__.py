"""Learners for linear models."""
