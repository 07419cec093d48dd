"""Learners and environments of other packages, which they register by entry point.

[project.entry-points."dprl.learners"]
my-learner = "my_package.my_learner:ALGORITHM"
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, MutableMapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

T = TypeVar("T")

failures: list[str] = []  # a sentence for each that could not be used
sources: dict[str, str] = {}  # by key: which version of which package the entry came from


def add_plugins(group: str, registry: MutableMapping[str, T], needed: tuple[str, ...]) -> None:
    """Add what other packages register to a registry.

    What cannot be loaded is left out, with a sentence in `failures` and a warning: the program goes on without it.

    Args:
        group: of entry points, such as dprl.learners.
        registry: by key.
        needed: attributes that an entry must have.
    """
    for point in entry_points(group=group):
        for sentence in _added(point, registry, needed):
            failures.append(sentence)
            warnings.warn(sentence, RuntimeWarning, stacklevel=2)


def _added(point: EntryPoint, registry: MutableMapping[str, Any], needed: tuple[str, ...]) -> Iterator[str]:
    """Adds one entry; what is wrong with it, if anything is."""
    what = f"{point.group}: {point.name} ({point.value})"
    try:
        entry = point.load()
    except Exception as error:  # whatever another package's import raises
        yield f"{what} could not be loaded: {type(error).__name__}: {' '.join(str(error).split())[:200]}."
        return
    missing = [name for name in needed if not hasattr(entry, name)]
    if missing:
        yield f"{what} was left out: it has no {', '.join(missing)}."
    elif entry.key in registry:
        yield f"{what} was left out: there is already one with the key {entry.key}."
    else:
        registry[entry.key] = entry
        if point.dist is not None:
            sources[entry.key] = f"{point.dist.name} {point.dist.version}"
