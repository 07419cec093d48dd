"""Short traces that must stay as they are, for every algorithm with every privacy model.

`walked` has users one by one, so that only uniform, exponential and gamma draws enter; `blocks` has binomials too,
which numba draws otherwise from NumPy 2.5 on. Compared at 1e-9, relative. After a change that is meant to change
them (say so in CHANGELOG), write them anew and look at the difference:

    PYTHONPATH=. python tests/golden/test_golden.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS, RunSpec
from dprl.simulation.engine import SeedRun

HERE = Path(__file__).parent
MODES = {"walked": 2**62, "blocks": 0}
CASES = [
    (algorithm.key, privacy, bonus, mode)
    for algorithm in ALGORITHMS.values()
    for privacy in algorithm.privacies
    for bonus in algorithm.bonuses
    for mode in MODES
]


def record(algorithm: str, privacy: str, bonus: str, mode: str) -> dict[str, Any]:
    """A few numbers on which everything in a run has an influence."""
    spec = RunSpec(
        environment_params={"S": 3, "H": 5},
        algorithm=algorithm,
        privacy=privacy,
        epsilon=50.0,
        bonus=bonus,
        episodes=20_000 if mode == "walked" else 10**12,
        schedule="geometric:0.1",
        seeds=1,
    )
    run = SeedRun(spec, 0, walk_below=MODES[mode])
    while not run.advance(60.0):
        pass
    trace = run.trace()
    every = slice(None, None, -(-len(trace.episodes) // 12))
    return {
        "spec": spec.to_dict(),
        "episodes": trace.episodes[every].tolist(),
        "regret": trace.regret[every].tolist(),
        "gap": trace.gap[every].tolist(),
        "coverage_ratio": trace.coverage_ratio[every].tolist(),
        "final_regret": float(trace.regret[-1]),
        "visits": trace.counts[-1][..., -2].sum(-1).ravel().tolist(),
        "rewards": float(trace.counts[-1][..., -1].sum()),
        "noisy": trace.noisy[-1, 0, 0].ravel().tolist(),
        "released": trace.released[-1, 0, 0].ravel().tolist(),
        "Q": trace.Q[-1, 0].ravel().tolist(),
        "error_bound": float(trace.error_bound[-1]),
        "error_used": float(trace.error_used[-1]),
    }


def file_of(algorithm: str, privacy: str, bonus: str, mode: str) -> Path:
    return HERE / f"{algorithm}.{privacy}.{bonus}.{mode}.json"


@pytest.mark.parametrize(("algorithm", "privacy", "bonus", "mode"), CASES)
def test_trace_is_as_it_was(algorithm: str, privacy: str, bonus: str, mode: str) -> None:
    file = file_of(algorithm, privacy, bonus, mode)
    assert file.exists(), (
        "there is no golden trace of this yet: PYTHONPATH=. python tests/golden/test_golden.py"
    )
    golden, now = json.loads(file.read_text(encoding="utf-8")), record(algorithm, privacy, bonus, mode)
    assert now["spec"] == golden["spec"]
    assert now.keys() == golden.keys()
    for name in golden.keys() - {"spec"}:
        np.testing.assert_allclose(now[name], golden[name], rtol=1e-9, atol=1e-9, err_msg=name)


def test_no_golden_trace_is_left_over() -> None:
    assert {file.name for file in HERE.glob("*.json")} == {file_of(*case).name for case in CASES}


def write() -> None:
    for file in HERE.glob("*.json"):
        file.unlink()
    for case in CASES:
        lines = [f'  "{name}": {json.dumps(value)}' for name, value in record(*case).items()]
        file_of(*case).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"wrote {len(CASES)} traces in {HERE}")


if __name__ == "__main__":
    write()
