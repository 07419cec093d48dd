"""A privacy accountant: compute the epsilon of given noise, or the noise that a given epsilon requires."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dprl.fields import Field, SpecError, check_type, either, reject, shown, similar
from dprl.mdp.tabular import Array, read_only
from dprl.messages.brief import described
from dprl.privacy.accounting import for_each, group_epsilon, least_scale
from dprl.privacy.losses import SAID, Binomial, Losses
from dprl.privacy.mechanisms import MECHANISMS, Mechanism, Stream, make_stream, stream_of_releases
from dprl.privacy.mechanisms.tree import levels, nodes
from dprl.privacy.outside import check_contribution
from dprl.privacy.privatizers.central import calibrated_scale
from dprl.privacy.privatizers.privatizer import proved
from dprl.privacy.privatizers.shuffle import guessed
from dprl.statistics import Change

ARGUMENTS = (
    Field("releases", "int", 1, "the number of releases of running sums", 1, 10**6),
    Field("counters", "int", 1, "the number of counters that one episode changes", 1, 10**6),
    Field("size", "float", 1.0, "the largest change of each counter", 0, 1e6, low_open=True),
    Field("contribution", "int", 1, "maximum number of episodes of one user", 1, 1000),
    Field("delta", "float", 1e-6, "delta of the guarantee", 0, 0.1),
    Field("epsilon", "float", None, "epsilon to prove", 0.001, 1000, optional=True),
    Field("scale", "float", None, "scale of the noise", 0, 1e15, low_open=True, optional=True),
)


@dataclass(frozen=True, eq=False)
class Account:
    """Noise of a given size, and the guarantee that we prove for it.

    Attributes:
        mechanism, releases, counters, contribution, size: the arguments of `account`.
        epsilon, delta: the releases are (epsilon, delta)-DP if all of one user's episodes are replaced.
        scale: the size of one draw: the standard deviation of Gaussian noise, the b of Laplace noise with density
            exp(-|x| / b) / 2b, or the number of fair random bits that the users of a batch or tree node together add to
            each counter.
        std: the standard deviation of the noise in one counter at each release [releases]; for a tree, at the worst
            release; if each user draws noise, in one report [1].
    """

    mechanism: str
    epsilon: float
    delta: float
    scale: float
    std: Array
    releases: int
    counters: int
    size: float
    contribution: int

    __repr__ = described


def account(
    mechanism: str = "gaussian-optimal",
    *,
    epsilon: float | None = None,
    scale: float | None = None,
    delta: float = 1e-6,
    releases: int = 1,
    counters: int = 1,
    size: float = 1.0,
    contribution: int = 1,
) -> Account:
    """Return the epsilon that we can prove for noise of a given scale, or the least noise for a given epsilon.

    - Continual counting: `gaussian-optimal`, `gaussian-toeplitz`, `gaussian-tree`, `gaussian-blt` and `laplace-tree`
      add noise to running sums, which are released several times. An episode counts in one release and all later ones.
    - Separate counts, each released once: use the same mechanisms with releases=1. If a user may be in ten counts, set
      counters=10. If a user is in only one, set counters=2, because a replacement may be in a different count.
    - No trusted party: with `gaussian` and `laplace`, each user adds noise to a report on each episode.
    - Shuffling: users add random bits, for each batch with `binomial-sum`, or for each tree node with `binomial-tree`.

    Args:
        mechanism: a key of `dprl.MECHANISMS`, except `unary`, whose noise an algorithm chooses.
        epsilon: the epsilon to prove. Give exactly one of epsilon and scale.
        scale: the scale of the noise, as `Account` defines it.
        delta: the delta of the guarantee; 0 for pure privacy, which only Laplace noise can give.
        releases: the number of releases of running sums, or of shuffled batches.
        counters: the largest number of counters that replacing one episode changes. With shuffling, half of them rise.
        size: the largest change of each of these counters; 1 with shuffling.
        contribution: m, the largest number of episodes of one user, all of which are protected together.

    Raises:
        SpecError: An argument is not allowed, or no noise of this kind suffices for epsilon at this delta.

    Example:
        >>> needed = dprl.privacy.account("gaussian-tree", releases=10, epsilon=1, delta=1e-6)
        >>> needed.scale
        8.44936
        >>> dprl.privacy.account("gaussian-tree", releases=10, scale=needed.scale, delta=1e-6).epsilon <= 1
        True
    """
    given = releases, counters, size, contribution, delta, epsilon, scale
    releases, counters, size, contribution, delta, epsilon, scale = (
        field.check(value) for field, value in zip(ARGUMENTS, given, strict=True)
    )
    if (epsilon is None) == (scale is None):
        raise SpecError("epsilon", "give either epsilon, to compute the noise, or scale, to compute epsilon.")
    noise = _mechanism(mechanism, releases, delta, size, contribution)
    stream = make_stream(np.ones(1, dtype=np.int64)) if noise.fresh else stream_of_releases(releases)
    bits = noise.norm == "cells"
    change = Change(((counters, size),), one_way=counters == 1)

    def losses_at(amount: float) -> Losses:
        """Return the privacy losses of one changed episode if each batch (or tree node) has `amount` random bits."""
        times = levels(releases) if noise.key == "binomial-tree" else 1
        return (
            Binomial(math.ceil(amount), 0.5, times * (counters - counters // 2), times * (counters // 2)),
        )

    if scale is None:
        if bits:
            each = for_each(epsilon, delta, contribution)
            scale = float(math.ceil(least_scale(losses_at, *each, 4 * guessed(counters, *each))))
        else:
            scale = calibrated_scale(noise, change, stream, epsilon, delta, contribution=contribution)
    if bits:
        scale = float(math.floor(scale))
        found = group_epsilon(losses_at(scale), contribution, delta) if scale else math.inf
    else:
        found = proved(noise, change, scale, stream, delta, contribution)
    spread = read_only(_std(noise, stream, scale))
    return Account(noise.key, found, delta, scale, spread, releases, counters, size, contribution)


def _mechanism(key: object, releases: int, delta: float, size: float, contribution: int) -> Mechanism:
    """Return the noise mechanism with this key. Raises SpecError if it does not fit the other arguments."""
    known = [name for name, one in MECHANISMS.items() if one.norm != "one-hot"]
    check_type("mechanism", key, str, f"one of {', '.join(known)}")
    if key not in known:
        raise SpecError(
            "mechanism", f"{shown(key)} is not allowed{similar(key, known)}; give {either(known)}."
        )
    noise = MECHANISMS[str(key)]
    check_contribution(noise.key, contribution)
    if noise.needs_delta and delta == 0:
        raise reject("delta", SAID["delta"], mechanism=noise.key)
    if noise.norm == "cells" and size != 1:
        raise SpecError("size", f"{size:g} is not allowed; shuffled bits are for counters that change by 1.")
    if noise.fresh and releases > 1:
        raise reject("releases", SAID["own_noise"], releases=releases)
    try:
        noise.rows(releases, releases)
    except SpecError:
        raise reject("releases", SAID["releases"], releases=releases, mechanism=noise.key) from None
    return noise


def _std(noise: Mechanism, stream: Stream, scale: float) -> Array:
    if noise.norm != "cells":
        return np.asarray(scale * noise.std(stream))
    batches = nodes(stream) if noise.key == "binomial-tree" else np.arange(1, stream.releases + 1)
    return np.asarray(np.sqrt(batches * scale) / 2)
