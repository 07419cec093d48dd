"""Regret at the end of runs on problems that get harder with the number of users."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.figures import lines, style
from dprl.figures.lines import Statistic
from dprl.figures.picture import Picture
from dprl.figures.regret import Curve, distinct, line, table
from dprl.words import human

ALT = "Line chart of regret at the end against the number of users, each point on a problem of its own, with slopes."


def harder(
    curves: Sequence[Curve],
    slopes: Sequence[tuple[float, str]],
    *,
    statistic: Statistic = "mean",
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Regret at the end of whole runs: curves over their numbers of users, and the slopes that theory allows at most.

    slopes: an exponent and its name in the legend, drawn dotted through the highest of the first points: only their
    steepness means something.
    """
    names = distinct([curve.label for curve in curves])
    figure = style.base(
        "Where actions differ less, the more users there are",
        dark=dark,
        height=450 + 18 * (len(curves) + len(slopes)),
        x_title="Users K of a whole run",
        y_title="Regret at its end (reward lost)",
        subtitle=f"{statistic} over seeds; each K has a problem of its own",
    )
    note = lines.draw(
        figure,
        [line(c, name, dark) for name, c in zip(names, curves, strict=True)],
        log_x=True,
        log_y=True,
        show_seeds=False,
        dark=dark,
        x_words=lambda k: f"of {human(k)} users",
        statistic=statistic,
    )
    known = [(c.episodes[0], c.episodes[-1], c.center[0]) for c in curves if len(c.episodes)]
    if known:
        first, last = min(k[0] for k in known), max(k[1] for k in known)
        height = max(k[2] for k in known)
        x = np.array([first, last], float)
        for exponent, name in slopes:
            figure.add_scatter(
                x=x,
                y=height * (x / x[0]) ** exponent,
                mode="lines",
                line={
                    "color": style.theme(dark).roles["bound"],
                    "width": 1.5,
                    "dash": style.BOUND_DASH,
                },
                hoverinfo="skip",
                name=name,
            )
        steepest = max((exponent for exponent, _ in slopes), default=0.0)
        low, high = figure.layout.yaxis.range or (0.0, 0.0)
        top = float(np.log10(height * (x[1] / x[0]) ** steepest * 1.3))
        figure.update_yaxes(range=[low, max(high, top)])
    figure.update_layout(uirevision="harder")
    return Picture(figure, ALT, " ".join(filter(None, [see, note])), table(names, curves, statistic, "users"))
