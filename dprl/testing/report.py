"""What a check says: that it passed, or in one sentence what is wrong."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeVar

from dprl.fields import Field

KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
LIBRARIES = ("dprl", "numpy", "scipy", "numba", *sys.stdlib_module_names)  # no plug-in has its code there
NOT_COMPILED = "compiles=False was asked for"


class CheckFailed(AssertionError):
    """What is wrong with an algorithm, an environment or a mechanism.

    Attributes:
        check: the name of the check that found it.
    """

    def __init__(self, check: str, sentence: str) -> None:
        super().__init__(f"{check}: {sentence}")
        self.check = check


class Keyed(Protocol):
    """An entry of a registry."""

    @property
    def key(self) -> str: ...


K = TypeVar("K", bound=Keyed)


@dataclass(frozen=True)
class Report:
    """The checks that an entry of a registry has passed.

    Attributes:
        key: of the entry.
        passed: names of the checks, in their order.
        left: which checks were left out, each with the reason.
        notes: what a check found that is worth knowing.
    """

    key: str
    passed: tuple[str, ...]
    left: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        told = [f"{self.key}: {len(self.passed)} checks passed: {', '.join(self.passed)}"]
        told += [f"not checked: {one}" for one in self.left]
        return "\n".join((*told, *(f"note: {one}" for one in self.notes)))


def require(true: object, sentence: str) -> None:
    """Raises AssertionError with the sentence unless it is true."""
    if not true:
        raise AssertionError(sentence)


def run_checks(entry: K, checks: Sequence[Callable[[K], str | None]]) -> Report:
    """Run checks, each named as its function. What one returns is a note.

    Raises:
        CheckFailed: by the first that does not pass, whatever it raises.
    """
    notes = []
    for check in checks:
        name = check.__name__.replace("_", " ")
        try:
            note = check(entry)
        except Exception as error:
            said = " ".join(str(error).split())[:600]
            kind = "" if type(error) is AssertionError else f"{type(error).__name__}: "
            told = [*where(error.__traceback__), *getattr(error, "__notes__", ())]
            raise CheckFailed(name, f"{kind}{said}" + (f" ({'; '.join(told)})" if told else "")) from error
        notes += [f"{name}: {note}"] if note else []
    return Report(entry.key, tuple(check.__name__.replace("_", " ") for check in checks), notes=tuple(notes))


def where(trace: TracebackType | None) -> list[str]:
    """The line of a plug-in at which an error arose; none where a check has said what is wrong."""
    found: list[str] = []
    room = ""
    while trace is not None:
        frame = trace.tb_frame
        room = str(frame.f_globals.get("__name__", ""))
        if room.partition(".")[0] not in LIBRARIES:
            code = frame.f_code
            found = [f"{Path(code.co_filename).name}, line {trace.tb_lineno}, in {code.co_name}"]
        trace = trace.tb_next
    return [] if room.startswith("dprl.testing.") else found


def own_key(registry: Mapping[str, Any], entry: Keyed) -> None:
    """Its key is one that no other has.

    Raises:
        CheckFailed: it is taken, or none.
    """

    def record(entry: Keyed) -> None:
        require(
            isinstance(entry.key, str) and KEY.fullmatch(entry.key),
            f"key: {entry.key!r} is not allowed; give small letters, digits and hyphens, such as my-own",
        )
        require(
            not key_taken(registry, entry),
            f"key: there is already one with the key {entry.key}; give another",
        )

    run_checks(entry, [record])


def key_taken(registry: Mapping[str, Any], entry: Keyed) -> bool:
    """Whether another entry has its key. One of the same module is taken to be an older state of the same."""
    other = registry.get(entry.key)
    return other is not None and other is not entry and _module(other) != _module(entry)


def _module(entry: Any) -> str | None:
    parts = (getattr(entry, name, None) for name in ("plan", "make", "add_noise"))
    return next((part.__module__ for part in parts if callable(part)), None)


@contextmanager
def offered(
    registry: MutableMapping[str, Any], entry: Keyed, fields: MutableMapping[str, Field], name: str
) -> Iterator[None]:
    """For a while an entry is in a registry, and a field of a spec may name it; then all is as before."""
    before, field = dict(registry), fields[name]
    registry[entry.key] = entry
    fields[name] = replace(field, choices=tuple(registry))
    try:
        yield
    finally:
        registry.clear()
        registry.update(before)
        fields[name] = field


def texts(entry: Any) -> None:
    """Title, one sentence and source are there, each on one line."""
    require(KEY.fullmatch(entry.key), "key: give small letters, digits and hyphens")
    for name in ("title", "summary", "source"):
        text = getattr(entry, name)
        require(isinstance(text, str) and text and "\n" not in text, f"{name}: give a text on one line")
