"""What is looked at on Linear, and how."""

from __future__ import annotations

from dataclasses import dataclass

from dprl.links import MAX_CURVES
from dprl.metrics import Statistic
from pages.shared.visitor.links import View
from pages.shared.visitor.views import like, looked

# In the order in which they came: links with a tab that there is not are answered with this list. page.py orders them.
TABS = ("regret", "exponents", "ellipsoid", "eigenvalues", "weights", "guarantee", "data")
MEASURES = ("cumulative", "per-episode", "extra", "share")
PROBLEMS = ("same", "harder")
MOST_WEIGHTS = 1000


@dataclass(frozen=True)
class LinearView:
    """These defaults stand in no link, so they never change."""

    tab: str = looked("regret", "the open tab", "tab", choices=TABS)
    measure: str = looked("per-episode", "which regret is drawn", "m", choices=MEASURES)
    statistic: Statistic = like(View, "statistic")
    x: str = like(View, "x")
    y: str = like(View, "y")
    each: str = like(View, "each")
    problem: str = looked("same", "what exponents are of", "of", choices=PROBLEMS)
    curve: int = looked(-1, "the run looked at, -1: the most private", "i", low=-1, high=MAX_CURVES - 1)
    seed: int = like(View, "seed")
    episode: int = like(View, "episode")
    h: int = looked(0, "the step of the episode", "h", low=0, high=999)
    first: int = looked(0, "the weight along the horizontal axis", "w1", low=0, high=MOST_WEIGHTS)
    second: int = looked(1, "the weight along the vertical axis", "w2", low=0, high=MOST_WEIGHTS)
    near: str = looked("on", "axes that the confidence set fills", "near", choices=("on", "off"))
