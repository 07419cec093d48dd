"""Random draws that stay exact at any size."""

from __future__ import annotations

import numpy as np

from dprl.kernels import kernel


@kernel
def binomial(rng: np.random.Generator, n: int, p: float) -> int:
    """Binomial(n, p). Where p or 1 - p is below 1e-8 NumPy loses its digits: Poisson(np) is within p of it."""
    if n == 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return n
    if p < 1e-8:
        return min(n, rng.poisson(n * p))
    if p > 1.0 - 1e-8:
        return n - min(n, rng.poisson(n * (1.0 - p)))
    return rng.binomial(n, p)
