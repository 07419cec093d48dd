"""A start that nobody declares is estimated from the release, and the bound holds in spite of it."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import dprl
from dprl import SpecError
from dprl.mdp import Size, counts
from dprl.simulation.uploads.noise import START_SHARE, bound_from_start
from tests.problems import few

PUBLIC: dict[str, Any] = {
    "states": ["a", "b", "c", "d"], "actions": ["x"], "horizon": 1, "rewards": [[0], [0], [0], [1]],
}  # fmt: skip


def test_the_bound_holds_for_values_that_depend_on_people_and_noise() -> None:
    """At beta = 1 each event may fail in 5% of cases: W is the worst that an adversary could pick from the release."""
    size, n, beta, scale, rng = Size(4, 2, 1), 500, 1.0, 12.0, np.random.default_rng(0)
    S, A, H, _ = size
    failed, runs = 0, few(4000)
    for _ in range(runs):
        start = rng.dirichlet(np.ones(S))
        first = rng.multinomial(n, start)
        noise = scale * rng.standard_normal((S, A, S))
        record = np.zeros((H, S, A, S + 2))
        counts.visits(record)[0] = noise.sum(-1)
        counts.visits(record)[0, :, 0] += first
        seen = counts.visits(record)[0].sum(-1)
        V = (seen > n * start).astype(float)  # high where the release shows too many
        failed += bound_from_start(V, record, size, n, beta, scale) > start @ V
    assert failed <= START_SHARE * beta * runs  # a union bound: in fact there are far fewer


def test_a_missing_start_is_not_taken_to_be_all_alike() -> None:
    """Almost nobody begins where the reward is: before, the bound said 0.25 for everybody."""
    rows = "".join(
        f"{i},0,{'d' if i % 100 == 0 else 'abc'[i % 3]},x,{int(i % 100 == 0)}\n" for i in range(4000)
    )
    text = "episode,step,state,action,reward\n" + rows
    spec = dprl.upload(io.StringIO(text), PUBLIC, rho=1.0, held_out=0.0)
    (seed,) = dprl.run(spec).seeds
    assert 0 <= seed.curve.values[0] <= 0.01
    assert seed.portable.about["bound"]["from"].startswith("the start distribution that the released counts")
    declared = dprl.upload(io.StringIO(text), PUBLIC | {"start": "d"}, rho=1.0, held_out=0.0)
    (seed,) = dprl.run(declared).seeds
    assert seed.curve.values[0] == pytest.approx(1.0, abs=0.2)  # which is what was declared


def test_where_it_cannot_be_estimated_it_is_needed() -> None:
    with pytest.raises(SpecError, match=r"declared.start: this is missing, and cannot be estimated"):
        dprl.upload(io.StringIO(""), PUBLIC | {"columns": {"person": "who"}, "episodes": 2})
