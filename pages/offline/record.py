"""Offline: its examples, its view, and its part of a visitor's session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from dprl.links import MAX_CURVES
from dprl.simulation import OfflineSpec, RunSpec
from pages.offline.settings import CLINIC, OfflineSettings, drafted, settings_of
from pages.shared.results.runs import Runs
from pages.shared.visitor.address import Query
from pages.shared.visitor.draft import Draft, draft_of
from pages.shared.visitor.links import decode_runs, encode_specs
from pages.shared.visitor.state import ViewedState, session, write_address
from pages.shared.visitor.views import looked

TABS = ("gap", "pessimism", "policy", "coverage", "guarantee", "data")
POLICY_CHARTS = ("steps", "V")
BIGGEST = 10**12


@dataclass(frozen=True)
class OfflineView:
    """The view of the page. Links leave these defaults out, so they must never change."""

    tab: str = looked("gap", "the open tab", "tab", choices=TABS)
    y: str = looked("log", "the vertical axis", "y", choices=("log", "linear"))
    each: str = looked("off", "whether every repetition has a line", "each", choices=("on", "off"))
    curve: int = looked(-1, "the run in detail; -1: the most private", "i", low=-1, high=MAX_CURVES - 1)
    seed: int = looked(0, "the repetition in detail", "seed", low=0, high=99)
    n: int = looked(0, "the size in detail; 0: the largest not yet enough", "n", low=0, high=BIGGEST)
    h: int = looked(-1, "the step of the episode; -1: all", "h", low=-1, high=999)
    drawn: str = looked("steps", "the chart of the policy", "pol", choices=POLICY_CHARTS)


Specs = tuple[OfflineSpec, ...]


class Example(NamedTuple):
    """A ready-made comparison. say: a sentence of plain text about what it shows."""

    title: str
    say: str
    specs: Specs


AS_IN_PAPER = CLINIC.replace(algorithm="dp-apvi", n=10**10, rho=0.1)
LINEAR = OfflineSpec(
    environment="linear-synthetic", algorithm="dp-vapvi", behaviour="first:0.6", n=10**6, seeds=10
)


def _budgets(base: OfflineSpec, *rho: float) -> tuple[OfflineSpec, ...]:
    """Return the run without privacy, and runs at these budgets rho."""
    return (base.baseline(), *(base.replace(rho=each) for each in rho))


EXAMPLES = (
    Example(
        "Three budgets",
        "How many records does a private algorithm need in a synthetic clinic?",
        _budgets(CLINIC, 0.01, 0.1, 1.0),
    ),
    Example(
        "Other guarantees",
        "The same data under zero-concentrated, pure and approximate privacy.",
        (
            CLINIC.baseline(),
            CLINIC.replace(rho=0.1),
            CLINIC.replace(privacy="pure", epsilon=1.0),
            CLINIC.replace(privacy="approximate", epsilon=1.0),
        ),
    ),
    Example(
        "A rare state",
        "In RiverSwim, when all users act at random, hardly any user reaches the far end.",
        _budgets(
            OfflineSpec(environment="riverswim", behaviour="uniform", n=10**8, seeds=10), 0.01, 0.1, 1.0
        ),
    ),
    Example(
        "The paper's constants",
        "The penalty of DP-APVI, as in the paper, holds for any data. It needs a thousand times the records of "
        "DP-KL-LCB.",
        (*_budgets(AS_IN_PAPER, 0.01, 0.1, 1.0), AS_IN_PAPER.replace(algorithm="dp-kl-lcb", rho=0.1)),
    ),
    Example(
        "Linear: the paper's range",
        "The paper shows n up to 1,000 on a linear environment. At which n does its claim hold?",
        _budgets(LINEAR, 25.0, 1.0, 0.1),
    ),
    Example(
        "Two releases instead of five",
        "The paper's DP-VAPVI next to our DP-PEVI, at the same proved budget.",
        (
            LINEAR.baseline(),
            LINEAR.replace(rho=1.0),
            LINEAR.replace(algorithm="dp-pevi", rho=0.8),
        ),
    ),
)
FIRST = EXAMPLES[0].specs  # shown when the page opens
RUNS = Runs(("offline",), "offline")


@dataclass(kw_only=True)
class OfflineState(ViewedState[OfflineView]):
    """The page's state of a visitor."""

    view: OfflineView = OfflineView()
    specs: Specs = FIRST  # specs of the comparison
    settings: OfflineSettings = field(default_factory=lambda: settings_of(FIRST))  # outside the draft
    keep: bool = False  # whether Run adds to the present comparison

    @property
    def first_draft(self) -> Draft:
        """Return the draft that gives the runs."""
        return drafted(draft_of(RunSpec()), self.specs)

    @property
    def link(self) -> list[tuple[str, str]]:
        """Return the query parameters of the link to the present view."""
        return encode_specs(self.specs, self.view)

    def follow(self, given: Query) -> None:
        """Apply a link and start its runs."""
        found, self.view, problems = decode_runs(given, OfflineView, OfflineSpec.kind, session().files)
        self.problems = tuple(problems)
        self.specs = tuple(dict.fromkeys(spec for spec, _ in found)) or self.specs
        self.set_controls(self.specs)
        RUNS.begin(self.specs)

    def set_controls(self, specs: Specs) -> None:
        """Set the controls to values that give these runs."""
        s = session()
        self.settings, s.draft = settings_of(specs), drafted(s.draft, specs)
        s.version += 1

    def reset(self) -> Callable[[], None]:
        """Reset the controls; the comparison stays. Returns a function that undoes this, except for the draft."""
        before = {"settings": self.settings, "keep": self.keep}
        self.keep = False
        self.set_controls(FIRST)
        return lambda: vars(self).update(before)

    def compare(self, specs: Sequence[OfflineSpec]) -> None:
        """Show these runs, start the missing ones, and update the address."""
        self.specs, self.problems = tuple(specs), ()
        self.view = replace(self.view, curve=OfflineView.curve)
        RUNS.start(self.specs)
        write_address(self)

    def take(self, example: Example) -> None:
        """Show an example, and set the controls to it."""
        self.compare(example.specs)
        self.set_controls(example.specs)


def offline() -> OfflineState:
    """Return this visitor's part of the page."""
    return session().part(OfflineState)


def bundled_specs() -> list[Any]:
    """Return all runs of the examples, whose results are bundled with the program."""
    return list(dict.fromkeys(spec for example in EXAMPLES for spec in example.specs))
