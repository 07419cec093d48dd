"""Every algorithm with every privacy model, mechanism, environment and bonus runs as promised, or is refused.

All of it comes from the registries: what is added there is tested here.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS, ENVIRONMENTS, MECHANISMS, RunSpec, SeedTrace, SpecError
from dprl.fields import check_params
from dprl.learners import Problem
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp.counts import rewards, transitions, visits
from dprl.mdp.tabular import Array
from dprl.privacy import PRIVATIZERS
from dprl.simulation import start
from dprl.simulation.pairs import calibrations_for, runs_in
from dprl.statistics import CONSISTENT, FITTED
from dprl.testing.algorithms import BONUSES, record
from tests import problems
from tests.problems import finished, first, fits, home, small_params

CALIBRATIONS = ("calibrated", "paper")
RUNS = [
    *product(ALGORITHMS, PRIVATIZERS, [None, *MECHANISMS], [None]),
    *product(ALGORITHMS, PRIVATIZERS, MECHANISMS, CALIBRATIONS),
]
LEARNERS = [key for key, a in ALGORITHMS.items() if a.loop == "replan"]


def goes_together(
    algorithm_key: str, privacy: str, mechanism: str | None, calibration: str | None
) -> set[str]:
    """What the registries say does not: names of fields. Without privacy mechanism and calibration are ignored."""
    if privacy not in ALGORITHMS[algorithm_key].privacies:
        return {"privacy"}
    if privacy == "none" or mechanism is None:
        return set()
    # draws for later releases, which SDP-PE's batches do not have
    keeps = MECHANISMS[mechanism].rows(1, 1) > 0
    unknown = MECHANISMS[mechanism].norm not in ALGORITHMS[algorithm_key].statistic.norms
    unfit = unknown or (ALGORITHMS[algorithm_key].forgets and keeps)
    if mechanism not in PRIVATIZERS[privacy].mechanisms or unfit:
        return {"mechanism"}
    return set() if calibration in (None, *calibrations_for(algorithm_key, mechanism)) else {"calibration"}


def small_spec(
    environment: str,
    algorithm_key: str,
    privacy: str,
    mechanism: str | None = None,
    calibration: str | None = None,
    bonus: str = "",
    **more: Any,
) -> RunSpec:
    """bonus: by default the earliest, which learns from the fewest users."""
    given: dict[str, Any] = {"environment": environment, "algorithm": algorithm_key, "privacy": privacy}
    given |= {"mechanism": mechanism, "calibration": calibration, "seeds": 1}
    given["bonus"] = bonus or ALGORITHMS[algorithm_key].bonuses[-1]
    usual = {"environment_params": small_params(environment), "episodes": 5000, "schedule": "geometric:0.1"}
    return RunSpec.from_dict(given | usual | {"epsilon": 5.0} | more)


# What goes together, each under its own name.
NAMED = [
    (algorithm_key, privacy, mechanism, calibration)
    for algorithm_key, privacy, mechanism, calibration in RUNS
    if not goes_together(algorithm_key, privacy, mechanism, calibration)
    and ((mechanism, calibration) == (None, None) if privacy == "none" else calibration is not None)
]
WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"episodes": 1},
    {"episodes": 70, "schedule": "episodic"},
    {"episodes": 10**14, "schedule": "geometric:0.5"},
    {"episodes": 10**12, "schedule": "adaptive:0.3:150"},
)


@pytest.mark.parametrize("algorithm_key", ALGORITHMS)
def test_what_does_not_go_together_is_refused(algorithm_key: str) -> None:
    """In every environment and with every bonus, in a sentence about one of the fields that do not."""
    learner = ALGORITHMS[algorithm_key]
    for run, environment, bonus in product(RUNS, ENVIRONMENTS, BONUSES):
        if run[0] != algorithm_key or (run[2] and environment != home(algorithm_key)):
            continue  # an environment changes nothing about which noise there is
        refused = set(goes_together(*run))
        if bonus not in learner.bonuses:
            refused.add("bonus")
        if not fits(learner, environment, small_params(environment)):
            refused.add("algorithm" if runs_in(algorithm_key, environment) else "environment")
        if refused:
            with problems.refused("") as error:
                small_spec(environment, *run, bonus)
            assert error.value.field in refused


@pytest.mark.parametrize("algorithm_key", ALGORITHMS)
def test_what_is_left_out_or_ignored_is_one_of_the_named_runs(algorithm_key: str) -> None:
    """But for whose reports a row counts, which a privacy model has a default of only where no mechanism is named."""
    bonus = ALGORITHMS[algorithm_key].bonuses[-1]
    named = [small_spec(home(run[0]), *run, bonus) for run in NAMED if run[0] == algorithm_key]
    for run in RUNS:
        if run[0] == algorithm_key and not goes_together(*run):
            spec = small_spec(home(run[0]), *run, bonus)
            assert spec.reports == "all" or run[2] is None
            assert (spec if spec.reports == "all" else spec.replace(reports="all")) in named


# What a shuffler's bits have to prove takes seconds to find: of those the first here, the others thoroughly.
@pytest.mark.parametrize(
    ("algorithm_key", "privacy", "mechanism", "calibration"),
    first(NAMED, lambda run: run[1] == "shuffle" or run[:2]),
)
def test_every_run_is_as_promised(
    algorithm_key: str, privacy: str, mechanism: str | None, calibration: str | None
) -> None:
    """Short, long, walked and sampled, each with a bonus of its turn: which one a way meets changes from run to run."""
    learner = ALGORITHMS[algorithm_key]
    turn = NAMED.index((algorithm_key, privacy, mechanism, calibration))
    alone = sum(run[0] == algorithm_key for run in NAMED) < len(learner.bonuses)  # too few runs to take turns
    for (i, bonus), (j, more) in product(enumerate(learner.bonuses), enumerate(WAYS)):
        if not alone and (turn + j) % len(learner.bonuses) != i:
            continue
        if learner.schedule and more.get("schedule", "").startswith("adaptive"):
            continue  # it has its own: as before
        if learner.forgets and more.get("episodes", 5000) < 100:
            with pytest.raises(SpecError, match="too few for a stage") as error:
                small_spec(
                    home(algorithm_key), algorithm_key, privacy, mechanism, calibration, bonus, episodes=1
                )
            assert error.value.field == "episodes"
            continue
        if learner.schedule and not learner.forgets:  # as many batches as that has no mechanism room for
            more = more | {"episodes": min(more.get("episodes", 5000), 10**8)}
        check(small_spec(home(algorithm_key), algorithm_key, privacy, mechanism, calibration, bonus, **more))


@pytest.mark.thorough
@pytest.mark.parametrize("environment", [key for key in ENVIRONMENTS if key != "random"])
@pytest.mark.parametrize("algorithm_key", ALGORITHMS)
def test_every_environment_runs_with_everything(algorithm_key: str, environment: str) -> None:
    """Every other noise, with the bonuses in turn: the other half is run in the next environment. A noise sees counts
    and sizes, and a bonus too; nothing else of an environment reaches them."""
    learner = ALGORITHMS[algorithm_key]
    if not fits(learner, environment, small_params(environment)):
        return  # refused, as above
    noises = [run for run in NAMED if run[0] == algorithm_key]
    turn = sorted(ENVIRONMENTS).index(environment)
    for i in range(turn % 2, max(len(noises), len(learner.bonuses), 2), 2):
        bonus = learner.bonuses[(i + turn) % len(learner.bonuses)]
        way = WAYS[3] if learner.forgets or not learner.schedule else {"episodes": 10**8}
        check(small_spec(environment, *noises[i % len(noises)], bonus, **way))


def check(spec: RunSpec) -> None:
    trace: SeedTrace = finished(start(spec, 2)).trace()
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    H, S, A = mdp.H, mdp.S, mdp.A
    K, C, D, P = spec.episodes, len(trace.episodes), len(trace.detail_episodes), len(trace.pac_alpha)
    assert trace.complete
    assert trace.spec == spec
    counted = ALGORITHMS[spec.algorithm].statistic.counted
    told = trace.counts.shape if counted else trace.series["sums"].shape
    stochastic = trace.chances.size > 0
    for name, shape in {
        "episodes": (C,), "regret": (C,), "gap": (C,), "coverage_ratio": (C,), "pac_count": (C, P),
        "counts": (D, H, S, A, S + 2), "noisy": told, "released": told,
        "policy": (D, H, S), "Q": (D, H, S, A), "V": (D, H, S), "occupancy": (D, H, S), "error_bound": (D,),
        "error_used": (D,), "optimism": (D,), "optimal_policy": (H, S), "optimal_Q": (H, S, A), "optimal_V": (H, S),
        "optimal_occupancy": (H, S), "chances": (D, H, S, A) if stochastic else (0,),
    }.items():  # fmt: skip
        array = getattr(trace, name)
        assert array.shape == shape, name
        assert np.isfinite(array).all(), name

    # checkpoints
    staged = ALGORITHMS[spec.algorithm].loop == "eliminate"
    for times in (trace.episodes, trace.detail_episodes):
        assert (np.diff(times) > 0).all()
        if staged and times is trace.detail_episodes:
            assert all(len(values) == D for values in trace.series.values())
            continue  # ends of stages: of none, if K is small
        assert times[0] >= 1
        assert times[-1] == K
    assert C <= 201
    assert D <= 50
    assert bool(trace.series) == (staged or not counted)
    summed = trace.counts if counted else trace.series["sums"]

    # regret
    most = float(trace.optimal_V[0].max())
    blocks = np.diff(trace.episodes, prepend=0).astype(float)
    steps = np.diff(trace.regret, prepend=0.0)
    assert (steps >= -1e-12 * trace.regret[-1]).all()
    assert (steps <= blocks * most * (1 + 1e-9)).all()
    assert ((trace.gap >= 0) & (trace.gap <= most * (1 + 1e-9))).all()
    assert trace.v_star == pytest.approx(mdp.d1 @ trace.optimal_V[0])
    assert (np.diff(trace.pac_count, axis=0) >= 0).all()
    assert (np.diff(trace.pac_count, axis=1) <= 0).all()  # fewer episodes are worse by more
    assert (trace.pac_count <= trace.episodes[:, None]).all()

    # true counts are those of as many whole episodes; in stages, of the users of one batch
    m, n, r = transitions(trace.counts), visits(trace.counts), rewards(trace.counts)
    np.testing.assert_array_equal(m.sum(-1), n)
    users = n[:, 0].sum((1, 2))
    assert (users <= trace.detail_episodes).all() if staged else (users == trace.detail_episodes).all()
    np.testing.assert_array_equal(n.sum((2, 3)), np.repeat(users[:, None], H, 1))
    np.testing.assert_array_equal(m.sum((2, 3))[:, :-1], n.sum(-1)[:, 1:])
    assert ((r >= 0) & (r <= n)).all()

    # what was released
    if spec.privacy == "none":
        assert not trace.coverage_ratio.any()
        assert not trace.error_bound.any()
        np.testing.assert_array_equal(trace.released, summed)
        assert (trace.guarantee.claimed_epsilon, trace.guarantee.proved_epsilon) == (None, None)
    else:
        assert (trace.coverage_ratio >= 0).all()
        # with stages or batches of its own the first users come before the first release
        assert (trace.coverage_ratio > 0).all() or ALGORITHMS[spec.algorithm].schedule
        assert (np.diff(trace.coverage_ratio) >= 0).all()
        assert (trace.error_bound > 0).all()
        # shuffled bits are whole numbers, and may cancel; of one user only one question is answered
        least = {"cells": 0.5, "one-hot": 0.0}.get(MECHANISMS[spec.mechanism or ""].norm, 0.9999)
        # before it has planned once, one that plans rarely holds nothing
        planned = trace.series.get("plans", np.ones(D)) > 0
        assert not planned.any() or (trace.noisy[planned] != summed[planned]).mean() > least
        if spec.privacy == "shuffle" and spec.environment != "custom":
            np.testing.assert_array_equal(rewards(trace.counts), np.round(rewards(trace.counts)))
        assert trace.guarantee.claimed_epsilon == spec.epsilon
        assert trace.guarantee.proved_epsilon is not None
        if spec.calibration == "calibrated":
            assert trace.guarantee.proved_epsilon <= (spec.epsilon or 0.0) * (1 + 1e-9)
        seen = ALGORITHMS[spec.algorithm].seen(spec.bonus)
        if seen == FITTED:
            assert (transitions(trace.released) >= 0).all()
            assert (rewards(trace.released) >= 0).all()
            np.testing.assert_allclose(transitions(trace.released).sum(-1), visits(trace.released), rtol=1e-9)
        elif seen == CONSISTENT:
            E = trace.error_used[:, None, None, None]
            released = visits(trace.released)
            np.testing.assert_allclose(transitions(trace.released).sum(-1), released, rtol=1e-9)
            assert (transitions(trace.released) >= 0).all()
            feasible = visits(trace.noisy) + E / 4 >= 0
            off = np.abs(released - E / 2 - visits(trace.noisy))
            tiny = 1e-9 * (E + K)
            assert (off[feasible] <= (E / 4 + tiny + 0 * released)[feasible]).all()
        else:
            np.testing.assert_array_equal(trace.released, trace.noisy)
    if spec.bonus == "paper" and counted:
        np.testing.assert_array_equal(trace.error_used, trace.error_bound)

    # what was learned
    falls = spec.bonus == "anytime" or spec.algorithm_params.get("cap") == "H-h"
    cap = H - np.arange(H) if falls else np.full(H, H)
    assert (trace.Q >= 0).all()
    assert (trace.Q <= cap[:, None, None]).all()
    if staged:  # one policy, evaluated in the refined model
        chosen = np.take_along_axis(trace.Q, trace.policy[..., None].astype(int), -1)[..., 0]
        np.testing.assert_array_equal(trace.V, chosen)
    elif stochastic:  # values are those of the policy before
        np.testing.assert_allclose(trace.chances.sum(-1), 1.0, rtol=1e-6)
        likeliest = np.take_along_axis(trace.chances, trace.policy[..., None].astype(int), -1)[..., 0]
        np.testing.assert_array_equal(likeliest, trace.chances.max(-1))
        played = trace.chances[:-1] if (np.diff(trace.detail_episodes) == 1).all() else trace.chances[:0]
        at = slice(1, 1 + len(played))
        np.testing.assert_allclose(trace.V[at], (played * trace.Q[at]).sum(-1), rtol=1e-5)
        assert (trace.V >= trace.Q.min(-1) - 1e-12 * H).all()
        assert (trace.V <= trace.Q.max(-1) + 1e-12 * H).all()
    else:
        np.testing.assert_array_equal(trace.V, trace.Q.max(-1))
        np.testing.assert_array_equal(trace.policy, trace.Q.argmax(-1))
    assert trace.policy.dtype == np.int16
    np.testing.assert_allclose(trace.occupancy.sum(-1), 1.0)
    np.testing.assert_allclose(trace.optimal_occupancy.sum(-1), 1.0)
    np.testing.assert_allclose(trace.optimism, (trace.Q >= trace.optimal_Q - 1e-9).mean((1, 2, 3)))
    if spec.bonus in ("paper", "anytime") and not (staged or stochastic):
        # proved to be optimistic w.p. 1 - beta; with these constants it never fails
        assert (trace.optimism == 1.0).all()


@pytest.mark.parametrize("key", ALGORITHMS)
def test_algorithm_record(key: str) -> None:
    learner: Any = ALGORITHMS[key]
    record(learner)


def test_parameters_of_algorithms_take_effect() -> None:
    """Every field of every learner changes its constants under some bonus, and under no other that `when` says."""
    for key, learner in ALGORITHMS.items():
        if not isinstance(learner, TabularLearner):
            continue  # see tests/simulation/test_elimination.py
        for field in learner.fields:
            other = (
                next(c for c in field.choices if c != field.default) if field.choices else field.default * 2
            )
            changed = False
            chosen = [check_params("p", key, learner.fields, given) for given in ({}, {field.name: other})]
            for bonus in learner.bonuses:
                problems_ = [
                    Problem(3, 4, 2, 100, 0.1, 1.0, "calibrated", bonus, params) for params in chosen
                ]
                both: list[Array] = [learner.planner(bonus).constants(one) for one in problems_]
                assert both[0].dtype == np.float64
                assert both[0].ndim == 1
                differ = not np.array_equal(both[0], both[1])
                assert not differ or field.used(bonus), (key, field.name)
                changed |= differ
            assert changed, (key, field.name)
