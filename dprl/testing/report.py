"""What a check says: that it passed, or in one sentence what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from dprl.fields import Field


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
    """

    key: str
    passed: tuple[str, ...]

    def __repr__(self) -> str:
        return f"{self.key}: {len(self.passed)} checks passed: {', '.join(self.passed)}"


def require(true: object, sentence: str) -> None:
    """Raises AssertionError with the sentence unless it is true."""
    if not true:
        raise AssertionError(sentence)


def checked(entry: K, checks: Sequence[Callable[[K], None]]) -> Report:
    """Run checks, each named as its function.

    Raises:
        CheckFailed: by the first that does not pass, whatever it raises.
    """
    for check in checks:
        name = check.__name__.replace("_", " ")
        try:
            check(entry)
        except Exception as error:
            said = " ".join(str(error).split())[:600]
            kind = "" if type(error) is AssertionError else f"{type(error).__name__}: "
            raise CheckFailed(name, f"{kind}{said}") from error
    return Report(entry.key, tuple(check.__name__.replace("_", " ") for check in checks))


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
    require(entry.key and entry.key == entry.key.strip(), "key: give a short name")
    for name in ("title", "summary", "source"):
        text = getattr(entry, name)
        require(isinstance(text, str) and text and "\n" not in text, f"{name}: give a text on one line")
