"""The part of a visitor's session that belongs to the Papers page, and the charts on that page.

    v=1 & item=online/theorem-5-2 & at=2 & problem=chain

`at` is the setting whose curves are drawn, by default the one that decides the verdict. `problem` is the environment in
which algorithms are ranked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import streamlit as st

from dprl import links
from dprl.fields import Field, shown
from dprl.figures import papers as figures
from dprl.figures.picture import Picture
from dprl.messages import filled, messages
from dprl.papers.items import ITEM_VERDICTS, PAPERS, Item, ItemFinding, all_items, findings, papers
from dprl.papers.ranking import BUDGET, PROBLEMS, SEEDS, TARGET, Rank, Ranking
from dprl.papers.report import ClaimReport
from dprl.privacy import PRIVATIZERS
from dprl.research.series import style_of
from dprl.sentences import papers as sentences
from dprl.words import listed, percent, promise
from pages.shared.controls.widgets import select
from pages.shared.layout.chart import kept, show
from pages.shared.results.data import asset, bundled_papers
from pages.shared.visitor.address import Query
from pages.shared.visitor.state import PageState

SAID = messages("pages")["papers"]
SETTING = Field("at", "int", 1, "the setting whose curves are drawn", 1, 99, query="at")
FIRST = next(iter(PROBLEMS))
RELATED = "related"  # selects the list of later papers


@dataclass
class Papers(PageState):
    """The state of the page, as stored in its links."""

    paper: str = PAPERS[0]  # the paper whose items are listed, or RELATED
    row: str = ""  # address of the open item, "" for none
    setting: int | None = None  # index of the setting whose curves are drawn; None for the deciding one
    problem: str = FIRST

    @property
    def item(self) -> Item | None:
        return all_items().get(self.row)

    @property
    def link(self) -> list[tuple[str, str]]:
        items = links.link_heading()
        if self.row:
            items.append(("item", self.row))
        elif self.paper != PAPERS[0]:
            items.append(("paper", self.paper))
        items += [] if self.setting is None else [(SETTING.query, str(self.setting + 1))]
        return items + ([] if self.problem == FIRST else [("problem", self.problem)])

    def follow(self, given: Query, problems: list[str]) -> None:
        """Apply a link without starting any run."""
        wanted = links.last(given, "item") or ""
        self.row = wanted if wanted in all_items() else ""
        if wanted != self.row:
            said = f"item: {shown(wanted)} is not allowed; press a row to open it, and copy its link."
            problems.append(said)
        names = dict.fromkeys((*PAPERS, RELATED))
        self.paper = links.chosen("paper", links.last(given, "paper"), names, problems) or PAPERS[0]
        where = links.chosen("problem", links.last(given, "problem"), PROBLEMS, problems)
        self.problem = where or FIRST
        if self.item:
            self.paper = self.item.paper
        most = len(self.item.claim.settings) if self.item and self.item.claim else 1
        text = links.last(given, SETTING.query) or None
        number = links.checked(replace(SETTING, high=most), text, None, problems)
        self.setting = None if number is None else number - 1


state = Papers.mine


def open_item(address: str, setting: int | None = None) -> None:
    """Open an item, or close the open one if the address is ""."""
    item = all_items().get(address)
    state().put(row=address, setting=setting, paper=item.paper if item else state().paper)


@cache
def verdicts() -> dict[str, ItemFinding]:
    """Return the verdict on each item, which follows from the bundled evidence."""
    return findings(bundled_papers().reports)


WORDS = {"holds": "hold here", "fails": "fail here"}


def drawn_matrix(night: bool) -> Picture:
    rows = {paper.title: [verdicts()[item.address] for item in paper.items] for paper in papers().values()}
    counts = Counter(found.verdict for found in verdicts().values())
    said = listed([f"{counts[one]} {WORDS.get(one, f'are {one}')}" for one in ITEM_VERDICTS if counts[one]])
    see = f"Of {len(verdicts())} items, {said}. Press a cell to open the item."
    return figures.matrix(rows, see, dark=night)


def cell_pressed(event: Any) -> None:
    """Open the item of the clicked cell."""
    for point in event["selection"]["points"]:
        found = point.get("customdata")
        open_item(str(found[0] if isinstance(found, list) else found))


def ranking() -> None:
    """Draw the ranking of all algorithms at the same proved guarantee, from the fewest users needed to the most."""
    here = state()
    titles = {key: f"{one.title} ({one.size})" for key, one in PROBLEMS.items()}
    with st.container(width=330):
        select("Environment", titles, here.problem, lambda to: here.put(problem=to), name="papers.problem")
    picture = kept(("ranking", here.problem), partial(drawn_ranking, here.problem))
    how = filled(SAID["ranking"], budget=promise(*BUDGET), share=percent(TARGET), seeds=SEEDS)
    show(picture, "ranking", how=how.splitlines())


def drawn_ranking(problem: str, night: bool) -> Picture:
    found = Ranking.from_dict(asset("ranking")).of(problem)
    rows = [(one, PRIVATIZERS[one.privacy].title, style_of(one.spec)) for one in found]
    return figures.ranked(f"All algorithms on {PROBLEMS[problem].title}", rows, fewest(found), dark=night)


def fewest(found: Sequence[Rank]) -> str:
    """Name the algorithm that needs the fewest users under each privacy model."""
    best = {one.privacy: one for one in reversed(found)}
    said = [
        f"{one.title} with {PRIVATIZERS[model].words.given} ({one.words})"
        for model in ("central", "shuffle", "local")
        if (one := best.get(model))
    ]
    return f"The fewest users are needed by {listed(said)}."


def by_statistic(found: ClaimReport) -> dict[tuple[str, str], list[int]]:
    """Group the indices of a claim's settings by statistic and by the samples behind the interval."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, setting in enumerate(found.claim.settings):
        groups.setdefault((setting.statistic, setting.over), []).append(place)
    return groups


def statistics(found: ClaimReport, wanted: Sequence[int]) -> None:
    """Draw a chart for each statistic of a claim, with only the settings whose indices are in `wanted`."""
    for number, ((statistic, over), every) in enumerate(by_statistic(found).items()):
        places = tuple(place for place in every if place in wanted)
        if not places:
            continue
        key = ("claim", found.claim.key, places)
        draw = partial(drawn_statistic, found, statistic, over, places)
        show(kept(key, draw), f"statistic_{number}")


def drawn_statistic(
    found: ClaimReport, statistic: str, over: str, places: Sequence[int], night: bool
) -> Picture:
    """Plot one statistic of the settings with these indices. `over` names the samples behind the intervals."""
    settings, findings = found.claim.settings, found.findings
    rows = [(place + 1, settings[place].title, findings[place], found.numbers[place]) for place in places]
    log = settings[places[0]].form == "ratio"
    see = sentences.against([findings[place] for place in places])
    return figures.measurements(statistic, rows, over=over, log=log, see=see, dark=night)
