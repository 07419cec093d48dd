"""Slots without a process: turns are played in this one, when a test says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from dprl.runs.store import Store
from dprl.runs.turn import Order, Report, play
from tests.runs import fake


def whole(order: Order) -> Report:
    """Play a seed of the fake simulation to its end."""
    return play(order, fake.NAME, 1e9)


@dataclass(eq=False)
class Hand:
    """Plays turns of so many seconds. do: what it does instead."""

    do: Callable[[Order], Report] = whole
    plays: Literal["all", "here", "away"] = "all"

    def play(self, order: Order) -> Report:
        return self.do(order)

    def close(self) -> None:
        pass


def failing(message: str) -> Hand:
    return Hand(lambda order: Report(failed=message), "away")


def work(store: Store, slot: Hand | None = None, most: int = 1000) -> int:
    """Have a slot play until there is nothing to do; how many turns it took."""
    slot = slot or Hand()
    for done in range(most):
        if not store.engine.turn(slot):
            return done
    return most
