"""Registries to which other packages can add algorithms, environments and mechanisms as entry points.

[project.entry-points."dprl.learners"]
my-learner = "my_package.my_learner:ALGORITHM"
"""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TypeVar

from dprl.fields import SpecError, shown, similar
from dprl.messages.brief import cut, described, table_of

T = TypeVar("T")

failures: list[str] = []  # a sentence for each entry that cannot be used
# by group and key: the package that registers the entry, with its version, and a digest of its code
sources: dict[tuple[str, str], str] = {}
digests: dict[tuple[str, str], str] = {}


class UnknownKey(SpecError, KeyError):
    """The error for a key that is not in a registry."""

    __str__ = SpecError.__str__


@dataclass(frozen=True, repr=False)
class Entry:
    """An entry of a registry."""

    key: str  # its name in a spec
    title: str
    summary: str
    source: str  # where it is from, such as a section of a paper

    __repr__ = described


class Registry(Mapping[str, T]):
    """The available entries by key, in the order in which they are offered."""

    def __init__(self, entries: Iterable[tuple[str, T]] = ()) -> None:
        self._entries = dict(entries)
        self.group = ""  # the group of entry points, set once the entries of other packages have been added

    def __getitem__(self, key: str) -> T:
        try:
            return self._entries[key]
        except (KeyError, TypeError):  # TypeError: an unhashable key, such as a list
            wrong = f"{shown(key)} is unknown{similar(key, self)}"
            raise UnknownKey("key", f"{wrong}; give one of {', '.join(self)}.") from None

    def __setitem__(self, key: str, entry: T) -> None:
        """Replace an entry. Raises SpecError for a new key, which specs would not accept."""
        if self.group and key not in self:
            way = f"register it as an entry point of {self.group}, in a package that you install"
            raise SpecError("key", f"{shown(key)} cannot be added here; {way}.")
        self._entries[key] = entry

    def __delitem__(self, key: str) -> None:
        del self._entries[key]

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Registry of {len(self)}: {cut(', '.join(self))}"

    def _repr_html_(self) -> str:
        """Return an HTML table of the keys and descriptions, for a notebook."""
        rows = ((key, getattr(one, "title", "") or getattr(one, "help", "")) for key, one in self.items())
        return table_of(f"Registry of {len(self)}", rows)


def put(registry: Registry[T], key: str, entry: T) -> None:
    """Add an entry to a registry, or replace one."""
    registry._entries[key] = entry


def sources_of(**keys: str | None) -> list[str]:
    """Return the package version and the code digest of each given entry that comes from a plug-in. The entries are
    given by group, as in learners="my-learner"."""
    given = [(f"dprl.{group}", str(key)) for group, key in keys.items()]
    return [f"{sources[each]} {digests[each]}" for each in given if each in sources]


def add_plugins(
    group: str,
    registry: Registry[T],
    needed: tuple[str, ...],
    refusal: Callable[[T], str] = lambda entry: "",
    added: Callable[[T], None] = lambda entry: None,
) -> None:
    """Add the entries that other packages register in a group of entry points.

    If an entry cannot be used, add a sentence to `failures` and warn. `needed` has the attributes that an entry must
    have, `refusal` returns a reason to reject it or "", and `added` is called with each added entry.
    """
    for point in entry_points(group=group):
        try:
            entry = point.load()
        except Exception as error:  # another package's import may raise anything
            fault = f"could not be loaded: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
        else:
            if missing := [name for name in needed if not hasattr(entry, name)]:
                fault = f"was left out: it has no {', '.join(missing)}"
            elif entry.key in registry:
                fault = f"was left out: the key {entry.key} is already in use"
            elif why := refusal(entry):
                fault = f"was left out: {why}"
            else:
                put(registry, entry.key, entry)
                added(entry)
                if point.dist is not None:
                    sources[group, entry.key] = f"{point.dist.name} {point.dist.version}"
                    digests[group, entry.key] = code_digest(point.module)
                continue
        failures.append(f"{group}: {point.name} ({point.value}) {fault}.")
        warnings.warn(failures[-1], RuntimeWarning, stacklevel=2)
    registry.group = group


def code_digest(module: str) -> str:
    """Return a digest of the Python files of a module's package. The keys of results include this digest."""
    top = sys.modules[module.partition(".")[0]]
    folders = [Path(folder) for folder in getattr(top, "__path__", ())]
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    if not files and top.__file__:
        files = [Path(top.__file__)]
    content = b"".join(f"{file.name} ".encode() + file.read_bytes() for file in files)
    return hashlib.sha256(content).hexdigest()[:8]
