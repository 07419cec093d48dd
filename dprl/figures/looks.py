"""The look of a curve, the same on every page, from which its run can be read.

Its hue is the privacy model, its shade the budget epsilon (the more private, the further from the page), its marker
the noise, its dash the learner. None of this depends on the other curves; those that would look the same nevertheless
are numbered. Of any two models, at any budgets, the colours differ by at least 11 (CIEDE2000) for normal, deuteranopic
and protanopic eyes, and those of budgets in use stand out from each other; tests/figures/test_looks.py measures it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dprl.figures.picture import Sketch
from dprl.figures.style import SYMBOLS, mix, readable_on, theme

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
ALIKE = 0.1  # shades nearer than this look the same


@dataclass(frozen=True)
class CurveStyle:
    """The facts about a run that decide the look of its curve.

    Attributes:
        model: none, central, local or shuffle.
        epsilon: its budget, None if there is none or it is another at every point.
        noise: the place of its mechanism, and of how large that noise is, among those of the model.
        learner: the place of the learner among all.
        number: 1, or which of several curves that look the same otherwise.
        draft: whether it goes when the settings change: then it has short dashes, whatever the learner.
    """

    model: str
    epsilon: float | None = None
    noise: int = 0
    learner: int = 0
    number: int = 1
    draft: bool = False

    @property
    def symbol(self) -> str:
        """The marker, as Plotly names it."""
        symbols = SYMBOLS[self.model]
        return symbols[self.noise % len(symbols)]

    @property
    def dash(self) -> str:
        """The dashes, as Plotly writes them."""
        return DRAFT if self.draft else DASHES[self.learner % len(DASHES)]

    @property
    def svg_dash(self) -> str:
        """The dashes as an attribute of an SVG line."""
        return "" if self.dash == "solid" else f' stroke-dasharray="{self.dash.replace("px", "")}"'

    @property
    def prefix(self) -> str:
        """The number before the name of a numbered curve."""
        return "" if self.number == 1 else f"{self.number}: "

    def color(self, dark: bool) -> str:
        """Return the colour #RRGGBB on a dark or a light page."""
        return color(self.model, self.epsilon, dark)


def numbered(kinds: Sequence[CurveStyle]) -> list[CurveStyle]:
    """Return the kinds, with a number on each that looks like an earlier one.

    Two runs may differ in something that has no look (K, the environment, constants), or their budgets in less than an
    eye can tell. No fourth property of a line is left that is told apart as well as these three, and a digit needs no
    legend to be learned. It depends on earlier curves only, so that none changes when another one comes.
    """
    result: list[CurveStyle] = []
    for kind in kinds:
        taken = {other.number for other in result if _alike(other, kind)}
        result.append(replace(kind, number=next(n for n in itertools.count(1) if n not in taken)))
    return result


def dashed(kinds: Sequence[CurveStyle]) -> list[CurveStyle]:
    """Return the kinds, with dashes for each that shares its colour with an earlier one: for charts without a second
    learner, where overlapping markers do not help. The result still needs numbers."""
    result: list[CurveStyle] = []
    for kind in kinds:
        taken = {other.dash for other in result if _one_color(other, kind)}
        steps = (replace(kind, learner=kind.learner + step) for step in range(len(DASHES)))
        result.append(next((one for one in steps if one.dash not in taken), kind))
    return result


def marked(kinds: Sequence[CurveStyle]) -> list[CurveStyle]:
    """Return the kinds, with a marker for each that shares its model with an earlier one, until markers run out."""
    result: list[CurveStyle] = []
    for kind in kinds:
        taken = {other.symbol for other in result}
        steps = (replace(kind, noise=kind.noise + step) for step in range(len(SYMBOLS[kind.model])))
        result.append(next((one for one in steps if one.symbol not in taken), kind))
    return result


def _alike(a: CurveStyle, b: CurveStyle) -> bool:
    return (a.symbol, a.dash) == (b.symbol, b.dash) and _one_color(a, b)


def _one_color(a: CurveStyle, b: CurveStyle) -> bool:
    return a.model == b.model and (a.model == "none" or abs(shade(a.epsilon) - shade(b.epsilon)) < ALIKE)


def shade(epsilon: float | None) -> float:
    """Return the place of a budget between the most private (0) and the least (1), the same in every chart: most
    of the way for those in use, 0.1 to 10. Without one, the middle, which is that of epsilon = 1."""
    exponent = 0.0 if epsilon is None else math.log10(epsilon)
    return float(np.interp(exponent, (-3, -1, 1, 4), (0, 0.1, 0.9, 1)))


def color(model: str, epsilon: float | None, dark: bool) -> str:
    """Return the colour #RRGGBB of a privacy model at a budget; without a budget, that of the model itself."""
    if model not in SYMBOLS:
        raise ValueError(f"the privacy model {model!r} has no colour; give one of {', '.join(SYMBOLS)}")
    colors = theme(dark)
    return colors.none if model == "none" else mix(colors.models[model], shade(epsilon))


# Markers as polygons of radius 1 about the origin; what is not here is a disc. Their names are Plotly's.
SHAPES = {
    "square": "-.9,-.9 .9,-.9 .9,.9 -.9,.9",
    "diamond": "0,-1.2 1.2,0 0,1.2 -1.2,0",
    "diamond-tall": "0,-1.4 .7,0 0,1.4 -.7,0",
    "diamond-wide": "0,-.7 1.4,0 0,.7 -1.4,0",
    "star-diamond": "0,-1.3 .35,-.35 1.3,0 .35,.35 0,1.3 -.35,.35 -1.3,0 -.35,-.35",
    "bowtie": "-1.1,-.8 0,0 1.1,-.8 1.1,.8 0,0 -1.1,.8",
    "hourglass": "-.8,-1.1 .8,-1.1 0,0 .8,1.1 -.8,1.1 0,0",
    "triangle-ne": "-1,-1 1,-1 1,1",
    "triangle-up": "0,-1.1 1.1,.9 -1.1,.9",
    "triangle-right": "1.1,0 -.9,1.1 -.9,-1.1",
    "triangle-down": "0,1.1 1.1,-.9 -1.1,-.9",
    "triangle-left": "-1.1,0 .9,1.1 .9,-1.1",
    "hexagram": "0,-1.3 .38,-.65 1.13,-.65 .75,0 1.13,.65 .38,.65 0,1.3 -.38,.65 -1.13,.65 -.75,0 -1.13,-.65 -.38,-.65",
    "star": "0,-1.3 .31,-.42 1.24,-.4 .5,.16 .76,1.05 0,.52 -.76,1.05 -.5,.16 -1.24,-.4 -.31,-.42",
    "pentagon": "0,-1.1 1.05,-.34 .65,.89 -.65,.89 -1.05,-.34",
    "cross": "-.4,-1.1 .4,-1.1 .4,-.4 1.1,-.4 1.1,.4 .4,.4 .4,1.1 -.4,1.1 -.4,.4 -1.1,.4 -1.1,-.4 -.4,-.4",
    "x": "0,-.57 .57,-1.1 1.1,-.57 .57,0 1.1,.57 .57,1.1 0,.57 -.57,1.1 -1.1,.57 -.57,0 -1.1,-.57 -.57,-1.1",
}


def swatch(look: CurveStyle, dark: bool) -> Sketch:
    """Draw a curve as in a legend: a piece of its line, its marker, and its number."""
    hue = look.color(dark)
    points, size = SHAPES.get(look.symbol), 5 if look.number == 1 else 7
    place = f'transform="translate(20,8) scale({size})" fill="{hue}"'
    marker = f'<circle r="1" {place}/>' if points is None else f'<polygon points="{points}" {place}/>'
    line = f'<path d="M0 8 H40" stroke="{hue}" stroke-width="2.5"{look.svg_dash}/>'
    digit = (
        f'<text x="20" y="11.5" text-anchor="middle" font-size="10" font-weight="700" '
        f'fill="{readable_on(hue)}">{look.number}</text>'
    )
    return Sketch(line + marker + (digit if look.number > 1 else ""), 40, 16, "")
