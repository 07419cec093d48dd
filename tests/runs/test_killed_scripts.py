"""A sweep whose script is killed goes on when the script is started again."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dprl
from dprl.runs.store import Store
from pages.shared.results.bundled import bundled
from pages.tradeoffs import study as studies
from tests.runs.test_cluster import a_cluster
from tests.runs.test_workers import ROOT

LIMIT = 900  # seconds that a sweep may take
SWEEP: dprl.Sweep[Any] = dprl.Sweep(  # what Trade-offs shows first: 4 models, 8 epsilons, 10 seeds
    studies.DEFAULT.base, {name: list(values) for name, values in studies.DEFAULT.sweep.axes}
)
SEEDS = 250  # one baseline, and eight runs of each model, of ten seeds
SCRIPT = f"""
import sys, dprl
sweep = dprl.Sweep.from_dict({SWEEP.to_dict()!r})
sweep.run(store=sys.argv[1], engine=sys.argv[2] or None, progress=lambda share: print(share, flush=True))
"""


def done(path: Path) -> set[str]:
    """The seeds that are done, by key."""
    with closing(sqlite3.connect(path)) as db:
        return {key for (key,) in db.execute("SELECT key FROM result WHERE trace IS NOT NULL")}


@pytest.mark.thorough
@pytest.mark.parametrize("where", ["here", "on a cluster"])
def test_a_sweep_that_is_killed_goes_on_and_gives_what_run_gives_and_trade_offs_shows(
    path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_cluster() if where == "on a cluster" else nullcontext("") as engine:
        command = [sys.executable, "-c", SCRIPT, str(path), engine]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as script:
            assert script.stdout is not None
            for share in script.stdout:
                if float(share) > 0.2:
                    script.kill()
                    break
        assert script.returncode < 0
        before = done(path)
        assert 0 < len(before) < SEEDS
        again = subprocess.run(
            command, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=LIMIT, check=True
        )
        assert 0.1 < float(again.stdout.partition("\n")[0]) < 1  # it begins with what there was
    after = done(path)
    assert len(after) == SEEDS
    assert before <= after
    monkeypatch.setattr(Store, "begin", None)  # from now on nobody computes
    assert (len(SWEEP.points), len(SWEEP.specs) * SWEEP.base.seeds) == (4 * 8, SEEDS)
    result = SWEEP.run(store=path, progress=False)
    for spec in SWEEP.specs:
        found = result.curves[spec]
        np.testing.assert_array_equal(found.values, dprl.run(spec).values)
        shown = bundled("tradeoffs")[spec]  # to nine digits, as all that comes with the program
        np.testing.assert_allclose(found.ends, shown.ends, rtol=1e-8)
