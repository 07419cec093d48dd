"""SDP-PE without a list of policies: a relaxation of ours that reaches problems far too large for the list.

The printed active set (B25 Algorithm 1) is cut out by one constraint on the value for each past stage, each under that
stage's own model. To maximise over it is to find one policy that is good in several models at once, which is NP-hard in
general. Here only the newest constraint is kept, and mixtures of policies are allowed:

    the active set is all mixtures of policies whose value under the last refined model is within `width` of the best.

One model and one linear constraint: the mixture that visits (h, x, a) most is of two deterministic policies at most,
found exactly by a few rounds of backward induction. Until a stage's width falls below the best value nothing is
eliminated, and the algorithm is the printed one. From then on the last refined model also stands in for the crude one,
so that visits and values are those of one model, and the users of crude exploration play the best policy known.

Why an optimal policy stays: it is in the set as long as no policy looks better by more than the width w. Members of the
set are estimated to w/2. Policies outside it are explored less, but one that loses D > w is part of a mixture in the
set, with weight w/D, and so is estimated to about sqrt(w D)/2 <= (w + D)/4: too little to look better by w. This is an
outline, not a proof with constants; tests measure it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dprl.kernels import kernel
from dprl.learners.elimination import sdp_pe

ROUNDS = 60  # more are never needed: each finds another vertex of the same few
SLACK = 1e-10


@kernel
def plan(P, R, policy, V):  # type: ignore[no-untyped-def]
    """The best policy [H, S] of a model whose rows may lose mass, lowest action first, and its V [H + 1, S]."""
    H, S, A, _ = P.shape
    for s in range(S):
        V[H, s] = 0.0
    for h in range(H - 1, -1, -1):
        for s in range(S):
            best = -1.0
            for a in range(A):
                q = R[h, s, a]
                for x in range(S):
                    q += P[h, s, a, x] * V[h + 1, x]
                if q > best:
                    best = q
                    policy[h, s] = a
            V[h, s] = best


@kernel
def weigh(P, R, d1, V, greedy, layer, state, action, price, policy, reach, worth):  # type: ignore[no-untyped-def]
    """The policy that maximises (chance to take `action` in `state` at `layer`) + price * value, into policy [H, S].

    V, greedy: of `plan`, followed after `layer`. Of equally good actions the more valuable, then the lowest wins.
    reach, worth: [2, S], scratch. Returns (chance, value) from d1.
    """
    H, S, A, _ = P.shape
    for h in range(H):
        for s in range(S):
            policy[h, s] = greedy[h, s]
    now = 0
    for h in range(layer, -1, -1):
        now = h % 2
        later = 1 - now
        for s in range(S):
            best = -1.0
            for a in range(A):
                chance = 1.0 if h == layer and s == state and a == action else 0.0
                value = R[h, s, a]
                if h == layer:
                    for x in range(S):
                        value += P[h, s, a, x] * V[h + 1, x]
                else:
                    for x in range(S):
                        chance += P[h, s, a, x] * reach[later, x]
                        value += P[h, s, a, x] * worth[later, x]
                score = chance + price * value
                if (
                    best < 0.0
                    or score > best + 1e-13 * best
                    or (score >= best - 1e-13 * best and value > worth[now, s] + 1e-13 * value)
                ):
                    best = score
                    reach[now, s] = chance
                    worth[now, s] = value
                    policy[h, s] = a
    chance = 0.0
    value = 0.0
    for s in range(S):
        chance += d1[s] * reach[now, s]
        value += d1[s] * worth[now, s]
    return chance, value


@kernel
def chance_of(P, d1, policy, layer, state, action, here, there):  # type: ignore[no-untyped-def]
    """Chance that a policy takes `action` in `state` at `layer`. here, there: [S], scratch."""
    S = len(d1)
    if policy[layer, state] != action:
        return 0.0
    for s in range(S):
        here[s] = d1[s]
    for h in range(layer):
        for x in range(S):
            there[x] = 0.0
        for s in range(S):
            for x in range(S):
                there[x] += here[s] * P[h, s, policy[h, s], x]
        for x in range(S):
            here[x] = there[x]
    return here[state]


@kernel
def explorers(P, R, d1, V, greedy, floor, layer, pairs, shares):  # type: ignore[no-untyped-def]
    """For each (x, a) the mixture of value at least `floor` that is most likely to take a in x at `layer`.

    pairs: [S, A, 2, H, S], two policies each; shares: [S, A], of the first. Where nothing gets to x in this model, the
    best policy. floor: at most the best policy's value.
    """
    S = len(d1)
    H = len(P)
    A = P.shape[2]
    reach, worth = np.zeros((2, S)), np.zeros((2, S))
    here, there = np.zeros(S), np.zeros(S)
    trial = greedy.copy()
    top = 0.0
    for s in range(S):
        top += d1[s] * V[0, s]
    for x in range(S):
        for a in range(A):
            first, second = pairs[x, a, 0], pairs[x, a, 1]
            for h in range(H):
                for s in range(S):
                    second[h, s] = greedy[h, s]
            shares[x, a] = 1.0
            much, poor = weigh(P, R, d1, V, greedy, layer, x, a, 0.0, first, reach, worth)
            if much <= 0.0:
                for h in range(H):
                    for s in range(S):
                        first[h, s] = greedy[h, s]
                continue
            if poor >= floor:
                continue
            little, rich = chance_of(P, d1, greedy, layer, x, a, here, there), top
            for _ in range(ROUNDS):
                price = (much - little) / (rich - poor)
                chance, value = weigh(P, R, d1, V, greedy, layer, x, a, price, trial, reach, worth)
                if chance + price * value <= much + price * poor + SLACK * (much - little):
                    break
                better = second if value >= floor else first
                for h in range(H):
                    for s in range(S):
                        better[h, s] = trial[h, s]
                if value >= floor:
                    little, rich = chance, value
                else:
                    much, poor = chance, value
            shares[x, a] = (rich - floor) / (rich - poor)


PLAN = "void(float64[:,:,:,::1], float64[:,:,::1], int64[:,::1], float64[:,::1])"
EXPLORERS = (
    "void(float64[:,:,:,::1], float64[:,:,::1], float64[::1], float64[:,::1], int64[:,::1], float64, int64, "
    "int64[:,:,:,:,::1], float64[:,::1])"
)

ALGORITHM = replace(
    sdp_pe.ALGORITHM,
    key="sdp-pe-relaxed",
    title="SDP-PE, relaxed",
    summary="SDP-PE with mixtures of policies and one constraint instead of a list: a relaxation that reaches larger "
    "problems.",
    source="after B25 Algorithms 1-3; the relaxation is ours",
    listed=False,
)

APEVE = replace(
    ALGORITHM,
    key="apeve-relaxed",
    title="APEVE, relaxed",
    summary="Relaxed SDP-PE without noise.",
    source="after B25 Algorithms 1-3 without noise; the relaxation is ours",
    privacies=("none",),
)
