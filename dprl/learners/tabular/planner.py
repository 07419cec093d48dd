"""The record every algorithm file offers to the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from dprl.fields import Field
from dprl.mdp.tabular import Array

# kernel signature of a planner: (released, E, constants, Q, V, policy).
# released: [H, S, A, S + 2], see mdp/counts.py: the only thing a planner learns about users;
# E: the error bound in use, in counts; constants: [..], from `Algorithm.constants`;
# Q: [H, S, A], the previous optimistic values, overwritten; V: [H + 1, S] and policy: [H, S], overwritten.
SIGNATURE = "void(float64[:,:,:,::1], float64, float64[::1], float64[:,:,::1], float64[:,::1], int64[:,::1])"


@dataclass(frozen=True)
class Problem:
    """What an algorithm's constants may depend on, all public: sizes, users K, failure probability beta, the privacy
    budget epsilon (None without privacy) and whether noise is calibrated as printed."""

    H: int
    S: int
    A: int
    K: int
    beta: float
    epsilon: float | None
    calibration: str | None
    bonus: str
    params: dict[str, Any]

    @property
    def T(self) -> int:
        """Steps in the whole run, K * H."""
        return self.K * self.H


@dataclass(frozen=True)
class Algorithm:
    """A learner that replans at release times from released counts.

    privacies: keys of the privatizers it may be run with, the first is the default;
    input: `consistent` counts (post-processed, section 5.1 of QW23-online) or `raw` noisy ones;
    plan: kernel with SIGNATURE; constants(problem): array handed to it at every call;
    bonuses: which sets of constants it has; noise_weight(problem): multiplier of E/n in its bonus, if it has one:
    previews say from it how many users a run needs.
    """

    key: str
    title: str
    summary: str
    source: str
    privacies: tuple[str, ...]
    input: Literal["consistent", "raw"]
    plan: Callable[..., None]
    constants: Callable[[Problem], Array]
    bonuses: tuple[str, ...] = ("practical", "paper")
    fields: tuple[Field, ...] = ()
    noise_weight: Callable[[Problem], float] | None = None


CAP = Field(
    "cap",
    "choice",
    "H",
    "ceiling of Q at step h: H as printed, or the reward that is left, H-h",
    choices=("H", "H-h"),
)


def cap_step(params: dict[str, Any]) -> float:
    """By how much the ceiling of Q falls at each step: 0 for H, 1 for H-h."""
    return 1.0 if params["cap"] == "H-h" else 0.0
