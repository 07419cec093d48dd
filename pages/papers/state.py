"""Papers: its part of a visitor's session, the link to it, and its reads of the experiments' runs.

    v=1 & item=online/theorem-5-2 & at=2 & problem=chain

`item` is the open item; `at` is the setting whose curves are drawn, by default the one that decides the verdict;
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
from pages.shared.results.data import SizedCache, asset, bundled_papers, cache_of
from pages.shared.results.status import Runs
from pages.shared.visitor.address import Query
from pages.shared.visitor.state import PageState

COMPUTED_BYTES = 10_000_000  # memory for results computed here, shared by all visitors
CLAIM_BYTES = 100_000  # approximate memory for one experiment
SETTING = Field("at", "int", 1, "the setting whose curves are drawn", 1, 99, query="at")
RUNS = Runs(group="papers")
RELATED = "related"  # list of later papers, in addition to the papers


@dataclass
class Papers(PageState):
    """The state of the page that its links store."""

    paper: str = PAPERS[0]  # the paper whose items are listed, or RELATED
    row: str = ""  # address of the open item, "" for none
    setting: int | None = None  # index of the setting whose curves are drawn; None for the deciding one
    problem: str = next(iter(PROBLEMS))  # the environment in which algorithms are ranked
    again: set[str] = field(default_factory=set)  # experiments whose runs were requested

    @property
    def item(self) -> Item | None:
        """Return the open item."""
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
        """Apply a link, without starting any run: bundled results are shown."""
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
    """Open an item, or close it with ""."""
    item = all_items().get(address)
    state().put(row=address, setting=setting, paper=item.paper if item else state().paper)


@cache
def verdicts() -> dict[str, ItemFinding]:
    """Return the verdict on each item that follows from the bundled evidence."""
    return findings(bundled_papers().reports)


@cache
def bundled_ranking() -> Ranking:
    """Return the bundled ranking; read only once."""
    return Ranking.from_dict(asset("ranking"))


def run_again(key: str) -> None:
    """Request the runs of an experiment; stored results are not computed again."""
    state().again.add(key)
    RUNS.start([*CLAIMS[key].runs])


def going(claim: Claim) -> bool:
    """Return whether the experiment's runs are active or an answer is still missing."""
    now = RUNS.progress([*claim.runs])
    return bool(now.active) or (not now.lacking and computed_here(claim) is None)


def computed_here(claim: Claim) -> tuple[Evidence, ClaimReport] | None:
    """Return the results computed on this server; None if they are incomplete."""
    store = data.store()
    if RUNS.missing([*claim.runs]):
        return None
    kept: SizedCache[tuple[Evidence, ClaimReport]] = cache_of("papers", COMPUTED_BYTES)
    token = ".".join(store.version(spec) for spec in [*claim.runs, *claim.questions])
    found = kept.get(claim.key)
    if found is not None and found[0] == token:
        return found[1]
    known = evidence(store, claim)
    if known is None:  # an answer, which has no version, is missing
        return None
    return kept.put(claim.key, token, (known, report(claim, known)), CLAIM_BYTES)
