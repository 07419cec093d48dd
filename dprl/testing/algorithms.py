"""Checks of an online tabular algorithm: its registry record, and the plans that it computes from released counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from dprl.fields import SpecError, shown
from dprl.learners import ALGORITHMS, Learner
from dprl.learners.tabular import planner
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp.tabular import Array
from dprl.privacy import PRIVATIZERS
from dprl.simulation import FIELDS, SeedRun
from dprl.simulation.spec import RunSpec
from dprl.testing.report import offered, require, run_checks, texts

BONUSES = ("anytime", "paper", "practical", planner.OWN)
GIVEN = ("released", "errors", "possible", "constants")  # arrays that a plan reads


def check_algorithm(algorithm: Learner) -> tuple[str, ...]:
    """Check an online tabular algorithm, registered or not, in plain Python, and return the names of the checks.

    - record: it has a key and texts, and its privacy models and bonuses are known.
    - function of what was released: the same releases lead to the same plans, even for other users. Q, V and policy
      are finite and within their ranges, and `plan` changes no other array.

    Raises CheckFailed at the first check that fails, and SpecError if this is not a tabular algorithm.

    Example:
        >>> dprl.testing.check_algorithm(dprl.ALGORITHMS["dp-ucbvi"])
        ('record', 'function of what was released')
    """
    if not isinstance(algorithm, TabularLearner):
        wanted = "a TabularLearner, the record of an online tabular algorithm"
        raise SpecError("algorithm", f"{shown(algorithm)} is not allowed; give {wanted}.")
    with offered(ALGORITHMS, algorithm, FIELDS, "algorithm"):
        return run_checks(algorithm, [record, function_of_what_was_released])


def record(algorithm: TabularLearner) -> None:
    texts(algorithm)
    unknown = set(algorithm.privacies) - PRIVATIZERS.keys()
    require(not unknown, f"privacies: {', '.join(unknown)} is not one of {', '.join(PRIVATIZERS)}")
    require("none" in algorithm.privacies, "privacies: add 'none', the baseline of the privacy cost")
    known = algorithm.bonuses and set(algorithm.bonuses) <= set(BONUSES)
    require(known, f"bonuses: give some of {', '.join(BONUSES)}")
    for field in algorithm.fields:
        require(field.check(field.default) == field.default, f"fields: {field.name} has no allowed default")


def function_of_what_was_released(algorithm: TabularLearner) -> None:
    for bonus in algorithm.bonuses:
        first, counts = plans_of(algorithm, bonus, 0, 0)
        for seed, world in ((0, 0), (1, 0), (2, 7)):
            other, others = plans_of(algorithm, bonus, seed, world)
            require((seed, world) == (0, 0) or not np.array_equal(counts, others), "users are alike")
            same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, other, strict=True))
            require(same, f"with bonus {bonus}, the same releases gave two different plans")


def plans_of(algorithm: TabularLearner, bonus: str, seed: int, world: int) -> tuple[list[Array], Array]:
    """Return Q, V and the policy after each of several fixed releases, and the true counts at the end."""
    small: Any = {"environment": "random", "environment_params": {"S": 3, "A": 2, "H": 3, "seed": world}}
    small |= {"episodes": 300, "schedule": "geometric:0.3", "seeds": 1}
    spec = RunSpec(algorithm=algorithm.key, privacy=algorithm.privacies[0], bonus=bonus, **small)
    run, rng = SeedRun(spec, seed, plain=True), np.random.default_rng(0)
    run.state = run.state._replace(released=np.zeros_like(run.state.counts))  # separate from the counts
    found: list[Array] = []
    own = algorithm.planner(bonus).plan

    def publish(noisy: Array, errors: Array, tau2: Array, released: Array) -> None:
        released[...] = rng.integers(1, 100, size=released.shape) * 10.0 ** rng.integers(0, 6)
        released[..., -2] = released[..., :-2].sum(-1)
        released[..., -1] = np.floor(released[..., -2] * rng.random(released.shape[:-1]))

    def plan(*given: Any) -> None:
        before = [array.copy() for array in given[: len(GIVEN)]]
        own(*given)
        for name, now, was in zip(GIVEN, given, before, strict=False):
            require(np.array_equal(now, was), f"plan writes into {name}")
        check_plan(algorithm, *given[-3:])
        found.extend(learned.copy() for learned in given[-3:])

    run._kernels = run._kernels._replace(publish=publish, plan=plan)
    while not run.advance(1e9):
        pass
    require(len(found) == 3 * run.state.position[0] > 15, "it was not asked for a plan at each release")
    return found, run.state.counts


def check_plan(algorithm: TabularLearner, Q: Array, V: Array, policy: Array) -> None:
    """Check that a plan is finite, within its ranges, and greedy unless it is stochastic."""
    require(np.isfinite(Q).all() and np.isfinite(V).all(), "a value is missing or infinite")
    require((V[-1] == 0).all(), "V after the last step is not 0")
    if algorithm.stochastic:
        require(np.allclose(np.exp(policy).sum(-1), 1.0), "chances of actions do not sum to 1")
        return
    require(Q.min() >= 0 and Q.max() <= len(Q), "a value of Q is below 0 or above H")
    require(np.array_equal(V[:-1], Q.max(-1)), "V is not the largest Q of each state")
    require(
        np.array_equal(policy, Q.argmax(-1)),
        "the policy does not take the lowest action among those with the largest Q",
    )
