"""What the components of the store share: a file, the simulation whose specs and traces it holds, errors, settings."""

from __future__ import annotations

import functools
import hashlib
import os
import sqlite3
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from dprl.jobs.file import StoreError, StoreFile, is_damage
from dprl.jobs.simulation import Simulation, SpecLike, dprl_simulation

Self = TypeVar("Self", bound="StoreComponent")
P = ParamSpec("P")
R = TypeVar("R")


class StoreComponent:
    """A component of the store that reads and writes one of its files; simulation: dprl's own where None."""

    def __init__(self, file: StoreFile, simulation: Simulation | None = None) -> None:
        self._file = file
        self._given = simulation

    @functools.cached_property
    def _simulation(self) -> Simulation:
        return self._given or dprl_simulation()

    def _spec(self, text: str, key_of: Callable[[Any], str], key: str) -> Any | None:
        """The spec that was stored as `text`; None where its key is another by now: the simulation has changed."""
        try:
            spec = self._simulation.spec_from_json(text)
            same = key_of(spec) == key
        except (ValueError, TypeError, KeyError):
            return None
        return spec if same else None


def mending(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R]:
    """Turn SQLite's errors into StoreError; should the file prove damaged, begin a new one and try again."""

    @functools.wraps(method)
    def call(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        inode = self._file.inode
        try:
            try:
                return method(self, *args, **kwargs)
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise
                self._file.set_aside_damaged(inode)
                return method(self, *args, **kwargs)
        except sqlite3.Error as error:
            raise StoreError(f"The {self._file.name} cannot be used just now ({error}).") from error

    return call


def run_key(spec: SpecLike) -> str:
    """Names a run: its spec, and through the first seed's key the simulation that computes it."""
    return hashlib.sha256(f"{spec.to_json()}\n{spec.seed_key(0)}".encode()).hexdigest()


def setting(name: str, default: int, low: int, high: int) -> int:
    """A whole number from the environment. Raises StoreError naming the variable when it is not one."""
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise StoreError(f"{name} is {text[:40]!r}, and must be a whole number from {low} to {high}.")
    return value
