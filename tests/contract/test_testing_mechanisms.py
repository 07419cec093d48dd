"""`dprl.testing`: each planted fault is caught, by the check that is for it, and what is sound passes.

Of mechanisms that is seen in tests/privacy/test_mechanisms.py.
"""

from __future__ import annotations

import itertools
import random
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import dprl
from dprl import ALGORITHMS, MECHANISMS, TabularMDP
from dprl.environments import riverswim
from dprl.environments.environment import Environment
from dprl.learners.tabular import ucbvi_hoeffding
from dprl.learners.tabular.planner import TabularLearner
from dprl.privacy.losses import Gaussian
from dprl.testing import CheckFailed, check_algorithm, check_environment, check_mechanism
from tests.problems import first

# ---- learners

BASE = replace(
    ucbvi_hoeffding.ALGORITHM, key="planted", privacies=("central", "none"), bonuses=("paper",), anytime=None
)


def leaving(number: Callable[[], Any]) -> Callable[..., None]:
    """A plan in which a number leaves a trace."""

    def plan(*given: Any) -> None:
        BASE.plan(*given)
        Q, V, policy = given[-3:]
        Q[0, 0, 0] = number() % 1.7
        policy[0, 0], V[0, 0] = Q[0, 0].argmax(), Q[0, 0].max()

    return plan


def raw_counts() -> Any:
    """What a function finds that looks for true counts at its callers."""
    frame: Any = sys._getframe(1)
    while "state" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["state"].counts[1, 0, :, :-2].sum()


def takes_its_noise_back(released: Any, errors: Any, *rest: Any) -> None:
    BASE.plan(released, errors, *rest)
    errors[:] = 0.0


def forgets_the_ceiling(*given: Any) -> None:
    BASE.plan(*given)
    for values in given[-3:-1]:
        values[0] += 100.0


def other_arguments(released: Any, errors: Any, constants: Any, Q: Any, V: Any, policy: Any) -> None: ...


def planned(plan: Callable[..., None]) -> TabularLearner:
    return replace(BASE, plan=plan)


WHAT = "function of what was released"
ALGORITHM_FAULTS: dict[str, tuple[TabularLearner, str]] = {
    "raw counts read": (planned(leaving(raw_counts)), WHAT),
    "hidden state": (planned(leaving(itertools.count().__next__)), WHAT),
    "not deterministic": (planned(leaving(np.random.random)), WHAT),
    "the clock": (planned(leaving(time.perf_counter)), WHAT),
    "writes into what it is given": (planned(takes_its_noise_back), WHAT),
    "above H": (planned(forgets_the_ceiling), WHAT),
    "other arguments": (planned(other_arguments), WHAT),
    "random constants": (replace(BASE, constants=lambda problem: np.random.random(3)), WHAT),
    "no baseline": (replace(BASE, privacies=("central",)), "record"),
    "no key": (replace(BASE, key="HA UCB!"), "record"),
}


@pytest.mark.parametrize("name", ALGORITHM_FAULTS)
def test_an_algorithm_with_a_fault_is_caught(name: str) -> None:
    algorithm, check = ALGORITHM_FAULTS[name]
    before = dict(ALGORITHMS), dprl.simulation.FIELDS["algorithm"]
    with pytest.raises(CheckFailed) as error:
        check_algorithm(algorithm)
    assert error.value.check == check, error.value
    assert (dict(ALGORITHMS), dprl.simulation.FIELDS["algorithm"]) == before


def test_a_sound_algorithm_passes_and_what_is_none_is_refused() -> None:
    """Those of the registry: test_privacy_by_signature.py."""
    assert len(check_algorithm(BASE)) == 2
    other: Any = ALGORITHMS["sdp-pe"]
    with pytest.raises(ValueError, match="give a TabularLearner"):
        check_algorithm(other)


# ---- environments

RIVER, make = riverswim.ENVIRONMENT, riverswim.make
number = itertools.count()


def changed(**arrays: Any) -> Callable[..., TabularMDP]:
    def other(**given: Any) -> TabularMDP:
        mdp = make(**given)
        return replace(mdp, **{name: change(mdp) for name, change in arrays.items()})

    return other


def biased(H: int = 20, **given: Any) -> TabularMDP:
    mdp = make(H=H, **given)
    if H == 1000:  # only at the end of a range
        object.__setattr__(mdp, "R", mdp.R * 1.5)
    return mdp


ENVIRONMENT_FAULTS: dict[str, tuple[Environment, str]] = {
    "another model each time": (
        replace(RIVER, make=changed(R=lambda mdp: mdp.R * random.random())),
        "models",
    ),
    "hidden state": (replace(RIVER, make=changed(R=lambda mdp: mdp.R / (1 + next(number)))), "models"),
    "one array for all": (replace(RIVER, make=cache(make)), "models"),
    "wrong size": (replace(RIVER, size=lambda S, H, variant: (S + 1, 2, H)), "models"),
    "rewards above 1": (replace(RIVER, make=biased), "models"),
    "other defaults": (replace(RIVER, make=lambda **given: make(**{"S": 7} | given)), "models"),
    "labels twice": (replace(RIVER, make=changed(action_labels=lambda mdp: ("go", "go"))), "models"),
    "no horizon": (replace(RIVER, fields=RIVER.fields[:1]), "record"),
    "no key": (replace(RIVER, key="my river"), "record"),
}


@pytest.mark.parametrize("name", ENVIRONMENT_FAULTS)
def test_an_environment_with_a_fault_is_caught(name: str) -> None:
    environment, check = ENVIRONMENT_FAULTS[name]
    with pytest.raises(CheckFailed) as error:
        check_environment(environment)
    assert error.value.check == check, error.value


# ---- mechanisms


def half_as_large(i: int, leaves: Any, batches: Any, memory: Any, rng: Any, noise: Any) -> None:
    count = float(leaves[i + 1] - leaves[i])
    noise += 0.5 * np.sqrt(count) * rng.standard_normal(noise.shape[0])


def one_for_all(i: int, leaves: Any, batches: Any, memory: Any, rng: Any, noise: Any) -> None:
    noise += np.sqrt(float(leaves[i + 1] - leaves[i])) * rng.standard_normal()


def own_generator(i: int, leaves: Any, batches: Any, memory: Any, rng: Any, noise: Any) -> None:
    noise += np.sqrt(float(leaves[i + 1] - leaves[i])) * np.random.default_rng().standard_normal(
        noise.shape[0]
    )


GAUSSIAN, TREE = MECHANISMS["gaussian"], MECHANISMS["laplace-tree"]  # whose kernels run as plain Python


def until_ten(i: int, leaves: Any, batches: Any, memory: Any, rng: Any, noise: Any) -> None:
    if i < 10:
        TREE.add_noise(i, leaves, batches, memory, rng, noise)


def of_no_type(**parts: Any) -> Any:
    return replace(GAUSSIAN, **parts)


MECHANISM_FAULTS: dict[str, tuple[Any, str]] = {
    "noise halved": (replace(GAUSSIAN, add_noise=half_as_large), "noise"),
    "noise halved, and said so": (
        replace(
            GAUSSIAN,
            add_noise=half_as_large,
            std=lambda stream: GAUSSIAN.std(stream) / 2,
            tail=lambda stream, failure: GAUSSIAN.tail(stream, failure) / 2,
            length=lambda stream, cells, failure: GAUSSIAN.length(stream, cells, failure) / 2,
        ),
        "proof",
    ),
    "less noise needed than is": (
        replace(GAUSSIAN, losses=lambda change, scale, stream: GAUSSIAN.losses(change, 2 * scale, stream)),
        "proof",
    ),
    "a tail that is too small": (
        replace(GAUSSIAN, tail=lambda stream, failure: GAUSSIAN.tail(stream, 5 * failure)),
        "noise",
    ),
    "losses that are no tuple": (of_no_type(losses=lambda *given: Gaussian(1.0)), "proof"),
    "one number for all releases": (of_no_type(std=lambda stream: 1.0), "noise"),
    "no function": (of_no_type(rows=0), "repeats"),
    "one draw for all counters": (replace(GAUSSIAN, add_noise=one_for_all), "noise"),
    "not deterministic": (replace(GAUSSIAN, add_noise=own_generator), "repeats"),
    "an unknown norm": (replace(GAUSSIAN, norm="l3"), "record"),
    "no noise from the tenth release on": (replace(TREE, add_noise=until_ten), "noise"),
    "too little memory from the fourth release on": (
        replace(TREE, rows=lambda items, releases: 2),
        "repeats",
    ),
    "a ratio that says nothing": (
        replace(TREE, log_ratio=lambda stream, seen, *known: np.zeros(seen.shape[1])),
        "proof",
    ),
    "no key": (replace(TREE, key="Tree of 8"), "record"),
}


@pytest.mark.parametrize("name", first(MECHANISM_FAULTS, lambda name: MECHANISM_FAULTS[name][1]))
def test_a_mechanism_with_a_fault_is_caught(name: str) -> None:
    mechanism, check = MECHANISM_FAULTS[name]
    with pytest.raises(CheckFailed) as error:
        check_mechanism(mechanism)
    assert error.value.check == check, error.value


def test_one_that_answers_questions_is_refused() -> None:
    with pytest.raises(ValueError, match="has its own tests"):
        check_mechanism(MECHANISMS["unary"])
