"""Gaussian noise in every user's report, in a binary tree, or correlated over the releases. Unit noise is N(0, 1)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.engine import kernel
from dprl.fields import SpecError
from dprl.mdp.tabular import Array
from dprl.privacy.errors import chi_tail, gaussian_tail
from dprl.privacy.losses import Gaussian, Losses
from dprl.privacy.mechanisms.mechanism import (
    At,
    Leaves,
    Mechanism,
    Stream,
    all_releases,
    column,
    first_item,
    increments,
    no_rows,
    scattered_releases,
    scattered_reports,
)
from dprl.privacy.mechanisms.tree import levels, nodes, scattered, split, stems, tree
from dprl.statistics import Change

Complexes = NDArray[np.complex128]

MAX_RELEASES = 4000  # a factorisation stores one row of noise for each release


@kernel
def add_gaussian(rng: np.random.Generator, count: int, noise: Array) -> None:
    """Add the sum of `count` independent N(0, 1) draws, drawn as sqrt(count) N(0, 1), to each cell of `noise`."""
    scale = np.sqrt(float(count))
    for c in range(noise.shape[0]):
        noise[c] += scale * rng.standard_normal()


@kernel
def gaussian_sum(
    i: int, leaves: Leaves, batches: Array, memory: Array, rng: np.random.Generator, noise: Array
) -> None:
    """Add one N(0, 1) draw for each new item, because the noise in a sum is the sum of the noise in its items."""
    add_gaussian(rng, leaves[i + 1] - leaves[i], noise)


@kernel
def gaussian_tree(
    i: int, leaves: Leaves, batches: Array, memory: Array, rng: np.random.Generator, noise: Array
) -> None:
    """Add noise to running sums by a binary tree with N(0, 1) noise in every node (the Binary Mechanism)."""
    tree(i, leaves, memory, rng, noise, add_gaussian, 1)


@kernel
def prepared(
    i: int, leaves: Leaves, batches: Array, memory: Array, rng: np.random.Generator, noise: Array
) -> None:
    """Read the noise of release i from row i of memory, which `correlate` has filled before the run."""
    for c in range(noise.shape[0]):
        noise[c] = memory[i, c]


def coefficients(releases: int) -> Array:
    """Return the first column c [M] of the lower-triangular Toeplitz matrix C whose square is the prefix-sum matrix.

    c_0 = 1, c_j = c_{j-1} (2j - 1) / (2j) (Fichtenberger, Henzinger, Upadhyay 2023).
    """
    j = np.arange(1, releases)
    return np.concatenate([[1.0], np.cumprod((2 * j - 1) / (2 * j))])


def correlate(rng: np.random.Generator, stream: Stream, memory: Array) -> None:
    """Fill memory [M, cells] with C z for independent N(0, 1) draws z. Row i is the noise of release i.

    The release A x + C z = C (C x + z) is a function of C x + z, to which one user's item adds one column of C. So z
    protects the users, and C only spreads the noise.
    """
    from scipy.fft import irfft, next_fast_len, rfft

    releases, cells = memory.shape
    length = next_fast_len(2 * releases, real=True)
    spectrum = rfft(coefficients(releases), length)[:, None]
    for first in range(0, cells, 512):
        z = rng.standard_normal((releases, min(512, cells - first)))
        product = _times(rfft(z, length, axis=0), spectrum)
        memory[:, first : first + 512] = irfft(product, length, axis=0)[:releases]


def _times(a: Complexes, b: Complexes) -> Complexes:
    """Multiply complex arrays in real arithmetic, because rounding in NumPy's complex product depends on the CPU."""
    product = np.empty_like(a)
    product.real = a.real * b.real - a.imag * b.imag
    product.imag = a.real * b.imag + a.imag * b.real
    return product


def innovations(stream: Stream, sums: Array) -> Array:
    """Return C^-1 times `sums` [M, n], which makes the noise of the releases independent again.

    C^-1 is also lower-triangular Toeplitz: d_0 = 1, d_j = d_{j-1} (2j - 3) / (2j), the series of sqrt(1 - x).
    """
    from scipy.signal import fftconvolve

    j = np.arange(1, stream.releases)
    inverse = np.concatenate([[1.0], np.cumprod((2 * j - 3) / (2 * j))])
    return np.asarray(fftconvolve(sums, inverse[:, None], axes=0)[: stream.releases])


def room(key: str) -> Callable[[int, int], int]:
    """Return the function `rows` for a factorisation. Each release needs one row of memory."""

    def rows(items: int, releases: int) -> int:
        if releases > MAX_RELEASES:
            raise SpecError(
                "schedule",
                f"{key} stores the noise of every release, and this schedule has about {releases:,}; give one with at "
                f"most {MAX_RELEASES:,}, such as adaptive:0.1, or mechanism gaussian-blt.",
            )
        return releases

    return rows


def _norms(stream: Stream) -> Array:
    """Return the standard deviation of each release's noise [M]; the last is also the norm of C's first column."""
    return np.asarray(np.sqrt(np.cumsum(coefficients(stream.releases) ** 2)))


def gaussian(
    std: Callable[[Stream], Array],
    touched: Callable[[Stream], float],
    apart: Callable[[Stream, Array], Array],
    **known: Any,
) -> Mechanism:
    """Return a mechanism with Gaussian noise.

    `touched` returns the squared norm of one item's effect on the draws for a running counter. `apart` maps released
    sums [M, n] to independent N(0, 1) draws plus data; a factorisation inverts the matrix that correlates the noise.
    """

    def losses(change: Change, scale: float, stream: Stream) -> tuple[Losses, ...]:
        again = change.times(stream.releases)
        total = touched(stream) * change.l2_squared + again * change.once.l2_squared
        return ((Gaussian(math.sqrt(total) / scale),),)

    def log_ratio(stream: Stream, seen: Array, at: At, first: Array, second: Array) -> Array:
        # a user moves the draws along one direction, so only each run's projection onto it matters
        weights, moved = column(stream, at, apart), first - second
        middle = float((first + second) @ moved) / 2
        return np.asarray(weights @ apart(stream, seen @ moved) - float(weights @ weights) * middle)

    return Mechanism(
        std=std,
        tail=lambda stream, failure: gaussian_tail(std(stream), failure),
        length=lambda stream, cells, failure: chi_tail(std(stream), cells, failure),
        losses=losses,
        log_ratio=log_ratio,
        norm="l2",
        needs_delta=True,
        **known,
    )


def factorised(**known: Any) -> Mechanism:
    """Return a mechanism whose Gaussian noise is correlated over the releases. `known` is passed on to `gaussian`."""
    return gaussian(telling=all_releases, scattered=scattered_releases, **known)


GAUSSIAN_TOEPLITZ = factorised(
    key="gaussian-toeplitz",
    title="Gaussian, Toeplitz factorisation",
    summary="Gaussian noise correlated over the releases by the square root of the prefix-sum matrix.",
    source="Fichtenberger, Henzinger, Upadhyay 2023; Denisov et al. 2022",
    add_noise=prepared,
    rows=room("gaussian-toeplitz"),
    std=_norms,
    touched=lambda stream: float(_norms(stream)[-1] ** 2),
    apart=innovations,
    prepare=correlate,
)

GAUSSIAN_TREE = gaussian(
    key="gaussian-tree",
    title="Gaussian tree",
    summary="Sums from a binary tree with one Gaussian draw in each node.",
    source="Chan, Shi, Song 2011, with Gaussian nodes",
    add_noise=gaussian_tree,
    rows=lambda items, releases: levels(items),
    std=lambda stream: np.sqrt(nodes(stream).astype(float)),
    touched=lambda stream: levels(stream.items),
    telling=stems,
    apart=split,
    scattered=scattered,
)

GAUSSIAN = gaussian(
    key="gaussian",
    title="Gaussian",
    summary="Every user adds Gaussian noise to every count before sending it.",
    source="Balle, Wang 2018",
    add_noise=gaussian_sum,
    rows=no_rows,
    std=lambda stream: np.sqrt(stream.leaves[1:-1].astype(float)),
    touched=lambda stream: 1.0,
    telling=first_item,
    apart=increments,
    scattered=scattered_reports,
    fresh=True,
)
