"""Plotly figures made from arrays, each with alt text, a sentence on how to read it, and a table of its numbers."""
