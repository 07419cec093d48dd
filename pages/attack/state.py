"""Attack: what a visitor's session holds of it, and what it reads from the store."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dprl.runs.status import RunStatus
from dprl.simulation import AttackSpec
from pages.attack import link as attack_link
from pages.attack.link import DEFAULT, FIELDS, AttackView
from pages.shared.controls.view import Widgets
from pages.shared.results import data
from pages.shared.results.cache import SizedCache, cache_of
from pages.shared.results.evidence import AttackScores, bundled_scores
from pages.shared.visitor.address import Query
from pages.shared.visitor.draft import Draft, draft_of
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import ViewedState, ask, begin, session, write_address

SCORE_BYTES = 16 * 2**20  # of scores kept, for all visitors together


@dataclass(kw_only=True)
class Attack(ViewedState[AttackView]):
    """What is shown: the attack and the view; how often noise was drawn again."""

    spec: AttackSpec = DEFAULT
    view: AttackView = field(default_factory=AttackView)
    presses: int = 0

    @property
    def first_draft(self) -> Draft:
        """That of the run that is attacked."""
        return draft_of(self.spec.run)

    @property
    def link(self) -> list[tuple[str, str]]:
        """The query parameters of the link to what is seen."""
        return attack_link.encode(self.spec, self.view)

    def follow(self, given: Query) -> None:
        """Takes over a link, and starts what it names."""
        s = session()
        link = attack_link.decode(given, s.files)
        self.spec, self.view, self.problems = link.spec, link.view, link.problems
        s.draft = draft_of(link.spec.run)
        s.version += 1
        if self.view.show == "attack" and self.spec not in bundled_scores():
            begin([self.spec], owner_id("attack"))


def attack() -> Attack:
    """This visitor's part of the page."""
    return session().part(Attack)


widgets = Widgets(attack, FIELDS, address=True)  # of what is looked at


def show_attack(spec: AttackSpec) -> None:
    """Shows another attack and starts it."""
    a, s = attack(), session()
    a.spec, a.problems = spec, ()
    s.version += 1
    start_attack()
    write_address(a)


def start_attack() -> None:
    """Asks for the attack that is shown, unless it comes with the program."""
    if attack().spec not in bundled_scores():
        ask([attack().spec], owner_id("attack"))


def attack_status(spec: AttackSpec) -> RunStatus:
    """How an attack stands; one that comes with the program is done."""
    if spec in bundled_scores():
        return RunStatus(state="done", seeds=spec.seeds, seeds_done=spec.seeds, progress=1.0)
    return data.store().status(spec, owner_id("attack"))


def finished_scores(spec: AttackSpec) -> AttackScores:
    """The scores of the units that are finished."""
    if spec in bundled_scores():
        return bundled_scores()[spec]

    def load(version: str | None) -> AttackScores:
        traces = [trace for trace in data.store().traces(spec) if trace.complete]
        first, second = (
            np.concatenate([np.zeros(0), *(getattr(trace, world) for trace in traces)])
            for world in ("first", "second")
        )
        releases, counters = (traces[0].releases, traces[0].counters) if traces else (0, 0)
        return AttackScores(first, second, releases, counters, f"{version}:{len(first)}")

    kept: SizedCache[AttackScores] = cache_of("scores", SCORE_BYTES)
    return kept.cached(
        spec.to_json(),
        load,
        lambda found: found.first.nbytes + found.second.nbytes,
        lambda: data.store().version(spec),
    )
