"""The loop: exactness of regret, block-exact against user by user, and the same bits however it is run."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS, ENVIRONMENTS, RunSpec, SeedTrace
from dprl.mdp import planning
from dprl.mdp.counts import visits
from dprl.simulation import Run, start
from dprl.simulation.loops.replan import SeedRun
from dprl.simulation.pairs import calibrations_for, mechanisms_for
from dprl.simulation.prepare import streams
from tests import problems
from tests.problems import PAIRS, first, small_params

RUNS = [(a, p, m) for a, p in PAIRS for m in mechanisms_for(a, p) or (None,)]
WALK_ALL, WALK_NONE = 2**62, 0


def spec_of(algorithm: str, privacy: str, **changes: Any) -> RunSpec:
    given: dict[str, Any] = {
        "environment": "random",
        "environment_params": {"S": 3, "A": 2, "H": 3, "seed": 4},
        "algorithm": algorithm,
        "privacy": privacy,
        "epsilon": 20.0,
        "episodes": 400,
        "schedule": "geometric:0.3",
        "seeds": 1,
    }
    return RunSpec(**(given | changes))


def finished(run: Run) -> Any:
    return problems.finished(run).trace()


def as_bytes(trace: SeedTrace) -> dict[str, object]:
    """Everything but how long it took."""
    names = {f.name for f in dataclasses.fields(trace)} - {"seconds", "rate", "curve"}
    values = {name: getattr(trace, name) for name in sorted(names | {"episodes", "regret"})}
    for name in ("series", "beliefs"):
        values |= {f"{name} {key}": array for key, array in values.pop(name).items()}
    return {name: (x.dtype, x.tobytes()) if isinstance(x, np.ndarray) else x for name, x in values.items()}


def same_bits(a: SeedTrace, b: SeedTrace) -> None:
    ours, theirs = as_bytes(a), as_bytes(b)
    assert [name for name in ours if ours[name] != theirs[name]] == []
    assert ours.keys() == theirs.keys()


# --- what is recorded is what happened


@pytest.mark.usefixtures("nothing_proved")
@pytest.mark.parametrize(("algorithm", "privacy"), PAIRS)
def test_regret_is_that_of_the_policies_played(algorithm: str, privacy: str) -> None:
    """20 episodes, details at each: gap, regret and PAC counts once more from policies and start states."""
    spec = spec_of(algorithm, privacy, episodes=20, schedule="episodic")
    run = SeedRun(spec, 3)
    first = run.state.policy.copy()
    trace = finished(run)
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    best = planning.optimum(mdp).V[0]
    assert trace.v_star == pytest.approx(mdp.d1 @ best)
    np.testing.assert_array_equal(trace.detail_episodes, np.arange(1, 21))
    np.testing.assert_array_equal(trace.episodes, np.arange(1, 21))
    learned, exact = trace.policy.astype(np.int64), 1e-12
    if first.ndim == 3:  # chances, of which a trace keeps seven digits
        first, learned, exact = np.exp(first), trace.chances.astype(float), 1e-6
    played = [first, *learned[:-1]]
    starts = np.diff(visits(trace.counts)[:, 0].sum(-1), axis=0, prepend=np.zeros((1, mdp.S)))
    assert (starts.sum(1) == 1).all()
    lost = np.array([best - planning.policy_values(mdp, policy)[0] for policy in played])
    regret_by_episode = (starts * lost).sum(1)
    np.testing.assert_allclose(trace.gap, lost @ mdp.d1, rtol=0, atol=exact)
    np.testing.assert_allclose(trace.regret, regret_by_episode.cumsum(), rtol=0, atol=20 * exact)
    for j, alpha in enumerate(trace.pac_alpha):
        np.testing.assert_array_equal(trace.pac_count[:, j], (regret_by_episode > alpha).cumsum())
    for policy, occupied in zip(learned, trace.occupancy, strict=True):
        np.testing.assert_allclose(occupied, planning.occupancy(mdp, policy), atol=exact)


def test_an_optimal_policy_has_no_regret_at_all() -> None:
    """Exactly zero, so that a learner that has converged stays flat on a logarithmic axis."""
    trace = finished(start(RunSpec(privacy="none", episodes=10**12, seeds=1), 0))
    assert trace.gap[-1] == 0.0
    assert trace.regret[-1] == trace.regret[-2]


def test_the_largest_noise_relative_to_the_bound_is_recorded() -> None:
    """Every release has its details here, so that the running maximum can be taken once more."""
    trace = finished(start(spec_of("dp-ucbvi", "local", episodes=20, schedule="episodic"), 2))
    noise = np.abs(trace.noisy - trace.counts)
    ratio = (
        np.maximum(4 * noise[..., :-1].max((1, 2, 3, 4)), noise[..., -1].max((1, 2, 3))) / trace.error_bound
    )
    np.testing.assert_allclose(trace.coverage_ratio, np.maximum.accumulate(ratio), rtol=1e-9)


# --- the same bits


@pytest.mark.usefixtures("noise_once", "nothing_proved")  # neither is told how the loop is played
@pytest.mark.parametrize(
    ("algorithm", "privacy", "mechanism", "environment"),
    first(
        [(*run, "random") for run in RUNS]
        + [("dp-ucbvi", "central", "gaussian-tree", e) for e in ENVIRONMENTS],
        lambda run: run[0] if run[3] == "random" else "",
    ),
)
def test_compiled_and_plain_python_give_the_same_bits(
    algorithm: str, privacy: str, mechanism: str | None, environment: str
) -> None:
    """Users walked, and sampled in blocks so large that every branch of every sampler is used, each with another bonus:
    a bonus reads what was released, however it was drawn."""
    # as in the paper, if there is such
    calibration = calibrations_for(algorithm, mechanism)[-1] if mechanism else None
    ways = (30, "episodic", WALK_ALL), (100, "geometric:0.4", WALK_ALL), (10**13, "geometric:0.5", WALK_NONE)
    bonuses = ALGORITHMS[algorithm].bonuses
    assert len(bonuses) <= len(ways)
    for i, (episodes, schedule, walk_below) in enumerate(ways):
        if environment == "gymnasium" and schedule != "geometric:0.4":
            continue  # its 4,000 counters take long in plain Python
        spec = spec_of(
            algorithm, privacy, mechanism=mechanism, calibration=calibration, bonus=bonuses[min(i, len(bonuses) - 1)],
            episodes=episodes, schedule=schedule, environment=environment,
            environment_params=small_params(environment),
        )  # fmt: skip
        fast, plain = (SeedRun(spec, 5, plain=p, walk_below=walk_below) for p in (False, True))
        same_bits(finished(fast), finished(plain))
        # and all streams were used up to the same point
        for ours, theirs in ((fast._users_rng, plain._users_rng), (fast._noise_rng, plain._noise_rng)):
            assert ours.random() == theirs.random()


def test_seeds_root_seeds_and_streams_differ() -> None:
    spec = spec_of("dp-ucbvi", "central", calibration="paper", mechanism="laplace-tree", episodes=10**4)
    first, other_seed, other_root = (
        finished(start(s, i)) for s, i in ((spec, 0), (spec, 1), (spec.replace(root_seed=1), 0))
    )
    assert not np.array_equal(first.counts, other_seed.counts)
    assert not np.array_equal(first.counts, other_root.counts)
    assert not np.array_equal(first.noisy - first.counts, other_seed.noisy - other_seed.counts)
    # noise drawn from the users' stream would follow from what they did
    drawn = {rng.random() for s in (spec, spec.replace(root_seed=1)) for i in (0, 1) for rng in streams(s, i)}
    assert len(drawn) == 8
    users, noise = streams(spec, 0)  # nor is it one generator under two names
    noise.random()
    assert users.random() == streams(spec, 0)[0].random()
    # and it does not depend on the users: another epsilon scales the same noise
    twice = finished(start(spec.replace(epsilon=spec.epsilon * 2 if spec.epsilon else None), 0))
    np.testing.assert_allclose(
        first.noisy[0] - first.counts[0], 2 * (twice.noisy[0] - twice.counts[0]), rtol=1e-9, atol=1e-9
    )
