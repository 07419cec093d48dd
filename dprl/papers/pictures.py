"""Charts of the measured curves behind a claim, for pages, and tables of them for `dprl reproduce`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dprl.figures import papers as figures
from dprl.figures.lines import Series
from dprl.figures.looks import numbered
from dprl.figures.picture import Picture
from dprl.metrics.curves import Evidence, regret_band
from dprl.papers.claim import Claim, Setting
from dprl.research.series import style_of
from dprl.simulation import OfflineSpec
from dprl.tables import csv


def curves_picture(claim: Claim, setting: Setting, known: Evidence, *, dark: bool = False) -> Picture:
    """Draw the curves of a setting that has a chart."""
    assert setting.draw is not None
    plot, series = setting.draw(known), []
    styles = []
    for one in plot.series:
        spec: Any = one.spec
        look, offline = style_of(spec), spec.kind == OfflineSpec.kind
        styles.append(look if offline or one.one_budget else replace(look, epsilon=None))
    for one, kind in zip(plot.series, numbered(styles), strict=True):
        series.append(Series(one.label, kind, np.asarray(one.x, float), one.rows, *regret_band(one.rows)))
    return figures.measured_curves(
        plot.title, plot.x_title, plot.y_title, series, plot.bound, see=claim.seen, dark=dark
    )


def tables(claim: Claim, known: Evidence) -> dict[str, str]:
    """Return the curves of each setting that has a chart as CSV, keyed by the name CLAIM-N.csv."""
    drawn = [(number, one) for number, one in enumerate(claim.settings, 1) if one.draw is not None]
    return {
        f"{claim.key}-{number}.csv": csv(curves_picture(claim, one, known).table) for number, one in drawn
    }
