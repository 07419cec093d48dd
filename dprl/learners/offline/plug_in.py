"""The plug-in policy: value iteration on noisy frequencies, without a penalty for uncertainty and so without a bound.

It requests the same sums as DP-KL-LCB (kl_lcb.py), so both can plan from one release. We assume that a row which may
have no visits leads to the state with the smallest value.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dprl.learners.offline import kl_lcb
from dprl.learners.offline.learner import Learned, OfflineProblem, Plan
from dprl.mdp import counts
from dprl.mdp.tabular import Array
from dprl.statistics import REWARDS, TRANSITIONS

UNPROVED = "no penalty is subtracted for noise and chance, so the values rank actions but are not bounds"


def plan(problem: OfflineProblem) -> Plan:
    """Request the noisy counts (and sums of rewards if mean rewards are not known), and plan from them."""
    released = yield TRANSITIONS
    if problem.rewards is not None:
        return planned(problem, released, problem.rewards)
    sums = yield REWARDS
    return planned(problem, released, kl_lcb.reward_bounds(problem, released, sums)[0])


def planned(problem: OfflineProblem, released: Array, r: Array) -> Learned:
    """Run value iteration on the released counts with mean rewards r [H, S, A], without a penalty."""
    S, A, H, _ = problem.size
    E = problem.errors.get(kl_lcb.COUNTS, 0.0)
    Q, V, policy = np.zeros((H, S, A)), np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64)
    for h in range(H - 1, -1, -1):
        W = V[h + 1]
        known, n, _ = kl_lcb.visited(counts.visits(released[h]), E)
        PW = np.clip(counts.transitions(released[h]) @ W / n, W.min(), W.max())
        Q[h] = np.clip(r[h] + np.where(known, PW, W.min()), 0.0, H - h)
        policy[h] = Q[h].argmax(-1)  # the lowest of equally good actions
        V[h] = Q[h].max(-1)
    return Learned(policy, Q, np.zeros((H, S, A)), Q, V)


PLUG_IN = replace(
    kl_lcb.KL_LCB,
    key="dp-plug-in",
    title="DP plug-in",
    summary="Offline, tabular: value iteration on the counts that DP-KL-LCB releases, without a penalty. It "
    "ranks actions, but gives no bound.",
    source="certainty equivalence with the releases of our DP-KL-LCB",
    baseline="dp-plug-in",
    plan=plan,
    unproved=lambda params: UNPROVED,
    proved="",
)
