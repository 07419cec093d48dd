"""`check_mechanism`: each planted fault is caught, by the check that is for it, and what is sound passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dprl import MECHANISMS
from dprl.mdp.tabular import Array
from dprl.privacy.accounting import Gaussian, Laplace, Losses
from dprl.privacy.errors import laplace_length, laplace_tail, length_tail
from dprl.privacy.mechanisms import Mechanism, Stream, stream_of_releases
from dprl.privacy.mechanisms.laplace import laplace_ratio
from dprl.privacy.mechanisms.mechanism import (
    At,
    all_releases,
    column,
    increments,
    no_rows,
    scattered_releases,
)
from dprl.statistics import Change
from dprl.testing import CheckFailed, attacks, check_mechanism
from tests.problems import first

seeds_so_far: list[int] = []


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


def remembered(i: int, leaves: Any, batches: Any, memory: Any, rng: Any, noise: Any) -> None:
    plain(i, leaves, batches, memory, rng, noise)
    seeds_so_far.append(i)


def to_one_side(i: int, leaves: Any, batches: Any, memory: Any, rng: Any, noise: Any) -> None:
    noise += np.sqrt(float(leaves[i + 1] - leaves[i])) * (rng.standard_exponential(noise.shape[0]) - 1.0)


# plain NumPy, so that nothing has to be compiled
GAUSSIAN = replace(MECHANISMS["gaussian"], key="planted", add_noise=plain)


def of_no_type(**parts: Any) -> Any:
    return replace(GAUSSIAN, **parts)


MECHANISM_FAULTS: dict[str, tuple[Any, str]] = {
    "noise halved": (replace(GAUSSIAN, add_noise=half_as_large), "spread"),
    "noise halved, and said so": (
        replace(
            GAUSSIAN,
            add_noise=half_as_large,
            std=lambda stream: GAUSSIAN.std(stream) / 2,
            tail=lambda stream, failure: GAUSSIAN.tail(stream, failure) / 2,
            length=lambda stream, cells, failure: GAUSSIAN.length(stream, cells, failure) / 2,
        ),
        "likelihood ratio",
    ),
    "wrong sensitivity": (
        replace(GAUSSIAN, losses=lambda change, scale, stream: GAUSSIAN.losses(change, 2 * scale, stream)),
        "proof",
    ),
    "more than is proved": (
        replace(GAUSSIAN, losses=lambda change, scale, stream: GAUSSIAN.losses(change, scale / 2, stream)),
        "proof",
    ),
    "a tail that is too small": (
        replace(GAUSSIAN, tail=lambda stream, failure: GAUSSIAN.tail(stream, 5 * failure)),
        "tail",
    ),
    "noise to one side, of the same size": (replace(GAUSSIAN, add_noise=to_one_side), "symmetric"),
    "noise of a curator, called that of users": (
        replace(MECHANISMS["gaussian-toeplitz"], key="planted", fresh=True),
        "own reports",
    ),
    "losses that are no tuple": (of_no_type(losses=lambda *given: Gaussian(1.0)), "likelihood ratio"),
    "one number for all releases": (of_no_type(std=lambda stream: 1.0), "spread"),
    "no function": (of_no_type(rows=0), "record"),
    "no stream for attackers": (of_no_type(telling=lambda stream: None), "for attackers"),
    "one draw for all counters": (replace(GAUSSIAN, add_noise=one_for_all), "spread"),
    "not deterministic": (replace(GAUSSIAN, add_noise=own_generator), "repeats"),
    "hidden state": (replace(GAUSSIAN, add_noise=remembered), "holds nothing"),
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


def blocks_but_some(i: int, leaves: Any, batches: Any, memory: Any, rng: Any, noise: Any) -> None:
    before = noise.copy()
    blocks(i, leaves, batches, memory, rng, noise)
    if 100 <= i < 160:
        noise[:] = before  # whoever knows the others knows what is new


def drawn_in_blocks(stream: Stream) -> Any:
    """[M] how many draws are in each release."""
    count = np.arange(1, stream.releases + 1)
    return count // BLOCK + count % BLOCK


def apart(stream: Stream, sums: Array) -> Array:
    """[M, n] what a release's own draw is in, from sums [M, n]."""
    i = np.arange(stream.releases)
    before = np.where(i % BLOCK == BLOCK - 1, i - BLOCK, i - 1)
    return np.asarray(sums - np.where((before >= 0)[:, None], sums[before], 0.0))


def seen_in(draws: int) -> Any:
    """What users reveal who are in so many draws of a counter."""

    def losses(change: Change, scale: float, stream: Stream) -> tuple[Losses, ...]:
        touched = draws if stream.releases >= BLOCK else 1
        return (tuple(Laplace(touched * count, size / scale) for count, size in change.moves),)

    return losses


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
    losses=seen_in(2),
    telling=all_releases,
    log_ratio=laplace_ratio(apart),
    scattered=scattered_releases,
    norm="l1",
    needs_delta=False,
)

MECHANISM_FAULTS |= {
    "no noise from the tenth release on": (replace(BLOCKS, add_noise=blocks_until_ten), "spread"),
    "no noise in some of many releases": (replace(BLOCKS, add_noise=blocks_but_some), "likelihood ratio"),
    "a user in two draws, stated as in one": (replace(BLOCKS, losses=seen_in(1)), "proof"),
    "no memory, and it is used from the seventh release on": (replace(BLOCKS, rows=no_rows), "repeats"),
    "a size that is not looked at": (
        replace(
            BLOCKS,
            losses=lambda change, scale, stream: seen_in(2)(
                Change(tuple((count, 1.0) for count, _ in change.moves)), scale, stream
            ),
        ),
        "proof",
    ),
    "a ratio that says nothing": (
        replace(BLOCKS, log_ratio=lambda stream, seen, *known: np.zeros(seen.shape[1])),
        "proof",
    ),
    "a key that is taken": (replace(BLOCKS, key="laplace-tree"), "record"),
    "no key": (replace(BLOCKS, key="Blocks of 8"), "record"),
}


@pytest.mark.parametrize("name", first(MECHANISM_FAULTS, lambda name: MECHANISM_FAULTS[name][1]))
def test_a_mechanism_with_a_fault_is_caught(name: str) -> None:
    mechanism, check = MECHANISM_FAULTS[name]
    with pytest.raises(CheckFailed) as error:
        check_mechanism(mechanism, compiles=False)
    assert error.value.check == check, error.value


def test_a_fault_is_caught_whatever_releases_its_noise_is_looked_at_in() -> None:
    """None of the checks is left out for that."""
    for name in ("a user in two draws, stated as in one", "wrong sensitivity", "no stream for attackers"):
        mechanism, check = MECHANISM_FAULTS[name]
        with pytest.raises(CheckFailed) as error:
            check_mechanism(mechanism, stream_of_releases(20), compiles=False)
        assert error.value.check == check, error.value
    with pytest.raises(CheckFailed, match="is it fresh") as error:
        check_mechanism(replace(BLOCKS, fresh=True), stream_of_releases(20), compiles=False)


def test_what_is_wrong_is_said_with_its_place() -> None:
    for name, sentence in (
        ("one draw for all counters", "release 0 has the same noise in all counters; draw one for each"),
        ("no memory, and it is used from the seventh release on", "rows: memory has 0; at release 7 of 63"),
        ("a user in two draws, stated as in one", "of a user who enters at release"),
        ("a key that is taken", "there is already one with the key laplace-tree; give another"),
        ("no key", "'Blocks of 8' is not allowed; give small letters, digits and hyphens, such as my-own"),
    ):
        with pytest.raises(CheckFailed, match=sentence):
            check_mechanism(MECHANISM_FAULTS[name][0], compiles=False)

    def std(stream: Stream) -> Array:
        raise KeyError("draws")

    with pytest.raises(
        CheckFailed, match=r"KeyError: 'draws' \(test_testing_mechanisms.py, line \d+, in std\)"
    ):
        check_mechanism(replace(BLOCKS, std=std), compiles=False)


@pytest.mark.thorough
@pytest.mark.parametrize("mechanism", [GAUSSIAN, BLOCKS], ids=["reports", "blocks"])
def test_sound_mechanisms_pass(mechanism: Any) -> None:
    report = check_mechanism(mechanism, compiles=False)
    assert len(report.passed) == 10 + mechanism.fresh
    assert repr(report).endswith("\nnot checked: same bits compiled: compiles=False was asked for")


# ---- noise whose losses are none that there are: a bound


def logistic(i: int, leaves: Any, batches: Any, memory: Any, rng: Any, noise: Any) -> None:
    noise += rng.logistic(size=noise.shape[0])


def log_moments(y: Array) -> Array:
    """ln E exp(y x) = ln(pi y / sin(pi y)) below 1, from where on it is infinite."""
    angle = np.pi * np.clip(np.abs(y), 1e-12, 1 - 1e-12)
    return np.asarray(np.where(np.abs(y) < 1, np.log(angle / np.sin(angle)), np.inf))


def each(stream: Stream) -> Array:
    return np.arange(1.0, stream.releases + 1)


def spread_of(stream: Stream) -> Array:
    return np.asarray(np.sqrt(each(stream)) * np.pi / np.sqrt(3.0))


def lengths(stream: Stream, cells: int, failure: float) -> Array:
    return length_tail(lambda y: each(stream) * log_moments(y), spread_of(stream), cells, failure)


def logistic_ratio(stream: Stream, seen: Array, at: At, first: Array, second: Array) -> Array:
    def log_density(x: Array) -> Array:
        return np.asarray(-np.abs(x) - 2 * np.log1p(np.exp(-np.abs(x))))

    weights = column(stream, at, increments)[:, None, None]
    own = increments(stream, seen)
    ratios = log_density(own - weights * first) - log_density(own - weights * second)
    return np.asarray(ratios.sum((0, 2)))


def times_the_noise(loose: float) -> Mechanism:
    """A trade-off curve of logistic noise lies above that of Laplace noise with the same shift: a sound proof, and with
    `loose` above 1 one that says too much."""
    return replace(
        BLOCKS,
        add_noise=logistic,
        rows=no_rows,
        std=spread_of,
        tail=lambda stream, failure: lengths(stream, 1, failure),
        length=lengths,
        losses=lambda change, scale, stream: (
            tuple(Laplace(count, loose * size / scale) for count, size in change.moves),
        ),
        log_ratio=logistic_ratio,
    )


LOOSE = times_the_noise(1.5)


@pytest.mark.thorough
def test_a_bound_is_called_one() -> None:
    """Then it passes, and the report says how loose it is."""
    with pytest.raises(CheckFailed, match=r"the proof is loose\. Say bound=True if it has to be"):
        check_mechanism(LOOSE, compiles=False)
    report = check_mechanism(LOOSE, compiles=False, bound=True)
    assert report.notes == (
        "proof: losses is a bound: with a quarter of the noise an attack shows more than it",
    )
    assert f"note: {report.notes[0]}" in repr(report)


@pytest.mark.thorough
def test_a_proof_may_be_loose_where_it_is_called_a_bound_and_nothing_else(monkeypatch: Any) -> None:
    """In a few releases alone, which is quick."""
    monkeypatch.setattr(attacks, "_looks", lambda one: (("3 releases", attacks.few(one), 0, 20_000, 30),))
    monkeypatch.setattr(attacks, "long_proof", lambda one: None)
    with pytest.raises(AssertionError, match="with half of the noise no attack shows more than is proved"):
        attacks.proof(LOOSE)
    assert (
        attacks.proof(LOOSE, True)
        == "losses is a bound: with a quarter of the noise an attack shows more than it"
    )
    for one, sentence in (
        (times_the_noise(0.5), "is proved, and an attack shows"),
        (times_the_noise(40.0), "so loose that it cannot be told from none"),
        (MECHANISM_FAULTS["a ratio that says nothing"][0], "with a sixteenth of the noise no attack"),
    ):
        with pytest.raises(AssertionError, match=sentence):
            attacks.proof(one, True)


@pytest.mark.thorough
def test_what_has_no_scale_is_said_not_to_be_attacked() -> None:
    """Bits, which are looked at by tests of their own, and which no other package can bring."""
    fair = replace(stream_of_releases(7), batches=np.array([[90.0, 0.5, 3.0]]))
    report = check_mechanism(MECHANISMS["binomial-tree"], fair, compiles=False)
    assert "proof" not in report.passed
    assert report.left[1] == "likelihood ratio, proof: its noise has no scale to be multiplied by"


def test_one_that_answers_questions_is_refused() -> None:
    with pytest.raises(ValueError, match="has tests of its own"):
        check_mechanism(MECHANISMS["unary"])
