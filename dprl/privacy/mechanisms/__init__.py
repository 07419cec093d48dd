"""The registry of noise mechanisms; each family of mechanisms has its own file."""

import numpy as np

from dprl.engine import kernel
from dprl.mdp.tabular import Array
from dprl.plugins import Registry
from dprl.privacy.mechanisms.binomial import BINOMIAL_SUM, BINOMIAL_TREE
from dprl.privacy.mechanisms.blt import GAUSSIAN_BLT
from dprl.privacy.mechanisms.gaussian import GAUSSIAN, GAUSSIAN_TOEPLITZ, GAUSSIAN_TREE
from dprl.privacy.mechanisms.laplace import LAPLACE, LAPLACE_TREE
from dprl.privacy.mechanisms.mechanism import (
    SIGNATURE,
    Leaves,
    Mechanism,
    Stream,
    make_stream,
    open_stream,
    stream_of_releases,
)
from dprl.privacy.mechanisms.optimal import GAUSSIAN_OPTIMAL
from dprl.privacy.mechanisms.unary import UNARY

MECHANISMS: Registry[Mechanism] = Registry(
    (m.key, m)
    for m in (
        GAUSSIAN_TOEPLITZ,
        GAUSSIAN_OPTIMAL,
        GAUSSIAN_BLT,
        GAUSSIAN_TREE,
        LAPLACE_TREE,
        GAUSSIAN,
        LAPLACE,
        UNARY,
        BINOMIAL_SUM,
        BINOMIAL_TREE,
    )
)


@kernel
def no_noise(
    i: int, leaves: Leaves, batches: Array, memory: Array, rng: np.random.Generator, noise: Array
) -> None:
    """Do nothing, so that the sums remain exact."""


def alone(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism with independent noise at each release, for sums that are recomputed each time. Use it with
    release 0 of a stream of single items."""
    return {"l2": GAUSSIAN, "l1": LAPLACE}[mechanism.norm]
