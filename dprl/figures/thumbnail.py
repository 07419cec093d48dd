"""A comparison as small as a stamp: its curves alone, on logarithmic episodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.figures import style
from dprl.figures.lines import Series
from dprl.figures.picture import Sketch

WIDE, HIGH, EDGE = 240, 90, 5


def thumbnail(curves: Sequence[Series], alt: str, *, dark: bool) -> Sketch:
    """The centers of the curves, each from its first episode to its last, from zero to the largest value."""
    first = np.log(min(curve.x[0] for curve in curves))
    last = np.log(max(curve.x[-1] for curve in curves))
    most = max(float(np.nanmax(curve.center)) for curve in curves)
    parts = [
        f'<path d="M{EDGE} {HIGH - EDGE}H{WIDE - EDGE}M{EDGE} {HIGH - EDGE}V{EDGE}" fill="none" '
        f'stroke="{style.theme(dark).muted}"/>'
    ]
    for curve in curves:
        known = np.isfinite(curve.center)
        x = EDGE + (WIDE - 2 * EDGE) * (np.log(curve.x[known]) - first) / (last - first)
        y = HIGH - EDGE - (HIGH - 2 * EDGE) * np.clip(curve.center[known] / most, 0, 1)
        stroke = f'fill="none" stroke="{curve.style.color(dark)}" stroke-width="2"{curve.style.svg_dash}'
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        parts.append(f'<polyline points="{points}" {stroke}/>')
    return Sketch("".join(parts), WIDE, HIGH, alt)
