"""Learners that replan at every release, by optimistic backward induction on released counts."""
