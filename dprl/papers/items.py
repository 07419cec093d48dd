"""Every numbered item of the five papers, with its verdict, as shown on the Papers page.

Each paper's items are in a TOML file. If an experiment decides a verdict, the verdict is computed from its results.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from dprl.metrics.verdicts import Verdict, overall
from dprl.papers import CLAIMS
from dprl.papers.claim import Claim
from dprl.papers.evidence import gather_evidence
from dprl.papers.report import ClaimReport, report
from dprl.runs.store import Store
from dprl.sentences.papers import about_verdicts

ItemVerdict = Literal["holds", "fails", "not settled", "superseded", "disputed", "not tested"]
ITEM_VERDICTS: tuple[ItemVerdict, ...] = get_args(ItemVerdict)
STATED = ("superseded", "disputed", "not tested")  # verdicts that an item may state without an experiment
FOUND: dict[Verdict, ItemVerdict] = {
    "holds": "holds",
    "holds as an upper bound": "holds",
    "nothing learned yet": "not settled",
    "undecided": "not settled",
    "does not hold here": "fails",
}
PAPERS = ("online", "offline", "pac", "linear", "shuffle")  # names of the files, in the order of the page


@dataclass(frozen=True)
class Item:
    """A theorem, lemma, algorithm, table, figure or remark.

    Attributes:
        paper: the name of its paper's file.
        says: the statement in one sentence, in our words.
        covers: the numbered items that it includes; by default only itself.
        experiment: key of the claim that decides the verdict; "" if none does.
        settings: the numbers of the settings that decide, from 1; by default all.
        verdict: one of STATED if no experiment decides.
        why: the reason why it was not tested, the paper that supersedes or disputes it, or a remark on the verdict.
        source: the address of the paper that supersedes or disputes it.
    """

    paper: str
    key: str
    name: str
    says: str
    covers: tuple[str, ...] = ()
    experiment: str = ""
    settings: tuple[int, ...] = ()
    verdict: str = ""
    why: str = ""
    source: str = ""

    @property
    def address(self) -> str:
        """Return the item's address in links: paper/key."""
        return f"{self.paper}/{self.key}"

    @property
    def claim(self) -> Claim | None:
        """Return the experiment that decides the verdict, or None."""
        return CLAIMS[self.experiment] if self.experiment else None

    @property
    def places(self) -> tuple[int, ...]:
        """Return the indices of the settings that decide the verdict, counted from 0."""
        assert self.claim is not None
        return tuple(place - 1 for place in self.settings) or tuple(range(len(self.claim.settings)))

    def found(self, reports: Mapping[str, ClaimReport]) -> ItemFinding:
        """Return the verdict, which comes from an experiment's report if there is one."""
        if self.claim is None:
            stated = next(verdict for verdict in ITEM_VERDICTS if verdict == self.verdict)
            return ItemFinding(self, stated, self.why)
        judged = reports[self.experiment]
        verdicts = [judged.findings[place].verdict for place in self.places]
        worst = overall(verdicts)
        place = self.places[verdicts.index(worst)]
        setting = judged.claim.settings[place]
        number = f"{setting.statistic}: {judged.numbers[place]}; claimed: {setting.asks}"
        summary = f"{about_verdicts(verdicts)} {self.why}".strip()
        return ItemFinding(self, FOUND[worst], summary, number, place)


@dataclass(frozen=True)
class ItemFinding:
    """The verdict on an item, with its reason.

    Attributes:
        summary: the number of settings in which it holds, or the reason why we have no verdict.
        number: the measurement in the deciding setting, in words.
        place: the index of that setting.
    """

    item: Item
    verdict: ItemVerdict
    summary: str
    number: str = ""
    place: int = 0


@dataclass(frozen=True)
class PaperItems:
    """The items of a paper. `paper` is its key in theory/papers.toml, and `read` lists the parts that we read."""

    name: str
    paper: str
    title: str
    read: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Work:
    """A later paper: its claim, the items that it affects, and the parts that we read."""

    name: str
    title: str
    date: str
    source: str
    read: str
    says: str
    bears_on: tuple[str, ...]


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))


def _tuples(row: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}


@cache
def papers() -> dict[str, PaperItems]:
    """Read the items of all papers, keyed by file name."""
    found = {}
    for name in PAPERS:
        given = _table(name)
        items = tuple(Item(name, **_tuples(row)) for row in given.pop("item"))
        found[name] = PaperItems(name, **given, items=items)
    return found


@cache
def all_items() -> dict[str, Item]:
    """Return all items, keyed by address."""
    return {item.address: item for paper in papers().values() for item in paper.items}


@cache
def related() -> tuple[Work, ...]:
    """Read the later papers from related.toml."""
    return tuple(Work(**_tuples(row)) for row in _table("related")["work"])


def findings(reports: Mapping[str, ClaimReport]) -> dict[str, ItemFinding]:
    """Return the verdict on every item, keyed by address."""
    return {address: item.found(reports) for address, item in all_items().items()}


def reproduce(
    claim: Claim, store: Store, visitor: str, progress: Callable[[float], None] | None, curves: bool
) -> dict[str, Any]:
    """Compute and print the verdict on a claim and its items, and return the files to write, keyed by name.

    If `curves` is true, they include the curves of its settings as CSV. Raises RunFailed.
    """
    known = gather_evidence(store, claim, visitor, progress)
    found = report(claim, known)
    print(found.text(), flush=True)
    for item in all_items().values():
        if item.experiment == claim.key:
            print(f"  {item.address}: {item.found({claim.key: found}).verdict}. {item.says}")
    files: dict[str, Any] = {f"{claim.key}.json": found.to_dict()}
    if curves:
        from dprl.papers.pictures import tables  # imports Plotly

        files |= tables(claim, known)
    return files
