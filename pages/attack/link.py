"""The links to the Attack page, its state for a visitor, and its access to the store.

    v=1 & b=<run> & first=0/0/1 & second=5/0/1 & noise=half & step=tree & ...

Default values are left out. Each wrong value is replaced by its default and reported in one sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dprl import links
from dprl.fields import SpecError
from dprl.simulation import FIELDS as RUN_FIELDS
from dprl.simulation import AttackSpec, RunSpec
from pages.shared.results.data import AttackScores, bundled_scores, cache_of_all, store
from pages.shared.results.status import Runs
from pages.shared.visitor.address import Query
from pages.shared.visitor.draft import Draft, draft_of
from pages.shared.visitor.state import PageState, session

BASE = RunSpec(seeds=1)
STEPS = ("one", "subtract", "tree")  # of the collusion
DEFAULT = AttackSpec(run=BASE)
OWN = ("first", "second", "noise", "places")  # fields of the spec with keys of their own in links


def encode(spec: AttackSpec, step: str = STEPS[0]) -> list[tuple[str, str]]:
    usual = AttackSpec(run=spec.run)
    run = spec.run.replace(seeds=RUN_FIELDS["seeds"].default)  # the number of seeds is irrelevant here
    items = [*links.link_heading(), ("b", links.encode_spec(run))]
    items += [(name, getattr(spec, name)) for name in OWN if getattr(spec, name) != getattr(usual, name)]
    return items + ([] if step == STEPS[0] else [("step", step)])


def decode(
    parameters: Mapping[str, Sequence[str]], problems: list[str], files: Mapping[str, str] | None = None
) -> tuple[AttackSpec, str]:
    """Read an attack and the collusion step from a link, and report unusable values in `problems`."""
    changes: list[dict[str, Any]] = []
    if (text := links.last(parameters, "b")) is not None:
        run, wrong = links.decode_spec(text, files)
        problems += [f"The run: {sentence}" for sentence in wrong]
        changes += [{"run": run, "first": "", "second": ""}] if run else []
    changes += [{name: given} for name in OWN if (given := links.last(parameters, name)) is not None]
    spec = DEFAULT
    for change in changes:
        try:
            spec = spec.replace(**change)
        except SpecError as error:
            problems.append(str(error))
    return spec, links.chosen("step", links.last(parameters, "step"), STEPS, problems) or STEPS[0]


class AttackRuns(Runs):
    """The attacks on the page: the first is bundled, and the others are in the store."""

    def bundled(self, spec: AttackSpec) -> Any:
        return bundled_scores().get(spec)


RUNS = AttackRuns(group="attack")


@dataclass(kw_only=True)
class Attack(PageState):
    """The state of the page for one visitor: the attack, the collusion step, and the guesses."""

    spec: AttackSpec = DEFAULT
    step: str = STEPS[0]
    guesses: list[bool] = field(default_factory=list)  # whether each guess was right
    guessed: bool = False  # whether the visitor guessed about the data shown now
    skipped: bool = False  # whether the visitor chose not to guess

    @property
    def first_draft(self) -> Draft:
        return draft_of(self.spec.run)

    @property
    def link(self) -> list[tuple[str, str]]:
        return encode(self.spec, self.step)

    def follow(self, given: Query, problems: list[str]) -> None:
        s = session()
        self.spec, self.step = decode(given, problems, s.files)
        s.draft = draft_of(self.spec.run)
        s.version += 1
        RUNS.begin([self.spec])


attack = Attack.mine


def show_attack(spec: AttackSpec) -> None:
    """Show another attack, and request the missing trials."""
    session().version += 1
    attack().put(spec=spec, guessed=False, guesses=[])
    RUNS.start([spec])


def finished_scores(spec: AttackSpec) -> AttackScores:
    """Return the scores from the finished parts of an attack."""
    if spec in bundled_scores():
        return bundled_scores()[spec]

    def load() -> AttackScores:
        version, traces = store().version(spec), store().traces(spec)
        first, second = (
            np.concatenate([np.zeros(0), *(getattr(trace, world) for trace in traces)])
            for world in ("first", "second")
        )
        releases, counters = (traces[0].releases, traces[0].counters) if traces else (0, 0)
        return AttackScores(first, second, releases, counters, f"{version}:{len(first)}")

    return cache_of_all().cached(("scores", spec.to_json()), load, lambda: store().version(spec))
