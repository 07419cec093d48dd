"""The sentences shown with charts, in Markdown: one for each chart, about the numbers drawn.

This package writes text only; the numbers come from the figures' own records and from `metrics`. The figure itself
explains its symbols, and any part of a curve that is not drawn.
"""
