"""What comes with the program for Linear: for each of its files of runs, the specs in it."""

from __future__ import annotations

from dprl.simulation import RunSpec
from pages.linear.examples import EXAMPLES, harder


def of_examples() -> list[RunSpec]:
    """All runs of the examples."""
    found: list[RunSpec] = []
    for example in EXAMPLES:
        found += example.specs
        if example.view.problem == "harder":
            found += [one for spec in example.specs for one in harder(spec)]
    return list(dict.fromkeys(found))


FILES = {"linear": of_examples}
