"""SDP-PE (B25, Algorithms 1-3): policy elimination on fresh private batches, and APEVE, its non-private form.

The active set is explicit: all A^(S H) deterministic policies to begin with, so small problems only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from dprl.fields import Field
from dprl.kernels import kernel
from dprl.learners.tabular.planner import Problem

MAX_POLICIES = 10**6
MAX_WORK = 3 * 10**8  # of `work`, for one stage


@dataclass(frozen=True)
class PolicyElimination:
    """A learner that plays stages of several policies each, and drops policies that look worse than the best.

    `input`, `bonuses`, `fields` and `privacies` as in Algorithm; its schedule is its own. listed: it keeps a list of
    all policies that are active.
    """

    key: str
    title: str
    summary: str
    source: str
    privacies: tuple[str, ...]
    fields: tuple[Field, ...]
    bonuses: tuple[str, ...] = ("practical", "paper")
    input: str = "consistent"
    noise_weight: None = None
    listed: bool = True

    def seconds(self, H: int, S: int, A: int) -> float:
        """About how long planning a stage takes, where it is the most of it."""
        return 0.0 if self.listed else 1e-8 * work(H, S, A)

    def refusal(self, H: int, S: int, A: int) -> str:
        """Why a problem of this size is too large, and what fits; "" when it is not."""
        if self.listed and policies_to_keep(H, S, A) is None:
            return (
                f"{self.key} keeps a list of all A^(S*H) policies, of at most {MAX_POLICIES:,}, and S={S}, A={A}, "
                f"H={H} has {A}^{S * H}; give smaller S, A or H, such as S=2, A=2, H=3, or {self.key}-relaxed."
            )
        if not self.listed and work(H, S, A) > MAX_WORK:
            return (
                f"{self.key} plans for every (h, s, a), and with S={S}, A={A}, H={H} that would take too long; give S, "
                f"A and H with (H*S*A)^2*S at most {MAX_WORK:,}."
            )
        return ""


def work(H: int, S: int, A: int) -> int:
    """About the additions of one backward induction for every (h, s, a)."""
    return (H * S * A) ** 2 * S


def policies_to_keep(H: int, S: int, A: int) -> int | None:
    """A^(S H), or None when that is more than MAX_POLICIES."""
    return None if S * H * log(max(A, 1)) > log(MAX_POLICIES) + 1e-9 else int(A ** (S * H))


def all_policies(H: int, S: int, A: int) -> NDArray[np.int64]:
    """Every deterministic policy, [A^(S H), H, S]."""
    index = np.arange(A ** (S * H))
    digits = [(index // A**j) % A for j in range(H * S)]
    return np.stack(digits, axis=1).reshape(-1, H, S).astype(np.int64)


def iota(problem: Problem) -> float:
    """ln(2 H A K / beta)."""
    return log(2 * problem.H * problem.A * problem.K / problem.beta)


def rarely(problem: Problem, error: float) -> float:
    """Algorithm 2: tuples (h, x, a, x') with m~ at most C1 E H^2 iota are infrequent. E: at least 1 (Lemma 15)."""
    return float(problem.params["C1"]) * max(error, 1.0) * problem.H**2 * iota(problem)


def width(problem: Problem, error: float, users: int) -> float:
    """Algorithm 1: a policy this far below the best active one is eliminated. users: L_b of the stage.

    2C (sqrt(H^5 S^2 A iota / L_b) + S^3 A^2 H^5 E iota / L_b)
    """
    H, S, A, i = problem.H, problem.S, problem.A, iota(problem)
    spread = sqrt(H**5 * S**2 * A * i / users) + S**3 * A**2 * H**5 * max(error, 1.0) * i / users
    return 2 * float(problem.params["C"]) * spread


@kernel
def best_visitors(policies, active, P, d1, layer, chosen):  # type: ignore[no-untyped-def]
    """For each (x, a) the active policy most likely to be in x at `layer` and take a, into chosen [S, A] (lowest wins).

    policies: [N, H, S]; P: [H, S, A, S], rows may sum to less than 1: the rest is lost in an absorbing state.
    """
    N, _, S = policies.shape
    A = chosen.shape[1]
    best = np.full((S, A), -1.0)
    here = np.zeros(S)
    there = np.zeros(S)
    for p in range(N):
        if not active[p]:
            continue
        for s in range(S):
            here[s] = d1[s]
        for h in range(layer):
            for x in range(S):
                there[x] = 0.0
            for s in range(S):
                a = policies[p, h, s]
                for x in range(S):
                    there[x] += here[s] * P[h, s, a, x]
            for x in range(S):
                here[x] = there[x]
        for s in range(S):
            a = policies[p, layer, s]
            if here[s] > best[s, a]:
                best[s, a] = here[s]
                chosen[s, a] = p
    # an action that no active policy takes there is explored by the first active policy, whatever it does
    first = 0
    while not active[first]:
        first += 1
    for s in range(S):
        for a in range(A):
            if best[s, a] < 0.0:
                chosen[s, a] = first


@kernel
def policy_values(policies, active, P, R, d1, values):  # type: ignore[no-untyped-def]
    """Value of each active policy from d1 under P (see best_visitors) and R [H, S, A], into values [N]; others -1."""
    N, H, S = policies.shape
    V = np.zeros(S)
    before = np.zeros(S)
    for p in range(N):
        values[p] = -1.0
        if not active[p]:
            continue
        for s in range(S):
            V[s] = 0.0
        for h in range(H - 1, -1, -1):
            for s in range(S):
                a = policies[p, h, s]
                total = R[h, s, a]
                for x in range(S):
                    total += P[h, s, a, x] * V[x]
                before[s] = total
            for s in range(S):
                V[s] = before[s]
        total = 0.0
        for s in range(S):
            total += d1[s] * V[s]
        values[p] = total


VISITORS = "void(int64[:,:,::1], boolean[::1], float64[:,:,:,::1], float64[::1], int64, int64[:,::1])"
VALUES = (
    "void(int64[:,:,::1], boolean[::1], float64[:,:,:,::1], float64[:,:,::1], float64[::1], float64[::1])"
)

ALGORITHM = PolicyElimination(
    key="sdp-pe",
    title="SDP-PE",
    summary="Eliminates policies stage by stage from shuffled batches, each used once; small problems only.",
    source="B25 Algorithms 1-3",
    privacies=("shuffle", "none"),
    fields=(
        Field("C", "float", 1.0, "multiplier of the confidence width; 1 as printed", low=0.0, high=100.0),
        Field(
            "C1", "float", 6.0, "multiplier of the infrequency threshold; 6 as printed", low=0.0, high=1000.0
        ),
    ),
)

APEVE = replace(
    ALGORITHM,
    key="apeve",
    title="APEVE",
    summary="SDP-PE without noise: eliminates policies stage by stage (after Qiao et al. 2022).",
    source="B25 Algorithms 1-3 without noise",
    privacies=("none",),
)
