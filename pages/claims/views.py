"""The charts of a claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dprl import metrics
from dprl.claims import SpecSeries
from dprl.claims.report import ClaimReport
from dprl.curves import Evidence
from dprl.figures import claims as figures
from dprl.figures.lines import Series as Drawn
from dprl.figures.looks import CurveStyle, numbered
from dprl.figures.picture import Picture
from dprl.sentences import claims as sentences
from dprl.simulation import OfflineSpec
from pages.shared.layout.chart import kept, show
from pages.shared.layout.frame import dark
from pages.shared.names import style_of
from pages.shared.offline import names as offline


def by_statistic(found: ClaimReport) -> dict[tuple[str, str], list[int]]:
    """The places of the settings that measure the same, and in the same way."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, setting in enumerate(found.claim.settings):
        groups.setdefault((setting.statistic, setting.over), []).append(place)
    return groups


def statistics(found: ClaimReport, token: str) -> None:
    """A chart for each statistic, with the settings that it is measured in."""
    night = dark()
    for number, ((statistic, over), places) in enumerate(by_statistic(found).items()):
        key = ("claim", found.claim.key, number, night, token)
        show(
            kept(key, partial(drawn_statistic, found, statistic, over, places, night)), f"statistic_{number}"
        )


def drawn_statistic(
    found: ClaimReport, statistic: str, over: str, places: Sequence[int], night: bool
) -> Picture:
    """One statistic in the settings at these places."""
    settings, findings = found.claim.settings, found.findings
    rows = [
        figures.Measurement(
            place + 1, settings[place].title, one.value, one.low, one.high, found.numbers[place], one.threshold,
            one.verdict,
        )
        for place in places
        for one in (findings[place],)
    ]  # fmt: skip
    log = settings[places[0]].form == "ratio"
    see = sentences.against([findings[place] for place in places], exact=not over)
    return figures.measurements(statistic, rows, over=over, log=log, see=see, dark=night)


def setting_curves(found: ClaimReport, known: Evidence, place: int, token: str) -> None:
    """The curves of one setting, if it has any."""
    setting, night = found.claim.settings[place], dark()
    if setting.draw is None:
        return
    key = ("claim-curves", found.claim.key, place, night, token)
    show(kept(key, partial(_drawn_curves, found, known, place, night)), "curves")


def _drawn_curves(found: ClaimReport, known: Evidence, place: int, night: bool) -> Picture:
    setting = found.claim.settings[place]
    assert setting.draw is not None
    plot = setting.draw(known)
    series = []
    for one, kind in zip(plot.series, setting_styles(plot.series), strict=True):
        center, low, high = metrics.regret_band(one.rows)
        series.append(Drawn(one.label, kind, np.asarray(one.x, float), one.rows, center, low, high))
    return figures.measured_curves(
        plot.title, plot.x_title, plot.y_title, series, plot.bound, see=found.claim.seen, dark=night
    )


def setting_styles(series: Sequence[SpecSeries]) -> list[CurveStyle]:
    """What gives them their looks."""
    specs: list[Any] = [one.spec for one in series]
    if all(spec.kind == OfflineSpec.kind for spec in specs):
        return offline.kinds(specs)
    found = [(style_of(spec), one.one_budget) for spec, one in zip(specs, series, strict=True)]
    return numbered([kind if alike else replace(kind, epsilon=None) for kind, alike in found])
