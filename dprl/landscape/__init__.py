"""Every private learner of the registry beside the others: one proved guarantee, the same problems, the same users."""

from __future__ import annotations

from dprl.landscape.entry import BUDGET, PROBLEMS, SEEDS, TARGET, Entry, LandscapeProblem, bound_of, entries
from dprl.landscape.rows import COLUMNS, Row, frame, rows, terminal_text
from dprl.landscape.table import Cell, Landscape, NoisePromise

__all__ = [
    "BUDGET",
    "COLUMNS",
    "PROBLEMS",
    "SEEDS",
    "TARGET",
    "Cell",
    "Entry",
    "Landscape",
    "LandscapeProblem",
    "NoisePromise",
    "Row",
    "bound_of",
    "entries",
    "frame",
    "rows",
    "terminal_text",
]
