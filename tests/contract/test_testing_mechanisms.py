"""`check_mechanism`: each planted fault is caught, by the check that is for it.

That what is sound passes is seen in tests/privacy/test_mechanisms.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dprl import MECHANISMS
from dprl.privacy.losses import Gaussian
from dprl.testing import CheckFailed, check_mechanism
from tests.problems import first


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
