"""The charts of Papers: the matrix of verdicts, the ranking of algorithms, and the results of an experiment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from dprl.figures import papers as figures
from dprl.figures.picture import Picture
from dprl.metrics.curves import Evidence
from dprl.papers.items import ITEM_VERDICTS, papers
from dprl.papers.pictures import curves_picture
from dprl.papers.ranking import BUDGET, PROBLEMS, SEEDS, TARGET, Rank
from dprl.papers.report import ClaimReport
from dprl.privacy import PRIVATIZERS
from dprl.sentences import papers as sentences
from dprl.words import listed, percent, promise
from pages.papers.state import bundled_ranking, open_item, state, verdicts
from pages.shared.controls.widgets import select
from pages.shared.layout.chart import kept, show
from pages.shared.names import style_of

HOW = (
    f"For every run's noise we prove {promise(*BUDGET)} if one user's episode is replaced: joint DP with a trusted "
    "curator, shuffle DP with a trusted shuffler, local DP with no trusted party.",
    "Each number of users is a separate run, planned for that number. Each algorithm has its default bonus and "
    "mechanism, and we tuned nothing. With this bonus, PUCB, Private-UCB-VI and LDP-OBI are one algorithm.",
    f"Users needed: from this number on, an average episode, learning included, has lost at most {percent(TARGET)} of "
    f"V* in the mean of {SEEDS} seeds. The search tries eight numbers in each factor of ten.",
    "Only algorithms that run in the environment are listed. SDP-PE needs a list of all policies, which is short "
    "enough only in the tiny environment. Linear algorithms need features.",
    "The command line does the same: `python -m dprl reproduce algorithms --out results`.",
)
WORDS = {"holds": "hold here", "fails": "fail here"}


def drawn_matrix(night: bool) -> Picture:
    """Draw the matrix of all items of all papers."""
    cells = [
        figures.MatrixCell(paper.title, item.address, item.name, item.says, verdicts()[item.address].verdict)
        for paper in papers().values()
        for item in paper.items
    ]
    return figures.matrix(cells, counted(), dark=night)


def counted() -> str:
    """Describe the number of items with each verdict."""
    counts = Counter(found.verdict for found in verdicts().values())
    said = [
        f"{counts[verdict]} {WORDS.get(verdict, verdict)}" for verdict in ITEM_VERDICTS if counts[verdict]
    ]
    return f"Of {len(verdicts())} items: {listed(said)}. Press a cell to open its row."


def cell_pressed(event: Any) -> None:
    """Open the item of the clicked cell."""
    for point in event["selection"]["points"]:
        found = point.get("customdata")
        open_item(str(found[0] if isinstance(found, list) else found))


def ranking() -> None:
    """Draw the ranking of all algorithms at the same proved guarantee, fewest users first."""
    here = state()
    titles = {key: f"{one.title} ({one.size})" for key, one in PROBLEMS.items()}
    name = "papers.problem"
    with st.container(width=330):
        select("Environment", list(titles), here.problem, lambda to: here.put(problem=to), titles, name=name)
    picture = kept(("ranking", here.problem), partial(drawn_ranking, here.problem))
    show(picture, "ranking", how=HOW)


def drawn_ranking(problem: str, night: bool) -> Picture:
    """Draw the ranking in one environment."""
    found = bundled_ranking().of(problem)
    rows = [
        figures.RankedRow(
            one.title,
            PRIVATIZERS[one.privacy].title,
            one.mechanism,
            one.needed,
            one.low,
            one.high,
            one.words,
            style_of(one.spec),
        )
        for one in found
    ]
    return figures.ranked(f"All algorithms on {PROBLEMS[problem].title}", rows, fewest(found), dark=night)


def fewest(found: Sequence[Rank]) -> str:
    """Describe which algorithm needs the fewest users under each privacy model."""
    best = {one.privacy: one for one in reversed(found)}
    said = [
        f"{one.title} with {PRIVATIZERS[model].words.given} ({one.words})"
        for model in ("central", "shuffle", "local")
        if (one := best.get(model))
    ]
    return f"The fewest users: {listed(said)}."


def by_statistic(found: ClaimReport) -> dict[tuple[str, str], list[int]]:
    """Group the indices of settings that have the same statistic and the same unit of its interval."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, setting in enumerate(found.claim.settings):
        groups.setdefault((setting.statistic, setting.over), []).append(place)
    return groups


def statistics(found: ClaimReport, token: str, wanted: Sequence[int]) -> None:
    """Draw a chart for each statistic, with those of its settings that are in `wanted`."""
    for number, ((statistic, over), every) in enumerate(by_statistic(found).items()):
        places = tuple(place for place in every if place in wanted)
        if not places:
            continue
        key = ("claim", found.claim.key, places, token)
        draw = partial(drawn_statistic, found, statistic, over, places)
        show(kept(key, draw), f"statistic_{number}")


def drawn_statistic(
    found: ClaimReport, statistic: str, over: str, places: Sequence[int], night: bool
) -> Picture:
    """Draw one statistic for the settings with these indices."""
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
    """Draw the curves of one setting, if it has any."""
    setting = found.claim.settings[place]
    if setting.draw is not None:
        key = ("claim-curves", found.claim.key, place, token)
        draw = partial(curves_picture, found.claim, setting, known)
        show(kept(key, lambda night: draw(dark=night)), "curves")
