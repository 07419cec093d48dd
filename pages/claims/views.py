"""The charts of a claim."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from dprl.claims.paper_figures import PaperFigure, figures_of
from dprl.claims.pictures import curves_picture, figure_pictures
from dprl.claims.report import ClaimReport
from dprl.figures import claims as figures
from dprl.figures.picture import Picture
from dprl.metrics.curves import Evidence
from dprl.sentences import claims as sentences
from pages.shared.layout.chart import kept, show
from pages.shared.layout.frame import dark
from pages.shared.layout.terms import explained
from pages.shared.results.evidence import bundled_figures
from pages.shared.text import escape


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
            one.verdict, one.zone,
        )
        for place in places
        for one in (findings[place],)
    ]  # fmt: skip
    log = settings[places[0]].form == "ratio"
    see = sentences.against([findings[place] for place in places])
    return figures.measurements(statistic, rows, over=over, log=log, see=see, dark=night)


def setting_curves(found: ClaimReport, known: Evidence, place: int, token: str) -> None:
    """The curves of one setting, if it has any."""
    setting, night = found.claim.settings[place], dark()
    if setting.draw is None:
        return
    key = ("claim-curves", found.claim.key, place, night, token)
    show(kept(key, partial(curves_picture, found.claim, setting, known, dark=night)), "curves")


def paper_figures(claim: str) -> None:
    """The figures that a paper has for a claim: with its settings, and with those that show the claim."""
    night = dark()
    for figure in figures_of(claim):
        st.subheader(f"The paper's figure: {figure.source}", anchor=False)
        st.markdown(explained(f"**{escape(figure.found)}** {escape(figure.open)}"))
        for place, column in enumerate(st.columns(2, gap="small")):
            with column:
                key = ("paper-figure", figure.key, place, night)
                show(kept(key, partial(drawn_panel, figure, place, night)), f"{figure.key}-{place}")
        st.caption("The same on the command line:")
        st.code(
            f"python -m dprl reproduce figure {figure.key} --out results", language="bash", wrap_lines=True
        )


def drawn_panel(figure: PaperFigure, place: int, night: bool) -> Picture:
    """One of both."""
    return figure_pictures(figure, bundled_figures(), dark=night)[place]
