"""Figures for papers: the description that Plotly draws on a page, drawn by Matplotlib at a paper's width.

`figure.py` lays it out, `traces.py` draws what is in it, `axes.py` its axes, `text.py` its words.
"""

from dprl.figures.paper.figure import FORMATS, WIDTHS, MissingExtra, drawn, saved

__all__ = ["FORMATS", "WIDTHS", "MissingExtra", "drawn", "saved"]
