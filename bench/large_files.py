"""How long a file of 200 MB takes to be read, and how much memory: each in a process of its own.

python -m bench.large_files
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bench.uploads import WARDS, declared, treated, ward
from dprl.simulation.uploads.declaration import declaration, declaration_text
from dprl.simulation.uploads.reading import counted
from dprl.simulation.uploads.table import MOST_BYTES

AT_ONCE = 20_000  # people
PUBLIC = json.loads(declared(ward(*WARDS[0][:2]), known=True))


def in_order() -> Iterator[pd.DataFrame]:
    """A ward's people, ten steps each, as the page asks for them."""
    concentration, seed, share = WARDS[0]
    model, at = ward(concentration, seed), 0
    people = treated(model, f"mixture:{share:g}", AT_ONCE, np.random.default_rng(0))
    who, step = (each.ravel() for each in np.indices(people.s.shape))
    s, a, r, _ = (each.ravel() for each in people)
    while True:
        yield pd.DataFrame(
            {
                "episode": who + at,
                "step": step,
                "state": s,
                "action": a,
                "reward": r.round(4),
            }
        )
        at += AT_ONCE


def of_people() -> Iterator[pd.DataFrame]:
    """The same, three episodes of one person, in any order."""
    for i, piece in enumerate(in_order()):
        piece.insert(0, "person", piece["episode"] // 3)
        yield piece.sample(frac=1, random_state=i)


def all_different() -> Iterator[pd.DataFrame]:
    """One step of everybody, and no number or label twice: the worst that there is."""
    rng, at = np.random.default_rng(0), 0
    while True:
        n = np.arange(10 * AT_ONCE)
        ages, rewards = 90 * rng.random(len(n)), rng.random(len(n))
        yield pd.DataFrame(
            {
                "person": n + at,
                "episode": 1,
                "step": 0,
                "age": ages.round(7),
                "action": "x",
                "reward": rewards.round(9),
            }
        )
        at += len(n)


KINDS: dict[str, tuple[Callable[[], Iterator[pd.DataFrame]], dict[str, Any]]] = {
    "in order": (in_order, PUBLIC),
    "of people, in any order": (of_people, PUBLIC | {"columns": {"person": "person"}, "episodes": 3}),
    "all different": (
        all_different,
        {
            "states": {"age": [30, 60]}, "actions": ["x", "y"], "horizon": 1,
            "columns": {"person": "person"}, "episodes": 3,
        },
    ),
}  # fmt: skip


def write(path: Path, pieces: Iterator[pd.DataFrame]) -> None:
    """As many pieces as fit."""
    with open(path, "wb") as file:
        text = next(pieces).to_csv(index=False).encode()
        while file.tell() + len(text) <= MOST_BYTES:
            file.write(text)
            text = next(pieces).to_csv(index=False, header=False).encode()


def read(kind: str, path: Path) -> None:
    """What one file takes, as a row of a table."""

    def megabytes() -> float:
        status = Path("/proc/self/status").read_text(encoding="utf-8")  # of this program alone, on Linux
        return float(status.partition("VmHWM:")[2].split()[0]) / 1000

    public = declaration(declaration_text(KINDS[kind][1]))
    counted(path.with_name("first.csv"), public, None, 0.25)  # what it imports
    before, began = megabytes(), time.perf_counter()
    found = counted(path, public, None, 0.25)
    seconds, size = time.perf_counter() - began, path.stat().st_size / 1e6
    print(
        f"| {kind} | {size:.0f} MB | {found.n:,} | {seconds:.0f} s | {megabytes() - before:.0f} MB |",
        flush=True,
    )


def main() -> int:
    if len(sys.argv) > 1:
        read(sys.argv[1], Path(sys.argv[2]))
        return 0
    print(
        "| rows | file | people | time | memory beside the file |\n| --- | --- | --- | --- | --- |",
        flush=True,
    )
    for kind, (pieces, _) in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "people.csv"
            first = next(pieces())
            whose = first["episode"] == first["episode"].iloc[0]
            first[whose].head(10).sort_values("step").to_csv(path.with_name("first.csv"), index=False)
            write(path, pieces())
            subprocess.run([sys.executable, "-m", "bench.large_files", kind, str(path)], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
