"""Least squares over what holds for the counts of any users: generalised least squares, with its exact covariance.

Each of t users is in one state at every step, so

    n[h, s, a] = sum_x m[h, s, a, x]                        a visit leads on,
    sum_{s, a} n[h, s, a] = t                               everybody is somewhere,
    sum_a n[h, s, a] = sum_{s', a'} m[h - 1, s', a', s]     who comes to s goes on from there.

Noise is drawn for each counter alike, with tau^2 times as much variance in n^ as in m^. The counts nearest to these, by
|m - m^|^2 + |n - n^|^2 / tau^2, for which all this holds follow from one correction for each line above. None undoes
another, because the states of a step look alike, and so do actions (proof in docs/notes/privacy.md).
"""

from __future__ import annotations

import numpy as np

from dprl.kernels import kernel
from dprl.mdp import Size
from dprl.mdp.tabular import Array

BALANCE = "void(float64[:,:,:,::1], float64, float64)"


@kernel
def balance(noisy: Array, tau2: float, users: float) -> None:
    """Move m^ and n^ to the nearest numbers for which the lines above hold, whatever their signs.

    noisy: [H, S, A, S + 2], r^ is left as it is; users: t.
    """
    H, S, A, width = noisy.shape
    X = width - 2  # next states, S of them
    kept = tau2 / (X + tau2)  # what a fitted row keeps of the noise that its next states share
    came, amiss = np.zeros(S), np.zeros(S)
    for h in range(H):
        total = 0.0
        for s in range(S):
            for a in range(A):
                visits = 0.0
                for x in range(X):
                    visits += noisy[h, s, a, x]
                lift = (noisy[h, s, a, X] - visits) / (X + tau2)
                for x in range(X):
                    noisy[h, s, a, x] += lift
                total += visits + X * lift
        lift = (users - total) / (S * A * X)
        for s in range(S):
            amiss[s] = -came[s]
            for a in range(A):
                for x in range(X):
                    noisy[h, s, a, x] += lift
                    amiss[s] += noisy[h, s, a, x]
            # whatever is amiss has noise of variance A X (kept + 1), A X kept from this step and A X from the last
            amiss[s] = amiss[s] / (A * X * (kept + 1.0)) if h > 0 else 0.0
        for x in range(X):
            came[x] = 0.0
        for s in range(S):
            for a in range(A):
                for x in range(X):
                    if h > 0:
                        noisy[h - 1, s, a, x] += amiss[x]
                    noisy[h, s, a, x] -= kept * amiss[s]
                    came[x] += noisy[h, s, a, x]
    for h in range(H):
        for s in range(S):
            for a in range(A):
                visits = 0.0
                for x in range(X):
                    visits += noisy[h, s, a, x]
                noisy[h, s, a, X] = visits


def remaining(size: Size, tau2: float) -> tuple[Array, Array]:
    """alpha, tau_h^2, both [H]: the noise that is left in the m of a row has covariance alpha (I - J / (S + tau_h^2)).

    J is all ones. It is that of a row with noise of variance alpha in m^, fitted to n^ with tau_h^2 times as much.
    """
    H, S, A = size.H, size.S, size.A
    kept, first, last = tau2 / (S + tau2), np.arange(H) == 0, np.arange(H) == H - 1
    amiss = A * S * (kept + 1)
    alpha = np.where(last, 1.0, 1 - 1 / amiss)
    came = np.where(first, 0.0, kept * kept * (1 - 1 / S) / amiss)
    goes = np.where(last, 0.0, 1 / (S * amiss))
    # what J is multiplied by after the fit to n^, to the number of users, to those who came and to those who go on
    shared = 1 / (S + tau2) + kept / (S * S * A) + came - goes
    return alpha, alpha / shared - S
