"""Mechanisms: one file a family, one line each here."""

from dprl.kernels import kernel
from dprl.privacy.mechanisms.binomial import BINOMIAL_SUM
from dprl.privacy.mechanisms.gaussian import GAUSSIAN, GAUSSIAN_TOEPLITZ, GAUSSIAN_TREE
from dprl.privacy.mechanisms.laplace import LAPLACE, LAPLACE_TREE
from dprl.privacy.mechanisms.mechanism import SIGNATURE, Change, Mechanism, Stream, make_stream

MECHANISMS: dict[str, Mechanism] = {
    m.key: m
    for m in (
        GAUSSIAN_TOEPLITZ,
        GAUSSIAN_TREE,
        LAPLACE_TREE,
        GAUSSIAN,
        LAPLACE,
        BINOMIAL_SUM,
    )
}


@kernel
def no_noise(i, leaves, knobs, memory, rng, noise):  # type: ignore[no-untyped-def]
    """Leave the sums as they are."""


__all__ = ["MECHANISMS", "SIGNATURE", "Change", "Mechanism", "Stream", "make_stream", "no_noise"]
