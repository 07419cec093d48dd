"""`check_mechanism`: each planted fault is caught, by the check that is for it, and what is sound passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dprl import MECHANISMS
from dprl.mdp.tabular import Array
from dprl.privacy.errors import laplace_length, laplace_tail
from dprl.privacy.losses import Gaussian, Laplace, Losses
from dprl.privacy.mechanisms import Mechanism, Stream
from dprl.privacy.mechanisms.laplace import laplace_ratio
from dprl.privacy.mechanisms.mechanism import all_releases, no_rows, scattered_releases
from dprl.statistics import Change
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


def plain(i: int, leaves: Any, batches: Any, memory: Any, rng: Any, noise: Any) -> None:
    noise += np.sqrt(float(leaves[i + 1] - leaves[i])) * rng.standard_normal(noise.shape[0])


# plain NumPy, so that nothing has to be compiled
GAUSSIAN = replace(MECHANISMS["gaussian"], key="planted", add_noise=plain)


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
}


# ---- of a curator, in blocks of eight releases

BLOCK = 8


def blocks(i: int, leaves: Any, batches: Any, memory: Any, rng: Any, noise: Any) -> None:
    """A draw for each release, and one for each block, which takes the place of its releases'."""
    draw = rng.laplace(size=noise.shape[0])
    if i % BLOCK == BLOCK - 1:
        memory[0] += draw
        noise[:] = memory[0]
    else:
        noise += draw


def blocks_until_ten(i: int, leaves: Any, batches: Any, memory: Any, rng: Any, noise: Any) -> None:
    if i < 10:
        blocks(i, leaves, batches, memory, rng, noise)


def drawn_in_blocks(stream: Stream) -> Any:
    """[M] how many draws are in each release."""
    count = np.arange(1, stream.releases + 1)
    return count // BLOCK + count % BLOCK


def apart(stream: Stream, sums: Array) -> Array:
    """[M, n] what a release's own draw is in, from sums [M, n]."""
    i = np.arange(stream.releases)
    before = np.where(i % BLOCK == BLOCK - 1, i - BLOCK, i - 1)
    return np.asarray(sums - np.where((before >= 0)[:, None], sums[before], 0.0))


def seen_twice(change: Change, scale: float, stream: Stream) -> tuple[Losses, ...]:
    """What users reveal who are in two draws of a counter, once there are blocks."""
    touched = 2 if stream.releases >= BLOCK else 1
    return (tuple(Laplace(touched * count, size / scale) for count, size in change.moves),)


BLOCKS = Mechanism(
    key="planted",
    title="Blocks",
    summary="A draw for each release, and one for each block of eight.",
    source="nobody's: a test",
    add_noise=blocks,
    rows=lambda items, releases: 1,
    std=lambda stream: np.sqrt(2.0 * drawn_in_blocks(stream)),
    tail=lambda stream, failure: laplace_tail(drawn_in_blocks(stream), failure),
    length=lambda stream, cells, failure: laplace_length(drawn_in_blocks(stream), cells, failure),
    losses=seen_twice,
    telling=all_releases,
    log_ratio=laplace_ratio(apart),
    scattered=scattered_releases,
    norm="l1",
    needs_delta=False,
)

MECHANISM_FAULTS |= {
    "no noise from the tenth release on": (replace(BLOCKS, add_noise=blocks_until_ten), "noise"),
    "no memory, and it is used from the seventh release on": (replace(BLOCKS, rows=no_rows), "repeats"),
    "a ratio that says nothing": (
        replace(BLOCKS, log_ratio=lambda stream, seen, *known: np.zeros(seen.shape[1])),
        "proof",
    ),
    "no key": (replace(BLOCKS, key="Blocks of 8"), "record"),
}


@pytest.mark.parametrize("name", first(MECHANISM_FAULTS, lambda name: MECHANISM_FAULTS[name][1]))
def test_a_mechanism_with_a_fault_is_caught(name: str) -> None:
    mechanism, check = MECHANISM_FAULTS[name]
    with pytest.raises(CheckFailed) as error:
        check_mechanism(mechanism)
    assert error.value.check == check, error.value


@pytest.mark.parametrize("mechanism", [GAUSSIAN, BLOCKS], ids=["reports", "blocks"])
def test_sound_mechanisms_pass(mechanism: Any) -> None:
    assert check_mechanism(mechanism) == ("record", "repeats", "noise", "proof")


def test_one_that_answers_questions_is_refused() -> None:
    with pytest.raises(ValueError, match="has its own tests"):
        check_mechanism(MECHANISMS["unary"])
