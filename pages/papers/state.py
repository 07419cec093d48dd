"""Papers: its part of a visitor's session, the link to it, and its reads of the experiments' runs.

    v=1 & item=online/theorem-5-2 & at=2 & problem=chain

`item` is the row that is open; `at` is the setting whose curves are drawn, by default the one that decides the verdict;
`problem` is the environment in which algorithms are ranked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from dprl import links
from dprl.fields import Field, shown
from dprl.metrics.curves import Evidence
from dprl.papers import CLAIMS, Claim
from dprl.papers.evidence import evidence
from dprl.papers.items import PAPERS, Item, ItemFinding, all_items, findings
from dprl.papers.ranking import PROBLEMS, Ranking
from dprl.papers.report import ClaimReport, report
from pages.shared.results import data
from pages.shared.results.bundled import asset, bundled_papers
from pages.shared.results.data import SizedCache, cache_of
from pages.shared.results.status import Runs
from pages.shared.visitor.address import Query
from pages.shared.visitor.state import PageState

COMPUTED_BYTES = 10_000_000  # of what was computed of experiments, for all visitors together
CLAIM_BYTES = 100_000  # about what one of them needs
SETTING = Field("at", "int", 1, "the setting whose curves are drawn", 1, 99, query="at")
RUNS = Runs(group="papers")
RELATED = "related"  # beside the papers, what the page lists


@dataclass
class Papers(PageState):
    """The visible content."""

    paper: str = PAPERS[0]  # whose rows are listed, or RELATED
    row: str = ""  # address of the one that is open, "" for none
    setting: int | None = None  # the place of the one drawn, from 0; None for the one that decides
    problem: str = next(iter(PROBLEMS))  # where algorithms are ranked
    again: set[str] = field(default_factory=set)  # experiments whose runs are asked for

    @property
    def item(self) -> Item | None:
        """Return the row that is open."""
        return all_items().get(self.row)

    @property
    def link(self) -> list[tuple[str, str]]:
        items = links.link_heading()
        if self.row:
            items.append(("item", self.row))
        elif self.paper != PAPERS[0]:
            items.append(("paper", self.paper))
        items += [] if self.setting is None else [(SETTING.query, str(self.setting + 1))]
        first = next(iter(PROBLEMS))
        return items + ([] if self.problem == first else [("problem", self.problem)])

    def follow(self, given: Query) -> None:
        """Take over a link. Nothing is started: what is shown comes with the program."""
        problems: list[str] = []
        links.check_version(given, problems)
        wanted = links.last(given, "item") or ""
        self.row = wanted if wanted in all_items() else ""
        if wanted != self.row:
            problems.append(
                f"item: {shown(wanted)} is not allowed; press a row to open it, and copy its link."
            )
        names = dict.fromkeys((*PAPERS, RELATED))
        self.paper = links.chosen("paper", links.last(given, "paper"), names, problems) or PAPERS[0]
        where = links.chosen("problem", links.last(given, "problem"), PROBLEMS, problems)
        self.problem, self.setting = where or next(iter(PROBLEMS)), None
        if self.item:
            self.paper = self.item.paper
        if links.last(given, SETTING.query):
            most = len(self.item.claim.settings) if self.item and self.item.claim else 1
            before = len(problems)
            place = links.place(SETTING, links.last(given, SETTING.query), most, problems)
            self.setting = place if len(problems) == before else None
        self.problems = tuple(problems)


state = Papers.mine


def open_item(address: str, setting: int | None = None) -> None:
    """Open a row, or close it with ""."""
    item = all_items().get(address)
    state().put(row=address, setting=setting, paper=item.paper if item else state().paper)


@cache
def verdicts() -> dict[str, ItemFinding]:
    """Return the verdict on every row that follows from the bundled evidence."""
    return findings(bundled_papers().reports)


@cache
def bundled_ranking() -> Ranking:
    """Return the ranking that comes with the program; read once."""
    return Ranking.from_dict(asset("ranking"))


def run_again(key: str) -> None:
    """Ask for the runs of an experiment; those that this store has are not computed twice."""
    state().again.add(key)
    RUNS.start([*CLAIMS[key].runs])


def going(claim: Claim) -> bool:
    """Return whether any is being computed, or an answer is waited for."""
    now = RUNS.progress([*claim.runs])
    return bool(now.active) or (not now.lacking and computed_here(claim) is None)


def computed_here(claim: Claim) -> tuple[Evidence, ClaimReport] | None:
    """Return what was computed here; None while it is not all there."""
    store = data.store()
    if RUNS.missing([*claim.runs]):
        return None
    kept: SizedCache[tuple[Evidence, ClaimReport]] = cache_of("papers", COMPUTED_BYTES)
    token = ".".join(store.version(spec) for spec in [*claim.runs, *claim.questions])
    found = kept.get(claim.key)
    if found is not None and found[0] == token:
        return found[1]
    known = evidence(store, claim)
    if known is None:  # an answer is missing, which has no version
        return None
    return kept.put(claim.key, token, (known, report(claim, known)), CLAIM_BYTES)
