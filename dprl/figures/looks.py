"""The look of a curve, the same on every page, so that it identifies the run.

The hue shows the privacy model, the shade the budget epsilon (a more private run contrasts more with the page), the
marker the noise, and the dashes the learner. Curves that still look the same are numbered. The colours of two models
differ by at least 11 (CIEDE2000) at any budgets for normal, deuteranopic and protanopic eyes, and common budgets of one
model can be distinguished (tests/figures/test_looks.py).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dprl.figures.picture import Sketch
from dprl.figures.style import LOOK, SYMBOLS, mix, readable_on, theme

DASHES = (
    "solid",
    "10px,4px",
    "10px,3px,3px,3px",
    "18px,4px",
    "5px,3px",
    "18px,3px,3px,3px",
    "14px,3px,3px,3px,3px,3px",
    "3px,5px",
    "18px,3px,8px,3px",
    "5px,3px,5px,8px",
    "24px,4px,3px,4px",
    "6px,9px",
    "16px,10px",
    "2px,2px",
    "8px,8px,2px,8px",
    "22px,9px,2px,9px",
    "12px,3px,12px,9px",
    "28px,7px",
    "4px,12px",
    "20px,4px,2px,4px,2px,4px",
)
DRAFT = "4px,4px"
ALIKE = 0.1  # shades closer than this look the same


@dataclass(frozen=True)
class CurveStyle:
    """The facts about a run that decide the look of its curve."""

    model: str  # none, central, local or shuffle
    epsilon: float | None = None  # the budget; None if there is none or if it differs from point to point
    noise: int = 0  # the index of the mechanism (with its calibration) among those of the privacy model
    learner: int = 0  # the index of the learner in the list of learners
    number: int = 1  # higher if an earlier curve looks the same
    draft: bool = False  # a draft disappears when the settings change, and has short dashes

    @property
    def symbol(self) -> str:
        """The marker's name in Plotly."""
        symbols = SYMBOLS[self.model]
        return symbols[self.noise % len(symbols)]

    @property
    def dash(self) -> str:
        """The dashes, in Plotly's notation."""
        return DRAFT if self.draft else DASHES[self.learner % len(DASHES)]

    @property
    def prefix(self) -> str:
        """The number before the name of a numbered curve."""
        return "" if self.number == 1 else f"{self.number}: "

    def color(self, dark: bool) -> str:
        """Return the colour #RRGGBB for a dark or a light page."""
        return color(self.model, self.epsilon, dark)


def numbered(kinds: Sequence[CurveStyle]) -> list[CurveStyle]:
    """Return the styles with a number for each that looks like an earlier one. The earlier style keeps its number."""
    result: list[CurveStyle] = []
    for kind in kinds:
        alike = [other for other in result if _one_color(other, kind)]
        taken = {other.number for other in alike if (other.symbol, other.dash) == (kind.symbol, kind.dash)}
        result.append(replace(kind, number=next(n for n in itertools.count(1) if n not in taken)))
    return result


def dashed(kinds: Sequence[CurveStyle]) -> list[CurveStyle]:
    """Give curves of one algorithm different dashes if their colours are the same. Apply `numbered` afterwards."""
    result: list[CurveStyle] = []
    for kind in kinds:
        taken = {other.dash for other in result if _one_color(other, kind)}
        ways = (replace(kind, learner=kind.learner + step) for step in range(len(DASHES)))
        result.append(next((one for one in ways if one.dash not in taken), kind))
    return result


def marked(kinds: Sequence[CurveStyle]) -> list[CurveStyle]:
    """Return the styles, with different markers for runs of the same privacy model if there are enough markers."""
    result: list[CurveStyle] = []
    for kind in kinds:
        taken = {other.symbol for other in result}
        ways = (replace(kind, noise=kind.noise + step) for step in range(len(SYMBOLS[kind.model])))
        result.append(next((one for one in ways if one.symbol not in taken), kind))
    return result


def _one_color(a: CurveStyle, b: CurveStyle) -> bool:
    return a.model == b.model and (a.model == "none" or abs(shade(a.epsilon) - shade(b.epsilon)) < ALIKE)


def shade(epsilon: float | None) -> float:
    """Return the position of epsilon on the colour scale, from 0 (most private) to 1. None counts as epsilon = 1."""
    exponent = 0.0 if epsilon is None else math.log10(epsilon)
    return float(np.interp(exponent, (-3, -1, 1, 4), (0, 0.1, 0.9, 1)))


def color(model: str, epsilon: float | None, dark: bool) -> str:
    """Return the colour #RRGGBB of a privacy model at this epsilon. With None, it is the model's middle shade."""
    if model not in SYMBOLS:
        raise ValueError(f"the privacy model {model!r} has no colour; give one of {', '.join(SYMBOLS)}")
    colors = theme(dark)
    return colors.none if model == "none" else mix(colors.models[model], shade(epsilon))


def swatch(look: CurveStyle, dark: bool) -> Sketch:
    """Draw a curve as in a legend: a piece of its line, its marker, and its number."""
    hue = look.color(dark)
    points, size = LOOK["shapes"].get(look.symbol), 5 if look.number == 1 else 7
    place = f'transform="translate(20,8) scale({size})" fill="{hue}"'
    marker = f'<circle r="1" {place}/>' if points is None else f'<polygon points="{points}" {place}/>'
    dash = "" if look.dash == "solid" else f' stroke-dasharray="{look.dash.replace("px", "")}"'
    line = f'<path d="M0 8 H40" stroke="{hue}" stroke-width="2.5"{dash}/>'
    digit = (
        f'<text x="20" y="11.5" text-anchor="middle" font-size="10" font-weight="700" '
        f'fill="{readable_on(hue)}">{look.number}</text>'
    )
    return Sketch(line + marker + (digit if look.number > 1 else ""), 40, 16, "")
