"""The view of Offline."""

from __future__ import annotations

from dataclasses import dataclass

from dprl.links import MAX_CURVES
from pages.shared.visitor.links import View
from pages.shared.visitor.views import like, looked

TABS = ("gap", "pessimism", "policy", "coverage", "guarantee", "data")
MEASURES = ("gap", "price")
POLICY_CHARTS = ("steps", "visits", "V")
BIGGEST = 10**12


@dataclass(frozen=True)
class OfflineView:
    """These defaults stand in no link, so they never change."""

    tab: str = looked("gap", "the open tab", "tab", choices=TABS)
    measure: str = looked("gap", "what is drawn over n", "m", choices=MEASURES)
    y: str = looked("log", "the vertical axis", "y", choices=("log", "linear"))
    each: str = looked("off", "a line for every repetition", "each", choices=("on", "off"))
    curve: int = looked(-1, "the run looked at, -1: the most private", "i", low=-1, high=MAX_CURVES - 1)
    seed: int = looked(0, "which repetition is looked at", "seed", low=0, high=99)
    n: int = looked(0, "the size looked at, 0: the largest not yet enough", "n", low=0, high=BIGGEST)
    h: int = like(View, "h")
    drawn: str = looked("steps", "the chart of the policy", "pol", choices=POLICY_CHARTS)
