"""Traces: to bytes and back, as tables and as a summary."""

from __future__ import annotations

import dataclasses
import json
import zlib
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dprl import RunSpec, SeedTrace, Trace, run
from dprl.simulation import start, trace_from_bytes
from tests.problems import finished, refused
from tests.simulation.test_engine import same_bits

SUMMARY = [
    "v_star", "final_regret_mean", "final_regret_low", "final_regret_high", "claimed_epsilon", "claimed_delta",
    "proved_epsilon", "proved_delta", "seconds", "episodes_per_s",
]  # fmt: skip


@cache
def trace(privacy: str = "central", seeds: int = 3) -> Trace:
    params = {"S": 3, "H": 4, "variant": "strehl-littman"}  # seeds differ by their starts
    spec = RunSpec(
        environment_params=params, privacy=privacy, calibration="paper", episodes=10**4, seeds=seeds
    )
    return run(spec)


def test_bytes_round_trip() -> None:
    small = {"environment": "random", "environment_params": {"S": 2, "A": 2, "H": 3}}
    staged = run(RunSpec(**small, algorithm="apeve", episodes=10**6, seeds=1))  # type: ignore[arg-type]
    for each in (trace("central"), trace("none"), staged):
        for seed in each.seeds:
            again = trace_from_bytes(seed.to_bytes())
            same_bits(seed, again)
            assert again.curve[:2] == seed.curve[:2] == ("episode", "regret")
            np.testing.assert_array_equal(again.curve[2:], seed.curve[2:])
            for name in (f.name for f in dataclasses.fields(SeedTrace)):
                assert type(getattr(again, name)) is type(getattr(seed, name))
            assert (again.seconds, again.rate) == (seed.seconds, seed.rate)
    assert staged.seeds[0].series


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"nonsense", b"PK\x03\x04", zlib.compress(b""), zlib.compress(b"PK\x03\x04")]
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with refused("trace: "):
        trace_from_bytes(data)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.floats(0, 1, exclude_max=True), st.integers(1, 255))
def test_damage_is_noticed(where: float, flip: int) -> None:
    data = trace().seeds[0].to_bytes()
    at = int(where * len(data))
    changed = bytearray(data)
    changed[at] ^= flip
    for wrong in (data[:at], bytes(changed)):
        with refused("trace: "):
            trace_from_bytes(wrong)


def test_summary() -> None:
    summary = trace().summary()
    assert list(summary) == SUMMARY
    final = trace().regret[:, -1]
    low, high = stats.t.interval(0.95, 2, final.mean(), stats.sem(final))
    assert summary["final_regret_mean"] == pytest.approx(final.mean())
    assert summary["final_regret_low"] == pytest.approx(low)
    assert summary["final_regret_high"] == pytest.approx(high)
    assert summary["v_star"] == trace().seeds[0].v_star
    assert (summary["claimed_epsilon"], summary["claimed_delta"]) == (1.0, 0.0)
    assert (summary["proved_epsilon"], summary["proved_delta"]) == (2.0, 0.0)
    assert summary["seconds"] == pytest.approx(sum(s.seconds for s in trace().seeds))
    assert (summary["episodes_per_s"] or 0) > 0
    json.dumps(summary, allow_nan=False)


def test_values_that_do_not_exist_are_null() -> None:
    summary = trace("none", 1).summary()
    assert list(summary) == SUMMARY
    missing = {name for name, value in summary.items() if value is None}
    assert missing == {
        "final_regret_low", "final_regret_high", "claimed_epsilon", "claimed_delta", "proved_epsilon", "proved_delta",
    }  # fmt: skip


def test_run_reports_progress_and_keeps_the_order_of_seeds() -> None:
    shares: list[float] = []
    spec = RunSpec(environment_params={"S": 3, "H": 4}, episodes=10**4, seeds=2)
    result = run(spec, shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert all(0 <= share <= 1 for share in shares)
    assert [seed.seed for seed in result.seeds] == [0, 1]
    assert result.regret.shape == (2, len(result.episodes))
    assert result.guarantee == result.seeds[0].guarantee
    # a seed is a unit of its own: another number of seeds, the same traces
    alone = finished(start(spec.replace(seeds=1), 1))
    np.testing.assert_array_equal(alone.trace().regret, result.seeds[1].regret)
