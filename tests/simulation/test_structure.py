"""Runs whose visitor declares which transitions are possible at all: what is released, what is refused, what holds."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dprl import RunSpec, SpecError
from dprl.environments import ENVIRONMENTS
from dprl.environments.custom import written
from dprl.mdp import Size, planning
from dprl.mdp.structure import every_state, on_table, table_of
from dprl.privacy.accounting import separation_of
from dprl.simulation.blocks import model_of, sample, walk
from dprl.simulation.loops.module_run import ModuleRun
from dprl.simulation.prepare import noise_of_schedule, world_of
from dprl.simulation.structure import restricted
from dprl.simulation.trajectory import Trajectory
from dprl.statistics import REPLACE_ONE
from tests.problems import home, model, random_mdp
from tests.simulation.test_trace import finished, same_bits

CHAIN: dict[str, Any] = {"environment": "chain", "environment_params": {"S": 4, "A": 2, "H": 3}, "seeds": 1}
TAXI: dict[str, Any] = {"environment": "gymnasium", "environment_params": {"id": "Taxi-v3", "H": 20}}


@pytest.mark.parametrize("bonus", ["anytime", "paper"])
@pytest.mark.parametrize("privacy", ["none", "central", "local", "shuffle"])
@pytest.mark.parametrize("learner", ["dp-ucbvi", "private-ucb-vi"])
def test_to_declare_that_all_is_possible_changes_no_bit(learner: str, privacy: str, bonus: str) -> None:
    chain = json.loads(written(ENVIRONMENTS["chain"].make(**CHAIN["environment_params"])))
    told = chain | {"possible": [[list(range(4))] * 2] * 4}
    spec = RunSpec(environment=told, environment_params={"H": 3}, seeds=1, algorithm=learner,
                   privacy=privacy, bonus=bonus, episodes=3000)  # fmt: skip
    usual, told = (finished(ModuleRun(s, 0)) for s in (spec, spec.replace(structure="environment")))
    same_bits(usual, replace(told, spec=spec, guarantee=usual.guarantee))


@pytest.mark.parametrize("block", [7, 10**6])
def test_users_and_values_are_those_of_the_whole_model(block: int) -> None:
    """The same draws land in the same counters, and planning is the same, on a model with rows of all lengths."""
    whole = random_mdp(3, 5, 2, 4, sparse=True)
    table = table_of(whole.P > 0)
    small = restricted(whole, table)
    assert (table < 0).any()
    best = planning.optimum(whole)
    np.testing.assert_allclose(planning.optimum(small).Q, best.Q, atol=1e-13)
    for found in (planning.policy_values, planning.occupancy):
        np.testing.assert_array_equal(found(small, best.policy), found(whole, best.policy))
    both = []
    for mdp in (whole, small):
        counts, one = np.zeros((4, 5, 2, mdp.P.shape[3] + 2)), np.zeros((3, 5), dtype=np.int64)
        rng, draw = np.random.default_rng(0), walk if block < 16 else sample
        scratch = () if block < 16 else (one[1], one[2])
        draw(rng, model_of(mdp), best.policy, block, counts, one[0], *scratch)
        value = np.zeros((5, 5))
        planning.evaluate(mdp.P, mdp.possible, mdp.R, best.policy, value)
        both.append((counts, value))
    (counts, value), (fewer, again) = both
    np.testing.assert_array_equal(again, value)
    np.testing.assert_array_equal(fewer[..., -2:], counts[..., -2:])
    back, missing = on_table(fewer[..., :-2], small.possible, every_state(5))
    assert missing is None
    np.testing.assert_array_equal(back, counts[..., :-2])


@pytest.mark.parametrize("privacy", ["central", "local", "shuffle"])
def test_nothing_else_is_released_and_bounds_are_united_over_what_is(privacy: str) -> None:
    """chain(S=4): action 0 goes on or slips back to 0, action 1 goes back: 7 and 5 of 16 transitions a step."""
    spec = RunSpec(**CHAIN, privacy=privacy, episodes=20_000, structure="environment")
    possible = world_of(spec).P > 0
    one = ModuleRun(spec, 0)
    trace = finished(one)
    told = np.isfinite(trace.noisy[-1][..., :-2])
    np.testing.assert_array_equal(told, possible)
    assert not trace.released[-1][..., :-2][~possible].any()
    noisy = np.ones(possible.shape[:3], dtype=bool) if spec.reports == "all" else one.state.kept > 0
    assert noisy.sum() > noisy.size / 2
    np.testing.assert_array_equal(
        (trace.noisy[-1] != trace.counts[-1])[..., :-2] & possible, possible & noisy[..., None]
    )
    assert spec.work(spec.mechanism).cells == possible.sum() + 2 * possible[..., 0].size
    noise, dense = (noise_of_schedule(s, s.episodes) for s in (spec, spec.replace(structure=None)))
    # as much noise proves as much: one user moves as many counters
    assert [*map(separation_of, noise.losses())] == [*map(separation_of, dense.losses())]
    np.testing.assert_array_equal(noise.scales[-2:], dense.scales[-2:])
    # bounds are those of fewer counters, and of shorter rows
    assert (noise.bound < dense.bound).all()
    assert (noise.radius() < dense.radius()).all()


@pytest.mark.parametrize("privacy", ["none", "central"])
@pytest.mark.parametrize("learner", ["dp-ucbvi", "private-ucb-vi"])
def test_values_stay_optimistic(learner: str, privacy: str) -> None:
    sparse = random_mdp(5, 4, 2, 3, sparse=True)
    text = {"P": sparse.P.tolist(), "R": sparse.R.tolist(), "d1": sparse.d1.tolist()}
    for seed in range(10):
        spec = RunSpec(
            environment="custom", environment_params={"model": json.dumps(text), "H": 3}, algorithm=learner,
            privacy=privacy, episodes=10**6, structure="environment", root_seed=seed, seeds=1,
        )  # fmt: skip
        assert finished(ModuleRun(spec, 0)).optimism.min() == 1.0


def test_a_step_that_is_not_declared_is_left_out_and_the_sensitivity_stays() -> None:
    """Whatever two users do, possible or not: what is counted of them differs by at most what is accounted for."""
    rng, size = np.random.default_rng(1), Size(3, 2, 4)
    spec = RunSpec(environment="random", environment_params={"S": 3, "A": 2, "H": 4}, structure="environment")
    table = table_of(rng.random((4, 3, 2, 3)) < 0.5)

    def counted() -> np.ndarray:
        steps = " ".join("/".join(map(str, rng.integers((3, 2, 2)))) for _ in range(4))
        return Trajectory.parse("first", steps, size).counts(size, table)

    change = spec.statistic.sensitivity(size, REPLACE_ONE)
    for _ in range(300):
        moved = counted() - counted()
        assert np.abs(moved).sum() <= change.l1
        assert (moved**2).sum() <= change.l2_squared


def test_a_transition_outside_the_declaration_is_refused_by_name() -> None:
    """The model's own file says what its owner declares."""
    declared = [[[0, 1], [0, 1]], [[1], [0, 1]]]

    def spec() -> RunSpec:
        text = json.dumps(json.loads(model()) | {"possible": declared})
        return RunSpec(environment="custom", environment_params={"model": text}, structure="environment")

    with pytest.raises(SpecError) as error:
        spec()
    assert str(error.value) == (
        "structure: the model goes from state 1 (s1) by action 0 (a0) to state 0 (s0) at step 0, which is not declared "
        "to be possible; declare it, too."
    )
    declared[1][0] = [0, 1]
    assert spec().declared is not None
    declared[1][0] = [0, 2]
    with pytest.raises(SpecError, match=r"^environment_params.model.possible: "):
        spec()


def test_learners_without_such_a_form_refuse() -> None:
    said = r"^structure: \S+ cannot use .* give none, or algorithm dp-ucbvi"
    for key in ("sdp-pe-relaxed", "apeve", "ucrl-vtr", "lsvi-ucb"):
        with pytest.raises(SpecError, match=said):
            RunSpec(algorithm=key, environment=home(key), structure="environment")


def test_taxi_runs_with_central_privacy() -> None:
    """H = 20: 501 states, of which each action leads to one."""
    with pytest.raises(SpecError, match="counters"):
        RunSpec(**TAXI)
    spec = RunSpec(**TAXI, structure="environment", episodes=3000, schedule="geometric:0.5", seeds=1)
    assert spec.work(spec.mechanism).cells == 20 * 501 * 6 * 3
    trace = finished(ModuleRun(spec, 0))
    assert trace.guarantee.proved_epsilon == pytest.approx(1.0, rel=1e-3)
    assert trace.counts.shape[1:] == (20, 501, 6, 3)
    np.testing.assert_array_equal(trace.counts[-1, ..., 0], trace.counts[-1, ..., 1])  # one next state: m = n
    assert trace.counts[-1, ..., 1].sum(axis=(1, 2)).tolist() == [3000.0] * 20
    assert 0 < trace.coverage_ratio[-1] <= 1
    assert trace.optimism.min() == 1.0
