"""Claims: what a visitor's session holds of it, the link to it, and what it reads of the claims' runs.

    v=1 & claim=jdp-additive & at=2

Without `claim` all of them are listed; `at` is the setting whose curves are drawn, 1 unless said.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dprl import links
from dprl.claims import CLAIMS, Claim
from dprl.claims.gather import evidence
from dprl.claims.report import ClaimReport, report
from dprl.fields import Field
from dprl.metrics.curves import Evidence
from pages.shared.results import data, together
from pages.shared.results.cache import SizedCache, cache_of
from pages.shared.visitor.address import Query
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import PageState, ask, session, write_address

COMPUTED_BYTES = 10_000_000  # of what was computed of claims, for all visitors together
CLAIM_BYTES = 100_000  # about what one of them takes
SETTING = Field("at", "int", 1, "the setting whose curves are drawn", 1, 99, query="at")


@dataclass
class Claims(PageState):
    """What a visitor looks at.

    Attributes:
        key: of the claim that is open, "" for the list.
        setting: the place of the one drawn, from 0.
        again: claims whose runs are asked for.
    """

    key: str = ""
    setting: int = 0
    again: set[str] = field(default_factory=set)

    @property
    def link(self) -> list[tuple[str, str]]:
        """The query parameters of the link to what is seen."""
        items = links.link_heading() + ([("claim", self.key)] if self.key else [])
        return items + ([(SETTING.query, str(self.setting + 1))] if self.setting else [])

    def follow(self, given: Query) -> None:
        """Takes over a link. Nothing is started: what is shown comes with the program."""
        problems: list[str] = []
        links.check_version(given, problems)
        key = links.chosen("claim", links.last(given, "claim"), CLAIMS, problems)
        most = len(CLAIMS[key].settings) if key else 1
        setting = links.place(SETTING, links.last(given, SETTING.query), most, problems)
        self.key, self.setting, self.problems = key, setting, tuple(problems)


def claims() -> Claims:
    """This visitor's part of the page."""
    return session().part(Claims)


def open_claim(key: str, setting: int = 0) -> None:
    """Opens a claim, or the list."""
    c = claims()
    c.key, c.setting, c.problems = key, setting, ()
    write_address(c)


def run_again(key: str) -> None:
    """Asks for the runs of a claim; those that this store has are not computed twice."""
    c = claims()
    c.again.add(key)
    ask(CLAIMS[key].runs, owner_id("claims"))


def stop_waiting(key: str) -> None:
    """The visitor does not wait for them any more."""
    claims().again.discard(key)


def claim_progress(claim: Claim) -> together.Progress:
    """How the runs of a claim stand, as one."""
    specs = list(claim.runs)
    lacking = [spec for spec in specs if data.status(spec, owner_id("claims")).state != "done"]
    return together.progress(specs, lacking, owner_id("claims"))


def going(claim: Claim) -> bool:
    """Whether any is being computed, or an answer is waited for."""
    state = claim_progress(claim)
    return bool(state.active) or (not state.failed and not state.stopped and computed_here(claim) is None)


def computed_here(claim: Claim) -> tuple[Evidence, ClaimReport] | None:
    """What was computed here; None while it is not all there."""
    store = data.store()
    if any(store.status(spec, owner_id("claims")).state != "done" for spec in claim.runs):
        return None
    kept: SizedCache[tuple[Evidence, ClaimReport]] = cache_of("claims", COMPUTED_BYTES)
    token = ".".join(store.version(spec) for spec in [*claim.runs, *claim.questions])
    found = kept.get(claim.key)
    if found is not None and found[0] == token:
        return found[1]
    known = evidence(store, claim)
    if known is None:  # an answer is missing, which has no version
        return None
    return kept.put(claim.key, token, (known, report(claim, known)), CLAIM_BYTES)
