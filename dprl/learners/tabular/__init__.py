"""Tabular learners, which plan again at every release by optimistic backward induction on released counts."""
