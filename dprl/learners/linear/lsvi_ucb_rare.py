"""LSVI-UCB that plans rarely (after Ngo, Vietri, Wu 2022): least-squares value iteration as in lsvi_ucb.py, at the few
times at which a direction of a released matrix has doubled.

Of that paper the abstract was read, and what others say of it. Schedule, noise and constants are ours:
docs/notes/rare-switching.md has them, with what is proved.
"""

from __future__ import annotations

import numpy as np

from dprl.kernels import kernel
from dprl.learners.linear.lsvi_ucb import anytime, anytime_confidence, anytime_constants
from dprl.learners.linear.switching import SwitchingLearner, SwitchingPlan, SwitchingPlanner
from dprl.mdp.tabular import Array


@kernel
def step(
    h: int,
    released: Array,
    shift: float,
    pull: float,
    users: int,
    features: Array,
    constants: Array,
    plan: SwitchingPlan,
) -> None:
    """Step h as LSVI-UCB plans it, and then what the vector of step h - 1 is of."""
    # this plan has all that is written there
    anytime(h, released, shift, pull, users, features, constants, plan)  # type: ignore[arg-type]
    if h > 0:
        S, unit = plan.V.shape[1], plan.unit[h - 1]
        for x in range(S):
            plan.asked[h - 1, 0, x] = plan.V[h, x] / unit
        plan.asked[h - 1, 0, S] = -plan.middle[h - 1] / unit
        plan.asked[h - 1, 0, S + 1] = 1.0 / unit


def last_rewards(S: int) -> Array:
    """Of the last step: r - 1/2."""
    return np.array([[0.0] * S + [-0.5, 1.0]])


ALGORITHM = SwitchingLearner(
    key="lsvi-ucb-rare",
    title="LSVI-UCB (rare)",
    summary="LSVI-UCB that updates its policy only where released matrices say that much more is known in a direction.",
    source="after Ngo, Vietri, Wu 2022 (abstract read); Zhou 2026 (abstract read)",
    reconstructed=True,
    planners={
        "anytime": SwitchingPlanner(
            step, anytime_constants, last_rewards, anytime_confidence, lambda problem: problem.bound
        )
    },
    note="Its paper's text could not be had: when it looks and plans, its noise and its bonus are ours. Privacy and "
    "optimism are proved, and for how long a policy may be kept; no bound on regret is.",
)
