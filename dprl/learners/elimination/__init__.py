"""Learners that eliminate policies, stage by stage."""
