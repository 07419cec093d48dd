"""Compare the traces of two checkouts, bit for bit: python -m bench.same_traces OLD_CHECKOUT

Computes each spec of tests/golden and some runs on data sets in both checkouts, with this Python and its libraries,
and compares every array of every trace. The name of an array may differ, but not its bits. Prints each spec that
differs, and how many were compared; exits with 1 if any differs.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
SMALL = {"environment": "riverswim", "environment_params": {"S": 3, "H": 5}, "seeds": 1, "n": 100_000}


def specs() -> list[dict[str, Any]]:
    """Return the specs to compare, as JSON objects that both checkouts can read."""
    golden = [json.loads(file.read_text()) for file in sorted((ROOT / "tests/golden").glob("*.json"))]
    online = [case["spec"] for cases in golden for case in cases.values()]
    offline = [
        {"kind": "offline", "algorithm": algorithm, "privacy": privacy} | SMALL
        for algorithm in ("dp-apvi", "dp-kl-lcb", "dp-plug-in")
        for privacy in ("zcdp", "pure", "approximate")
    ]
    linear = {"environment": "linear-synthetic", "environment_params": {}, "seeds": 1, "n": 10_000}
    offline += [
        {"kind": "offline", "algorithm": each, "privacy": "zcdp"} | linear for each in ("dp-vapvi", "dp-pevi")
    ]
    return online + offline


def digests(value: Any) -> Counter[str]:
    """Return the digests of all arrays in a trace, whatever their names."""
    if isinstance(value, np.ndarray):
        kind = "f8" if value.dtype.kind in "fb" else "i8"
        content = np.ascontiguousarray(value, dtype=kind)
        return Counter([hashlib.sha256(f"{content.shape}".encode() + content.tobytes()).hexdigest()])
    if is_dataclass(value) and not isinstance(value, type):
        return sum((digests(getattr(value, each.name)) for each in fields(value)), Counter())
    if isinstance(value, dict):
        return sum(map(digests, value.values()), Counter())
    return sum(map(digests, value), Counter()) if isinstance(value, list | tuple) else Counter()


def compute() -> None:
    """Read specs from standard input, one per line, and print the digests of each trace."""
    import dprl

    for line in sys.stdin:
        try:
            trace = dprl.run(dprl.spec_from_json(line)).seeds[0]
            found: dict[str, Any] = {"digests": digests(trace)}
        except dprl.SpecError as error:
            found = {"refused": str(error)}
        print(json.dumps(found), flush=True)


def traces_in(checkout: Path, lines: str) -> list[dict[str, Any]]:
    """Return the digests that the code of a checkout computes."""
    command = [sys.executable, str(Path(__file__).resolve()), "compute"]
    environment = os.environ | {"PYTHONPATH": str(checkout), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        command, cwd=checkout, env=environment, input=lines, stdout=subprocess.PIPE, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def main(old: Path) -> int:
    """Return 1 if any spec differs."""
    every = specs()
    lines = "".join(json.dumps(spec) + "\n" for spec in every)
    before, after = (traces_in(checkout, lines) for checkout in (old, ROOT))
    wrong = 0
    for spec, one, two in zip(every, before, after, strict=True):
        if "refused" in one or "refused" in two:
            print(
                f"refused: {one.get('refused', 'not before')} / {two.get('refused', 'not now')}: {json.dumps(spec)}"
            )
            wrong += "refused" in two
        elif new := Counter(two["digests"]) - Counter(one["digests"]):
            print(f"{new.total()} of {sum(two['digests'].values())} arrays differ: {json.dumps(spec)}")
            wrong += 1
    print(f"{len(every) - wrong} of {len(every)} specs have the same bits.")
    return int(wrong > 0)


if __name__ == "__main__":
    if sys.argv[1:] == ["compute"]:
        sys.path[0] = os.getcwd()
        compute()
    else:
        sys.exit(main(Path(sys.argv[1]).resolve()))
