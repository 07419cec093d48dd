"""Short traces that must stay as they are: each algorithm with each privacy model, mechanism and kind of reports.

Users of `walked` are drawn one by one; `blocks` need binomial draws too. `stages` are those of policy elimination,
`batches` those of linear learners. Noise is as in the paper if some paper states it, and calibrated otherwise. Numbers
are compared at 1e-9, relative. After a change that is meant to change them, which CHANGELOG then mentions, write them
anew and look at the difference; `missing` writes those of new algorithms and mechanisms:

    PYTHONPATH=. python tests/golden/test_golden.py [missing]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS, ENVIRONMENTS, RunSpec
from dprl.simulation.loops import LOOPS
from dprl.simulation.pairs import calibrations_for, mechanisms_for, not_counted, runs_in
from tests.contract.test_pairs import small_spec
from tests.problems import finished, first, home

HERE = Path(__file__).parent
MODES = {"walked": 2**62, "blocks": 0}
CASES = [
    (algorithm.key, privacy, mechanism, reports)
    for algorithm in ALGORITHMS.values()
    for privacy in algorithm.privacies
    for mechanism in mechanisms_for(algorithm.key, privacy) or (None,)
    for reports in ("all", "played")
    if not not_counted(reports, algorithm.key, privacy, mechanism)
]


def records(algorithm: str, privacy: str, mechanism: str | None, reports: str) -> dict[str, dict[str, Any]]:
    learner = ALGORITHMS[algorithm]
    modes = ["stages"] if learner.forgets else ["batches"] if learner.schedule else MODES
    return {
        f"{bonus}, {mode}": record(algorithm, privacy, mechanism, reports, bonus, mode)
        for bonus in learner.bonuses
        for mode in modes
    }


def record(
    algorithm: str, privacy: str, mechanism: str | None, reports: str, bonus: str, mode: str
) -> dict[str, Any]:
    """A few numbers on which everything in a run has an influence."""
    sized = calibrations_for(algorithm, mechanism)[-1] if mechanism else None
    environment = "riverswim" if runs_in(algorithm, "riverswim") else home(algorithm)
    sizes = {"S": 3, "H": 5 if mode in MODES else 3}
    given: dict[str, Any] = {
        "environment_params": {
            f.name: sizes[f.name] for f in ENVIRONMENTS[environment].fields if f.name in sizes
        },
        "episodes": {"walked": 20_000, "blocks": 10**12, "stages": 10**12, "batches": 10**6}[mode],
    }
    chosen = (environment, algorithm, privacy, mechanism, sized, bonus)
    spec = small_spec(*chosen, reports=reports, epsilon=50.0, **given)
    loop: Any = LOOPS[ALGORITHMS[algorithm].loop]
    how = {"walk_below": MODES[mode]} if mode in MODES else {}
    trace = finished(loop(spec, 0, **how)).trace()
    every = slice(None, None, -(-len(trace.episodes) // 6))
    found: dict[str, Any] = {
        "episodes": trace.episodes[every],
        "regret": trace.regret[every],
        "gap": trace.gap[every],
        "coverage_ratio": trace.coverage_ratio[every],
        "final_regret": trace.regret[-1:],
        "visits": trace.counts[-1][..., -2].sum(-1).ravel(),
        "rewards": trace.counts[-1:][..., -1].sum((1, 2, 3)),
        "noisy": trace.noisy[-1, 0, 0, :2].ravel(),
        "released": trace.released[-1, 0, 0, :2].ravel(),
        "Q": trace.Q[-1, 0].ravel(),
        "error": np.array([trace.error_bound[-1], trace.error_used[-1]]),
    } | {name: array[-3:].ravel()[-20:] for name, array in trace.series.items()}
    # twelve digits: compared at nine
    rounded = {name: [float(f"{x:.12g}") for x in array.tolist()] for name, array in found.items()}
    return {"spec": spec.to_dict(), **rounded}


def file_of(algorithm: str, privacy: str, mechanism: str | None, reports: str) -> Path:
    named = (algorithm, privacy, mechanism, reports if reports != "all" else None)
    return HERE / f"{'.'.join(filter(None, named))}.json"


# The first of each algorithm in each privacy model here, the others thoroughly. Of shuffled bits, whose proof takes
# seconds to find, the first of all.
@pytest.mark.parametrize(
    ("algorithm", "privacy", "mechanism", "reports"),
    first(CASES, lambda case: case[1] == "shuffle" or case[:2]),
)
def test_traces_are_as_they_were(algorithm: str, privacy: str, mechanism: str | None, reports: str) -> None:
    file = file_of(algorithm, privacy, mechanism, reports)
    assert file.exists(), (
        "there is no golden trace of this yet: PYTHONPATH=. python tests/golden/test_golden.py missing"
    )
    golden = json.loads(file.read_text(encoding="utf-8"))
    now = records(algorithm, privacy, mechanism, reports)
    assert now.keys() == golden.keys()
    for case, old in golden.items():
        assert RunSpec.from_dict(now[case]["spec"]) == RunSpec.from_dict(old["spec"])
        assert now[case].keys() == old.keys()
        for name in old.keys() - {"spec"}:
            np.testing.assert_allclose(
                now[case][name], old[name], rtol=1e-9, atol=1e-9, err_msg=f"{case}: {name}"
            )


def write(missing: bool) -> None:
    for file in HERE.glob("*.json") if not missing else ():
        file.unlink()
    cases = [case for case in CASES if not file_of(*case).exists()]
    for case in cases:
        blocks = []
        for name, found in records(*case).items():
            lines = ",\n".join(f'    "{key}": {json.dumps(value)}' for key, value in found.items())
            blocks.append(f'  "{name}": {{\n{lines}\n  }}')
        file_of(*case).write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")
    print(f"wrote traces of {len(cases)} combinations in {HERE}")


if __name__ == "__main__":
    write(missing="missing" in sys.argv)
