"""Every private learner of the registry beside the others: one proved guarantee, the same problems, the same users."""

from __future__ import annotations

from dprl.landscape.entry import BUDGET, PROBLEMS, SEEDS, TARGET, Entry, Problem, bound_of, entries
from dprl.landscape.rows import COLUMNS, Row, frame, rows, text
from dprl.landscape.table import Cell, Landscape, Promise

__all__ = [
    "BUDGET",
    "COLUMNS",
    "PROBLEMS",
    "SEEDS",
    "TARGET",
    "Cell",
    "Entry",
    "Landscape",
    "Problem",
    "Promise",
    "Row",
    "bound_of",
    "entries",
    "frame",
    "rows",
    "text",
]
