"""What is expected of a data set, and what would be learned from exactly that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl import OfflineSpec, metrics
from dprl.environments import ENVIRONMENTS
from dprl.simulation import answer, answered, datasets, run
from dprl.simulation.expected import SIZES, expectation, outlook
from tests.problems import first

SMALL: dict[str, Any] = {"environment": "riverswim", "environment_params": {"S": 4, "H": 6}}


def test_large_data_sets_are_as_expected() -> None:
    spec, n = OfflineSpec(**SMALL), 10**12
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    behaviour = datasets.parts("epsilon-optimal:0.3", mdp)
    drawn = datasets.sample(np.random.default_rng(0), mdp, behaviour, n)
    wanted = expectation(mdp, behaviour, n)
    assert np.abs(drawn - wanted).max() < 6 * np.sqrt(n)  # six standard deviations of any binomial, and more
    assert wanted[0, :, :, mdp.S].sum() == pytest.approx(n)


@pytest.mark.parametrize(
    "budget",
    first(
        [
            {"rho": 1.0},
            {"rho": 0.01},
            {"privacy": "pure"},
            {"algorithm": "dp-apvi"},
            {"algorithm": "dp-apvi", "calibration": "calibrated"},
        ],
        lambda budget: budget.get("algorithm"),
    ),
)
def test_it_tells_from_how_many_trajectories_a_run_is_good(budget: dict[str, Any]) -> None:
    """Within the steps of either grid, 10^0.5 and 2.5, of where the mean over data sets comes within 1% of v*."""
    spec = OfflineSpec(**SMALL, n=10**10, seeds=5, **budget)
    said = outlook(spec)
    assert said is not None
    found = metrics.enough(np.array(said["n"]), np.array(said["gap"]), 0.01 * said["v_star"])
    trace = run(spec)
    measured = metrics.enough(trace.at, trace.values.mean(0), 0.01 * trace.seeds[0].v_star)
    assert 1 / 3.2 <= found / measured <= 3.2
    assert said["v_star"] == trace.seeds[0].v_star


def test_what_noise_adds_to_the_penalties_falls_like_one_over_n_and_grows_with_it() -> None:
    said = [
        outlook(OfflineSpec(**SMALL, **{"algorithm": "dp-apvi"} | budget))
        for budget in ({"algorithm": "apvi"}, {"rho": 1.0}, {"rho": 0.01})
    ]
    assert all(one and one["n"] == list(SIZES) for one in said)
    free, *private = (np.array(one["charged"])[-3:] for one in said if one)
    added = [ends - free for ends in private]
    assert added[0][2] / added[0][0] == pytest.approx(0.1, rel=0.02)
    assert added[1] / added[0] == pytest.approx([10.0] * 3, rel=0.02)  # E grows like 1/sqrt rho


def test_of_learners_that_see_no_visits_nothing_is_said() -> None:
    spec = OfflineSpec(environment="linear-synthetic", algorithm="dp-vapvi")
    assert answered(answer("outlook", spec)) is None
    assert answered(answer("outlook", OfflineSpec(**SMALL))) == outlook(OfflineSpec(**SMALL))
