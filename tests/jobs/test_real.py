"""The pool on the simulation itself."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import dprl
from dprl.jobs import local
from dprl.jobs.store import Store


def test_background_runs_give_what_run_gives(path: Path) -> None:
    small = {"S": 3, "H": 3}
    specs = [
        dprl.RunSpec(environment_params=small, episodes=5000, seeds=2),
        dprl.RunSpec(
            environment_params=small,
            algorithm="ucbvi",
            privacy="none",
            episodes=200,
            schedule="episodic",
            seeds=1,
        ),
    ]
    expected = [
        dprl.run(spec) for spec in specs
    ]  # after which their kernels are compiled, however long that took
    store = Store(path)
    local.ensure_pool(path, workers=1)  # two, and which of them computes what: test_processes.py
    try:
        for spec in specs:
            store.requests.add(spec, "ann")
        until = time.monotonic() + 300
        while any(store.status.of(spec).state in ("queued", "running") for spec in specs):
            assert time.monotonic() < until
            time.sleep(0.02)
    finally:
        local.stop(path)
    for spec, whole in zip(specs, expected, strict=True):
        assert store.status.of(spec).state == "done", store.status.of(spec).message
        traces = store.results.traces(spec)
        live = store.results.live(spec)
        assert [trace.seed for trace in traces] == list(range(spec.seeds))
        for trace, (_, episodes, regret), wanted in zip(traces, live, whole.seeds, strict=True):
            assert trace.complete
            assert trace.spec == spec
            np.testing.assert_array_equal(trace.regret, wanted.regret)
            np.testing.assert_array_equal(trace.released, wanted.released)
            np.testing.assert_array_equal(episodes, wanted.episodes)
            np.testing.assert_array_equal(regret, wanted.regret)
    assert [row.spec for row in store.status.runs("ann")] == specs[::-1]
