"""Post-processing of noisy counts into a consistent model (Qiao, Wang 2023, eq. 4-6; Bai et al. 2025, eq. 4-5).

For each (h, s, a), we minimise the largest |x[s'] - m^[s']| over s' subject to x >= 0 and |sum x - n^| <= slack. The
minimum t* of this linear program has a closed form, and so has a minimiser.

Arrays of counts are [H, S, A, B + 2], on a table of next states (mdp/structure.py). In `noisy`, counters beyond a row's
last possible next state are NaN, and they are released as zero.
"""

from __future__ import annotations

import numpy as np

from dprl.engine import kernel
from dprl.mdp.tabular import Array

# for post-processing kernels: noisy [H,S,A,B+2], errors [H,S,A], tau2 [H] (tau^2 of Counts.ellipsoid), released
SIGNATURE = "void(float64[:,:,:,::1], float64[:,:,::1], float64[::1], float64[:,:,:,::1])"


@kernel
def branching(noisy: Array, h: int, s: int, a: int) -> int:
    """Return how many next states of (h, s, a) have a counter."""
    B: int = noisy.shape[3] - 2
    while B > 0 and np.isnan(noisy[h, s, a, B - 1]):
        B -= 1
    return B


@kernel
def nearest_counts(noisy: Array, h: int, s: int, a: int, slack: float, lift: float, out: Array) -> float:
    """Find the counts nearest to m^ whose sum fits n^. Write them, plus `lift`, to `out`, and return the sum.

    noisy, out: [H, S, A, B + 2]. Start from max(m^, 0), the nearest x >= 0. If its sum does not lie in [lo, hi], move
    in a straight line toward max(m^ - t*, 0) if the sum is too large, or m^ + t* if it is too small, until the sum
    fits. If n^ + slack < 0 (only outside the good event), the program has no solution; hi = 0 then gives x = 0.
    """
    B = branching(noisy, h, s, a)
    n_hat = noisy[h, s, a, noisy.shape[3] - 2]
    lo = n_hat - slack
    hi = max(n_hat + slack, 0.0)
    positive = 0.0
    for x in range(B):
        m = max(noisy[h, s, a, x], 0.0)
        positive += m
        out[h, s, a, x] = m + lift
    if lo <= positive <= hi:
        return positive
    total = 0.0
    active = 0
    worst = 0.0
    for x in range(B):
        m = noisy[h, s, a, x]
        total += m
        active += m > 0.0
        worst = max(worst, -m)
    if positive > hi:
        # smallest t with sum max(m^ - t, 0) <= hi: drop entries below the mean excess until none is below
        t = 0.0
        excess = positive
        changed = True
        while changed and active > 0:
            level = (excess - hi) / active
            changed = False
            for x in range(B):
                if t < noisy[h, s, a, x] <= level:
                    excess -= noisy[h, s, a, x]
                    active -= 1
                    changed = True
            t = level
        t = max(t, worst)
        end = 0.0
        for x in range(B):
            end += max(noisy[h, s, a, x] - t, 0.0)
        share = 1.0 if end >= hi else (positive - hi) / (positive - end)
        total = 0.0
        for x in range(B):
            m = max(noisy[h, s, a, x], 0.0)
            m += share * (max(noisy[h, s, a, x] - t, 0.0) - m)
            total += m
            out[h, s, a, x] = m + lift
        return total
    t = max(worst, (lo - total) / B)
    end = total + B * t
    share = 1.0 if end <= lo else (lo - positive) / (end - positive)
    total = 0.0
    for x in range(B):
        m = max(noisy[h, s, a, x], 0.0)
        m += share * (noisy[h, s, a, x] + t - m)
        total += m
        out[h, s, a, x] = m + lift
    return total


@kernel
def consistent(noisy: Array, errors: Array, tau2: Array, released: Array) -> None:
    """Compute the released m~, n~ and r~ from the noisy m^, n^ and r^, all [H, S, A, B + 2].

    `errors` has the E of each row. With slack E/4, E/(2B) is added to m~ and E/2 to n~, so that n~ >= n w.h.p. (Qiao,
    Wang 2023 (online), section 5.1).
    """
    H, S, A, width = noisy.shape
    X = width - 2
    for h in range(H):
        for s in range(S):
            for a in range(A):
                B, error = branching(noisy, h, s, a), errors[h, s, a]
                for x in range(B, X):
                    released[h, s, a, x] = 0.0
                n = nearest_counts(noisy, h, s, a, error / 4.0, error / (2.0 * B), released)
                released[h, s, a, X] = n + error / 2.0
                released[h, s, a, X + 1] = noisy[h, s, a, X + 1]


@kernel
def unchanged(noisy: Array, errors: Array, tau2: Array, released: Array) -> None:
    """Copy the noisy counts without post-processing, for runs without privacy and learners that use raw counts."""
    H, S, A, width = noisy.shape
    for h in range(H):
        for s in range(S):
            for a in range(A):
                for x in range(width):
                    z = noisy[h, s, a, x]
                    released[h, s, a, x] = 0.0 if np.isnan(z) else z


@kernel
def fit(noisy: Array, errors: Array, tau2: Array, released: Array) -> None:
    """Compute released counts m~ >= 0 and n~ = sum m~ by least squares.

    They minimise |m~ - m^|^2 + (n~ - n^)^2 / tau2. So m~ = max(m^ - t, 0) with tau2 t = n~ - n^: drop entries below the
    t of the other ones until none is below.
    """
    H, S, A, width = noisy.shape
    X = width - 2
    for h in range(H):
        for s in range(S):
            for a in range(A):
                B = branching(noisy, h, s, a)
                total = 0.0
                for x in range(B):
                    total += noisy[h, s, a, x]
                active = B
                t = -np.inf
                changed = True
                while changed:
                    level = (total - noisy[h, s, a, X]) / (active + tau2[h])
                    changed = False
                    for x in range(B):
                        if t < noisy[h, s, a, x] <= level:
                            total -= noisy[h, s, a, x]
                            active -= 1
                            changed = True
                    t = level
                n = 0.0
                for x in range(B):
                    released[h, s, a, x] = max(noisy[h, s, a, x] - t, 0.0)
                    n += released[h, s, a, x]
                for x in range(B, X):
                    released[h, s, a, x] = 0.0
                released[h, s, a, X] = n
                released[h, s, a, X + 1] = max(noisy[h, s, a, X + 1], 0.0)
