"""Sentences about learners for linear models: their confidence sets, their matrices, and their regret."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.metrics import Array
from dprl.words import human, rough, significant

INDEFINITE = (
    "With the noise, this matrix has no inverse. The algorithm plans this step as if nothing were known."
)


def region(
    widths: Array,
    quiet: Array,
    off: Array,
    *,
    bound: float,
    names: Sequence[str],
    step: int,
    users: int,
    private: bool,
) -> str:
    """Describe two weights by their confidence radii with noise and without (widths, quiet: [2]) and by their true
    errors (off: [2]). bound: C_w, the maximum length of the weights."""
    if not np.isfinite(widths).all():
        return INDEFINITE
    said = " ".join(
        f"For {name} the confidence radius is {significant(w, 3)}, and the true error is {significant(abs(o), 2)}."
        for name, w, o in zip(names, widths, off, strict=True)
    )
    result = f"The chart shows step {step} after {human(users)} users. {said}"
    if widths.min() > bound:
        return f"{result} These radii add nothing, because it is public that no weight exceeds {significant(bound, 3)}."
    times = float(np.sqrt(np.prod(widths / quiet))) if private and np.isfinite(quiet).all() else 1.0
    if times > 1:
        result += f" Without noise the same users would give a confidence set {rough(times)} times narrower."
    return result
