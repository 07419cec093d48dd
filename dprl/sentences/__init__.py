"""The sentences shown with charts, one (in Markdown) for each, about the numbers drawn.

This package writes text only; the numbers come from the figures' own records and from `metrics`. The figure itself
explains its symbols, and any part of a curve that is not drawn.
"""
