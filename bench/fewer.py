"""How many users until an average episode loses at most 10% of V*, today and before rows counted who played them.

    python -m bench.fewer [--write] [--only local]

Medians of 20 seeds at epsilon 1 and delta 1e-6, DP-UCBVI and all else by default. Before, with no trusted party every
user had Gaussian noise in every row; and nobody could declare that transitions do not depend on the step. Sizes of
bench/played.py that nothing was chosen on come after the problems by default. `--write` keeps what is printed in
bench/fewer.json, which docs/notes/users.md is held against; with `--only local` the other privacy models' lines there
stay as they are.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.played import PROBLEMS, WAYS, finished, needed
from dprl import RunSpec
from dprl.words import human, rough

FILE = Path(__file__).with_name("fewer.json")
SEEDS = 20
USERS = {"central": 10**10, "local": 10**15}
BEFORE: Mapping[str, Mapping[str, Any]] = {
    "central": {},
    "local": WAYS["gaussian, all"],
}
NOW: Mapping[str, Mapping[str, Any]] = {"central": {}, "local": {}}
NAMED = ("riverswim", "chain", "clinic", "frozenlake")
UNCHOSEN = tuple(name for name in PROBLEMS if "," in name)  # sizes that nothing was chosen on
DECLARED = (
    "riverswim",
    "riverswim, S=5 H=12",
    "chain, S=4 A=4 H=9",
    "clinic, 4 levels, 2 doses",
)  # of which steps are alike


class Case(NamedTuple):
    """A line of the table. problem: key of bench/played.py; declared: whether it is declared that steps are alike."""

    problem: str
    privacy: str
    declared: bool = False

    def spec(self, now: bool) -> RunSpec:
        """Its run, today or as before."""
        environment, params = PROBLEMS[self.problem]
        ways = NOW if now else BEFORE
        return RunSpec(
            environment=environment,
            environment_params=params,
            episodes=USERS[self.privacy],
            stationary="yes" if self.declared and now else "no",
            **{"privacy": self.privacy, **ways[self.privacy]},
        )


CASES = (
    *(Case(name, "local") for name in (*NAMED, *UNCHOSEN)),
    *(Case(name, privacy, True) for name in DECLARED for privacy in ("local", "central")),
)


def median_needed(spec: RunSpec, seeds: int) -> float:
    """Over seeds; infinite where half of them never get there."""
    return float(np.median([needed(finished(spec, seed)[0]) for seed in range(seeds)]))


def rows(seeds: int = SEEDS, only: str = "") -> Iterator[dict[str, Any]]:
    """The table, or its lines of a privacy model; None for more users than a run has."""
    known: dict[RunSpec, float] = {}
    for case in CASES:
        if only not in case.privacy:
            continue
        told = {}
        for when, now in (("before", False), ("today", True)):
            spec = case.spec(now)
            if spec not in known:
                known[spec] = median_needed(spec, seeds)
            told[when] = float(f"{known[spec]:.3g}") if np.isfinite(known[spec]) else None
        yield {**case._asdict(), "seeds": seeds, **told}


def line(row: Mapping[str, Any]) -> str:
    """A row as the document has it."""
    name = row["problem"] + (", declared" if row["declared"] else "")
    before, today = row["before"], row["today"]
    times = rough(before / today) if before and today else ""
    said = [human(x) if x else f"more than {human(USERS[row['privacy']])}" for x in (before, today)]
    return f"| {' | '.join([name, row['privacy'], *said, times])} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep what is printed in bench/fewer.json")
    parser.add_argument("--only", default="", choices=("", *USERS), help="a privacy model")
    given = parser.parse_args()
    found = []
    if given.only:
        found = [row for row in json.loads(FILE.read_text("utf-8")) if row["privacy"] != given.only]
    for row in rows(only=given.only):
        found.append(row)
        print(line(row), flush=True)
    if given.write:
        FILE.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
