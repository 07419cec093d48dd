"""The sentences about charts: one (Markdown) for each, about the numbers that are drawn.

Words only: the numbers are those of the figures' own records and of `metrics`. The figure itself explains the parts
that a drawing leaves out, and the meaning of its signs.
"""
