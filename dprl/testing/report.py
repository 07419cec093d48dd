"""A list of checks that run in order. The first that fails raises an error that explains the fault in a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from dprl.fields import Field
from dprl.plugins import Registry, put

KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
T = TypeVar("T")


class CheckFailed(AssertionError):
    """Raised when a check fails. `check` is the name of the check."""

    def __init__(self, check: str, sentence: str) -> None:
        super().__init__(f"{check}: {sentence}")
        self.check = check


def require(true: object, sentence: str) -> None:
    """Raise AssertionError with the sentence if the condition is false."""
    if not true:
        raise AssertionError(sentence)


def run_checks(entry: T, checks: Sequence[Callable[[T], None]]) -> tuple[str, ...]:
    """Run checks in order, and return the names of their functions. Raises CheckFailed at the first failure."""
    names = []
    for check in checks:
        names.append(check.__name__.replace("_", " "))
        try:
            check(entry)
        except Exception as error:
            kind = "" if type(error) is AssertionError else f"{type(error).__name__}: "
            raise CheckFailed(names[-1], f"{kind}{' '.join(str(error).split())[:600]}") from error
    return tuple(names)


@contextmanager
def offered(registry: Registry[Any], entry: Any, fields: Registry[Field], name: str) -> Iterator[None]:
    """Register an entry temporarily, so that specs can refer to it inside a `with` block."""
    before, field = registry.get(entry.key), fields[name]
    put(registry, entry.key, entry)
    fields[name] = replace(field, choices=tuple(registry))
    try:
        yield
    finally:
        if before is None:
            del registry[entry.key]
        else:
            put(registry, entry.key, before)
        fields[name] = field


def texts(entry: Any) -> None:
    """Check the key, title, summary and source of an entry."""
    key = isinstance(entry.key, str) and KEY.fullmatch(entry.key)
    require(key, f"key: {entry.key!r} is not allowed; give small letters, digits and hyphens, such as my-own")
    for name in ("title", "summary", "source"):
        text = getattr(entry, name)
        require(isinstance(text, str) and text and "\n" not in text, f"{name}: give text on one line")
