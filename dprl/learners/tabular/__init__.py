"""Tabular learners, which plan by optimistic backward induction whenever counts are released."""
