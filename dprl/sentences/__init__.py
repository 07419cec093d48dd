"""Sentences in Markdown that describe charts, each written from the numbers drawn in one chart.

This package writes text only; the numbers come from the figures' own records and from `metrics`. The figure itself
explains its symbols, and any part of a curve that is not drawn.
"""
