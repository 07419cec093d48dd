"""What there is to see in a chart: one sentence (Markdown) for each, about the numbers that are drawn.

Words only: the numbers are those of the figures' own records and of `metrics`. What a drawing leaves out, and what a
sign in it means, is said by the figure.
"""
