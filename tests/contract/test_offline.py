"""Every offline learner with every notion of privacy, calibration and environment runs as promised, or is refused; and
it is handed public facts and what was released, and can get at nothing else."""

from __future__ import annotations

import inspect
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from dprl import ENVIRONMENTS, OFFLINE, OfflineSpec, SpecError
from dprl.learners import PUBLIC
from dprl.learners.offline.learner import OfflineLearner, OfflineProblem
from dprl.mdp import planning
from dprl.mdp.tabular import Array
from dprl.privacy.curator import PROMISES, losses_of
from dprl.simulation import OfflineRun, OfflineTrace, datasets, trace_from_bytes
from dprl.simulation.datasets import BEHAVIOURS
from dprl.simulation.loops import offline
from dprl.simulation.loops.offline import learned_from, noise_of_run
from dprl.statistics import REPLACE_ONE
from tests import problems
from tests.contract.seen import reachable
from tests.people import Certain
from tests.problems import finished, first, of_data, small_params

CALIBRATIONS = (None, "paper", "calibrated")


KEYS = [*OFFLINE, *(f"{key}-rewards" for key, learner in OFFLINE.items() if "rewards" in learner.public)]


def learner_of(key: str) -> OfflineLearner:
    """Of a learner where it learns rewards, `KEY-rewards`, too."""
    return OFFLINE[of_data(key)["algorithm"]]


def goes_together(key: str, privacy: str, calibration: str | None) -> set[str]:
    """What the registries say does not: names of fields."""
    learner = learner_of(key)
    if privacy not in learner.privacies:
        return {"privacy"}
    paper = set() if key.endswith("-rewards") else {*learner.paper_noise}
    return {"calibration"} if calibration == "paper" and privacy not in {*paper, "none"} else set()


def environment_of(key: str) -> str:
    """A small one that the learner takes."""
    return "linear-synthetic" if "features" in learner_of(key).public else "random"


COMBINATIONS = list(product(KEYS, PROMISES, CALIBRATIONS))
RUNS = [(k, p, c) for k, p, c in COMBINATIONS if not goes_together(k, p, c) and (c or p == "none")]
RUNS = [run for run in RUNS if run[1] != "none" or run[2] is None]


def small_spec(environment: str, key: str, privacy: str, calibration: str | None, **more: Any) -> OfflineSpec:
    params: dict[str, Any] = {"environment_params": small_params(environment), "n": 3000, "seeds": 1} | more
    return OfflineSpec(
        environment=environment, **of_data(key), privacy=privacy, calibration=calibration, **params
    )


@pytest.mark.parametrize(("key", "privacy", "calibration"), COMBINATIONS)
def test_what_does_not_go_together_is_refused(key: str, privacy: str, calibration: str | None) -> None:
    refused = goes_together(key, privacy, calibration)
    if refused:
        with problems.refused("") as error:
            small_spec(environment_of(key), key, privacy, calibration)
        assert error.value.field in refused
    else:
        named = [small_spec(environment_of(key), *run) for run in RUNS if run[0] == key]
        assert small_spec(environment_of(key), key, privacy, calibration) in named


@pytest.mark.thorough
@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("key", KEYS)
def test_every_environment_runs_with_everything(key: str, environment: str) -> None:
    if "features" in learner_of(key).public and not ENVIRONMENTS[environment].features:
        given = " or ".join(sorted(key for key, world in ENVIRONMENTS.items() if world.features))
        with pytest.raises(
            SpecError, match=f"{environment} has no features, which {key} needs; give {given}"
        ):
            OfflineSpec(environment=environment, environment_params=small_params(environment), **of_data(key))
        return
    S, _, H, _ = small_spec(environment, *next(run for run in RUNS if run[0] == key)).problem_size
    named = [f"policy:{'1' * S}X{H}" if key == "policy" else key for key in BEHAVIOURS]
    for i, (run, behaviour) in enumerate(product([r for r in RUNS if r[0] == key], named)):
        if (i + sorted(ENVIRONMENTS).index(environment)) % 3:
            continue  # in their turns
        check(small_spec(environment, *run, behaviour=behaviour))


@pytest.mark.parametrize(("key", "privacy", "calibration"), first(RUNS, lambda run: run[0]))
def test_every_run_is_as_promised(key: str, privacy: str, calibration: str | None) -> None:
    for n in (1, 7, 10**12):
        check(small_spec(environment_of(key), key, privacy, calibration, n=n))


def check(spec: OfflineSpec) -> None:
    run = finished(OfflineRun(spec, 2))
    trace: OfflineTrace = run.trace()
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    H, S, A = mdp.H, mdp.S, mdp.A
    C, D = len(trace.curve.at), len(trace.detail_n)
    assert trace.complete
    assert trace.spec == spec
    for name, shape in {
        "lower": (C,), "repaired": (C,), "behaviour": (H, S, A), "visits": (D, H, S, A), "Q_hat": (D, H, S, A),
        "penalty": (D, H, S, A), "Q": (D, H, S, A), "V": (D, H, S), "policy": (D, H, S), "optimal_policy": (H, S),
        "optimal_V": (H, S), "optimal_occupancy": (H, S),
    }.items():  # fmt: skip
        array = getattr(trace, name)
        assert array.shape == shape, name
        assert np.isfinite(array).all(), name
    assert {values.shape for values in trace.released.values()} <= {(D, H, S, A)}

    # sizes
    assert (np.diff(trace.curve.at) > 0).all()
    assert trace.curve.at[-1] == trace.detail_n[-1] == spec.n
    assert (trace.visits.sum((2, 3)) == trace.detail_n[:, None]).all()
    parts = datasets.parts(spec.behaviour, mdp)
    np.testing.assert_allclose(trace.behaviour, datasets.occupancy(mdp, parts))
    assert not trace.visits[:, trace.behaviour == 0].any()

    # values: the gap is that of the policy that is kept, and V, Q, policy and penalty are of one plan
    for i, n in enumerate(trace.detail_n):
        value = planning.start_value(mdp, planning.policy_values(mdp, trace.policy[i].astype(np.int64)))
        at = trace.curve.at == n
        assert trace.curve.values[at] == pytest.approx(max(trace.v_star - value, 0.0), abs=1e-12)
        assert trace.lower[at] == pytest.approx(mdp.d1 @ trace.V[i, 0])
    ceiling = (H - np.arange(H))[:, None, None]
    np.testing.assert_allclose(trace.Q, np.clip(trace.Q_hat - trace.penalty, 0, ceiling), atol=1e-12)
    np.testing.assert_array_equal(trace.V, trace.Q.max(-1))
    np.testing.assert_array_equal(trace.policy, trace.Q.argmax(-1))

    # what is promised
    card, promise = trace.guarantee, PROMISES[spec.privacy]
    if not promise.fields:
        assert trace.errors == {}
        assert not trace.repaired.any()
        assert (card.claimed_epsilon, card.claimed_rho, card.proved_epsilon) == (None, None, None)
        for name, values in trace.released.items():
            if name == "visits":
                np.testing.assert_array_equal(values, trace.visits)
    else:
        families = OFFLINE[spec.algorithm].families(run.problem(spec.n), str(spec.calibration))
        assert set(trace.errors) <= {family.name for family in families}
        assert all(error > 0 for error in trace.errors.values())
        known = [name for name in spec.learner.public if name != "rewards" or spec.rewards == "known"]
        assert card.public == tuple(PUBLIC[name] for name in known)
        assert (card.claimed_rho, card.claimed_epsilon) == (spec.rho, spec.epsilon)
        assert card.proved_epsilon is not None
        assert card.proved_rho is not None
        if spec.calibration == "calibrated":
            for proved, claimed in ((card.proved_rho, spec.rho), (card.proved_epsilon, spec.epsilon)):
                assert claimed is None or proved <= claimed * (1 + 1e-9)

    # read back
    again = trace_from_bytes(trace.to_bytes())
    for name in ("Q", "visits", "behaviour", "policy"):
        np.testing.assert_array_equal(getattr(again, name), getattr(trace, name))
    assert again.guarantee == card
    assert (again.covered, again.errors) == (trace.covered, trace.errors)


PRIVATE = [key for key in KEYS if learner_of(key).privacies[0] != "none"]


@pytest.mark.parametrize("key", PRIVATE)
def test_nothing_a_learner_holds_is_the_model_or_the_data(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its arguments and locals nor the queries it makes, at any step."""
    run = OfflineRun(small_spec(environment_of(key), key, learner_of(key).privacies[0], None, n=20), 0)
    own, mdp, played, queries = offline.learned_from, run.mdp, [], []

    def watched(curator: Any, plan: Any) -> Any:
        hidden, release = [mdp.P, mdp.R, mdp.d1, *curator._records], curator.release
        played.append(plan)

        def looked(query: Any) -> Array:
            # whose sensitivity is declared and tested
            assert type(query).__module__.startswith("dprl.statistics.")
            queries.append(query)  # what has been answered is looked at, too
            frame = inspect.getgeneratorlocals(plan)
            held = [value for local in (*frame.values(), queries) for value in reachable(local)]
            assert not any(value is one for value in held for one in (run, mdp, curator))
            arrays = [value for value in held if isinstance(value, np.ndarray)]
            assert not any(np.shares_memory(value, array) for value in arrays for array in hidden)
            return np.asarray(release(query))

        curator.release = looked
        return own(curator, plan)

    monkeypatch.setattr(offline, "learned_from", watched)
    assert run.advance(60.0)
    assert len(played) == len(run.sizes)


@pytest.mark.parametrize("key", KEYS)
def test_plans_have_no_other_way_to_data(key: str) -> None:
    """One argument, of public facts; nothing is closed over; globals are modules, functions, classes and constants."""
    learner = learner_of(key)
    assert list(inspect.signature(learner.plan).parameters) == ["problem"]
    facts = ["size", "n", "beta", "params", "rewards", "features", "errors", "episodes", "hands_over"]
    assert set(OfflineProblem.__dataclass_fields__) == set(facts)
    assert "sizes" in learner.public
    assert set(learner.public) <= PUBLIC.keys()
    problem = OfflineRun(small_spec(environment_of(key), key, learner.privacies[0], None), 0).problem(10)
    for fact in ("rewards", "features"):
        learned = fact == "rewards" and key.endswith("-rewards")
        assert (getattr(problem, fact) is not None) == (fact in learner.public and not learned)
    found = inspect.getclosurevars(learner.plan)
    assert not found.nonlocals
    for name, value in found.globals.items():
        fixed = inspect.ismodule(value) or callable(value) or isinstance(value, int | float | str)
        assert fixed or name in ("DATASET", "REWARDS", "TRANSITIONS"), name


@pytest.mark.parametrize("key", PRIVATE)
def test_what_is_learned_is_a_function_of_what_was_released(key: str) -> None:
    """Two data sets of different people in environments that differ, and releases that are the same."""
    learner = learner_of(key)
    found = []
    for seed in (0, 1):
        spec = small_spec(environment_of(key), key, learner.privacies[0], None, n=10**6)
        run = OfflineRun(spec.replace(environment_params={**spec.environment_params, "seed": seed}), seed)
        records, _ = run.dataset(10**6)
        known = np.random.default_rng(0).integers(0, 10**5, records[0].shape).astype(float)
        curator = Certain(known, known)  # of a data set that everybody knows
        problem = run.problem(10**6)
        if problem.rewards is not None:
            problem = replace(problem, rewards=np.full(run.mdp.R.shape, 0.25))
        found.append((records[0], learned_from(curator, learner.plan(problem))[0]))
    (first, one), (second, other) = found
    assert not np.array_equal(first, second)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("key", "privacy", "calibration"), [run for run in RUNS if run[1] != "none"])
def test_the_curator_answers_no_more_than_is_accounted_for(
    key: str, privacy: str, calibration: str | None
) -> None:
    """As many queries of each family, on each half, as it declares; the losses are those of all of them together."""
    spec = small_spec(environment_of(key), key, privacy, calibration, n=50)
    learner, run = learner_of(key), OfflineRun(spec, 0)
    families = learner.families(run.problem(50), str(spec.calibration))
    curator = Certain(*run.dataset(50)[0])
    learned_from(curator, learner.plan(run.problem(50)))
    asked = [(query.family, query.half) for query in curator.asked]
    assert {(f.name, f.half): f.times for f in families} == {name: asked.count(name) for name in asked}
    noise, _ = noise_of_run(spec)
    assert noise.mechanism is not None
    assert noise.losses == losses_of(noise.mechanism, families, noise.scales, REPLACE_ONE)
