"""Offline, a data set of one's own: what is declared of it, what was read, and what was released of it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from math import inf
from typing import Any

from dprl import links
from dprl.fields import Field, SpecError
from dprl.privacy.curator import PROMISES
from dprl.simulation import UploadSpec
from dprl.simulation.budgeted import DEFAULT_DELTA
from dprl.simulation.uploads.check import SHARE
from dprl.simulation.uploads.declaration import (
    ENDED,
    NAME,
    PERSON,
    Declaration,
    declaration,
    declaration_text,
)
from dprl.simulation.uploads.ledger import Budget, checked_name
from dprl.simulation.uploads.model import EXAMPLE
from dprl.simulation.uploads.run import draws_of
from dprl.simulation.uploads.spec import FIELDS, LEARNERS, NOWHERE, fitting_learners
from dprl.simulation.uploads.spent import Draw, together
from dprl.uploads.readings import Reading
from pages.shared import values
from pages.shared.results.data import store

BUDGET = {"zcdp": "rho", "pure": "epsilon", "approximate": "epsilon"}
USUAL = {"zcdp": "0.1", "pure": "1", "approximate": "1"}
MOST = 8  # budgets
MOST_SHOWN = 16  # releases of earlier sessions
KNOWN, LEARNED = "known", "learned"
Table = dict[tuple[str, str], float]  # mean rewards by state and action


@dataclass
class Own:
    """What a visitor has of it.

    Attributes:
        states, actions, horizon, table, low, high: the form.
        start: the states that an episode begins in, () for all; chances: of these as written, "" for equal ones.
        rewards: KNOWN, as in the table, or LEARNED; "" until the visitor has chosen.
        absorbing: the state that a shorter episode goes on in, "" where none is shorter.
        names: by column, what the file calls it, where that is another name.
        person: the column that says whose an episode is, "" where each person has one; episodes: of one that count.
        unit: in which values are said beside points, "" for none; points: how much of it one point is.
        stationary: yes where all steps are declared to be alike, else no.
        file: a declaration from a file, in its place.
        algorithm: the learner; where it does not go with what is declared, the first that does is meant.
        privacy: the promise; values: its budgets as they are written, by promise; delta: beside them.
        held_out: the share of people who are held out.
        data: a spec of the data set that was read in this session; only who holds one can have it learned from.
        specs: what was asked of it, each a release.
        problem: what was wrong with the last file.
        outside: what of the file that was read is outside the declaration. Not private: it is nowhere but here.
        recalled: what is said of a file that was read before.
        purse: the name of the budget that releases are written down in; total: the most that it may come to, as rho.
        linked: a link was about a data set that is not here.
        reading: the file that is being read, None for none.
        leaving: the visitor is on the way to Explore.
        turn: part of the keys of widgets, raised when they are to be drawn anew.
    """

    states: str = ", ".join(EXAMPLE["states"])
    actions: str = ", ".join(EXAMPLE["actions"])
    horizon: int = EXAMPLE["horizon"]
    rewards: str = ""
    table: Table = field(default_factory=dict)
    low: float = 0.0
    high: float = 1.0
    start: tuple[str, ...] = (EXAMPLE["start"],)
    chances: str = ""
    absorbing: str = ""
    names: dict[str, str] = field(default_factory=dict)
    person: str = ""
    episodes: int = 1
    unit: str = ""
    points: float = 1.0
    stationary: str = "no"
    file: str = ""
    algorithm: str = LEARNERS[0]
    privacy: str = "zcdp"
    values: dict[str, str] = field(default_factory=lambda: dict(USUAL))
    delta: float = DEFAULT_DELTA
    held_out: float = SHARE
    data: UploadSpec | None = None
    specs: tuple[UploadSpec, ...] = ()
    problem: str = ""
    outside: tuple[str, ...] = ()
    undeclared: bool = False
    accept_undeclared: bool = False
    recalled: str = ""
    purse: str = field(default_factory=lambda: f"people {secrets.token_hex(3)}")
    total: float | None = None
    linked: bool = False
    reading: Reading | None = None
    leaving: bool = False
    turn: int = 0

    def __post_init__(self) -> None:
        for s, state in enumerate(EXAMPLE["states"]):
            for a, action in enumerate(EXAMPLE["actions"]):
                self.table[state, action] = EXAMPLE["rewards"][s][a]

    @property
    def budget(self) -> Field:
        """The field that has several values."""
        return FIELDS[BUDGET[self.privacy]]

    def nothing(self, state: str) -> float:
        """The mean reward of a state that the table does not have."""
        return min(max(0.0, self.low), self.high) if state == ENDED else self.low

    @property
    def known(self) -> bool:
        """Whether the form declares mean rewards: until the visitor has chosen, whether the table has any."""
        if self.rewards:
            return self.rewards == KNOWN
        pairs = product(labels(self.states), labels(self.actions))
        return any(self.table.get(pair, self.low) != self.low for pair in pairs)

    def declared(self) -> Declaration:
        """What the form or the file declares. Raises SpecError."""
        if self.file:
            return declaration(self.file)
        states, actions = labels(self.states), labels(self.actions)
        if states and self.absorbing == ENDED and ENDED not in states:
            states = [ENDED, *states]  # first, for the last label stands for all that are not declared
        given: dict[str, Any] = {"states": states, "actions": actions, "horizon": self.horizon}
        if self.known:
            given["rewards"] = [
                [self.table.get((state, action), self.nothing(state)) for action in actions]
                for state in states
            ]
        given["reward_range"] = [self.low, self.high]
        if len(self.start) == 1:
            given["start"] = self.start[0]
        elif self.start:
            given["start"] = starts(states, self.start, self.chances)
        if self.absorbing:
            given["absorbing"] = self.absorbing
        given["columns"] = {name: called for name, called in self.names.items() if called.strip()}
        if self.person.strip():
            given["columns"][PERSON] = self.person
            given["episodes"] = self.episodes
        if self.unit.strip():
            given["unit"] = [self.points, self.unit]
        given["stationary"] = self.stationary
        return declaration(declaration_text(given))

    def asked(self) -> tuple[UploadSpec, ...]:
        """A run for each budget on the data set that was read. Raises SpecError."""
        base = self.data or blank(self.declared())
        fitting = fitting_learners(base.public)
        return tuple(
            base.replace(
                algorithm=self.algorithm if self.algorithm in fitting else fitting[0],
                privacy=self.privacy,
                **{self.budget.name: value},
                **({"delta": self.delta} if "delta" in PROMISES[self.privacy].fields else {}),
            )
            for value in values.parse(self.budget, self.values[self.privacy], MOST)
        )

    def take(self, data: UploadSpec) -> None:
        """Another data set was read. What was released under its budget before stays."""
        self.data, self.problem, self.outside, self.recalled, self.linked = data, "", (), "", False
        self.undeclared = self.accept_undeclared = False
        self.specs = self.written_down()
        self.turn += 1

    def written_down(self) -> tuple[UploadSpec, ...]:
        """What was released under the budget, the last few."""
        if store().public or not Budget.known(self.purse):
            return ()
        return Budget(self.purse).releases[-MOST_SHOWN:]

    def before(self) -> tuple[Draw, ...]:
        """The noise of all that was released of these people."""
        asked = tuple(draw for spec in self.specs for draw in draws_of(spec))
        if store().public or not Budget.known(self.purse):
            return asked
        return (*Budget(self.purse).draws, *asked)

    def drop(self) -> None:
        """The data set is forgotten; what was released of it is no longer shown."""
        self.data, self.specs, self.outside, self.recalled = None, (), (), ""
        self.turn += 1

    def encode(self) -> list[tuple[str, str]]:
        """What a link says of it: what is declared, and the budgets. Nothing of the data."""
        if not self.specs:
            return []
        text = links.encode_spec(self.specs[-1])
        short = len(text) <= links.MAX_LENGTH and len(self.specs[-1].declared) <= links.MAX_MODEL
        told = [("up", text), ("ub", self.values[self.privacy])] if short else []
        return told + ([] if store().public else [("ul", self.purse)])

    def follow(self, parameters: Mapping[str, Sequence[str]], problems: list[str]) -> None:
        """Takes over what a link says; a sentence is added to `problems` for what is wrong."""
        text = links.last(parameters, "up")
        if text is None:
            if self.data is None:
                self.restore(links.last(parameters, "ul"))
            return
        spec, wrong = links.decode_spec(text, kind=UploadSpec.kind, beside={"data": NOWHERE})
        problems += [f"Your data: {sentence}" for sentence in wrong]
        if spec is None:
            return
        self.file, self.algorithm, self.privacy = spec.declared, spec.algorithm, spec.privacy
        self.delta, self.held_out = spec.delta or self.delta, spec.held_out
        self.values[spec.privacy] = str(links.last(parameters, "ub") or getattr(spec, BUDGET[spec.privacy]))[
            :200
        ]
        if self.data is None or self.data.declared != spec.declared:
            self.drop()
            self.linked = True
            self.restore(links.last(parameters, "ul"))

    def restore(self, purse: str | None) -> None:
        """Takes over what was released under the budget of a link: after a reload, say. It may say anything."""
        with suppress(SpecError):
            self.purse = checked_name(purse or self.purse)
            self.specs = self.written_down()
            if self.specs:
                self.file = self.specs[-1].declared


def blank(declared: Declaration) -> UploadSpec:
    """A spec with this declaration, of no data set. Raises SpecError."""
    return UploadSpec(data=NOWHERE, declared=declared.text, n=1)


def labels(text: str) -> list[str]:
    """What stands between the commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def starts(states: Sequence[str], first: Sequence[str], chances: str) -> list[float]:
    """[S] probabilities of the first state. chances: how likely each of `first` is beside the others, in that order, as
    written; "" for equal ones. Raises SpecError."""
    parts = labels(chances) or ["1"] * len(first)
    wanted = f"give {len(first)} numbers that are not negative, separated by commas, such as 70, 30."
    try:
        weights = [float(part.rstrip("%")) for part in parts]
    except ValueError:
        raise SpecError(f"{NAME}.start", f"the chances are no numbers; {wanted}") from None
    if len(weights) != len(first) or any(weight < 0 for weight in weights) or not 0 < sum(weights) < inf:
        raise SpecError(f"{NAME}.start", f"the chances do not fit the {len(first)} first states; {wanted}")
    share = {state: weight / sum(weights) for state, weight in zip(first, weights, strict=True)}
    return [share.get(state, 0.0) for state in states]


def spent(specs: Sequence[UploadSpec]) -> str:
    """What several releases of the same people prove together, in words: budgets add up.

    Learners that ask for the same counts plan from one release of those who are learned from. Each policy is asked
    about anew of those held out. Nobody is both, so a person's part proves no more than the larger of the two sums.
    """
    return together(draw for spec in specs for draw in draws_of(spec)).text


def why_not_asked(own: Own) -> str:
    """What stands in the way of asking, in one sentence, or nothing."""
    try:
        asked = own.asked()
        if own.data is not None and not store().public and Budget.known(own.purse):
            return Budget(own.purse).refusal(draw for spec in asked for draw in draws_of(spec))
    except SpecError as error:
        return str(error)
    return ""
