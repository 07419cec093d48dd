"""What comes with the program for Offline: for each of its files of runs, the specs in it."""

from __future__ import annotations

from dprl.simulation import OfflineSpec
from pages.offline.examples import EXAMPLES


def of_examples() -> list[OfflineSpec]:
    """All runs of the examples."""
    return list(dict.fromkeys(spec for example in EXAMPLES for spec in example.specs))


FILES = {"offline": of_examples}
