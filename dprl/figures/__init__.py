"""Figures: arrays in, plotly figures out, each with its alt text, one sentence to read it by, and its numbers."""
