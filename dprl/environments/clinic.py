"""A synthetic clinic, the papers' motivating example: patients are treated one after another."""

from __future__ import annotations

import numpy as np

from dprl.environments.environment import Environment, homogeneous, horizon
from dprl.fields import Field
from dprl.mdp import TabularMDP

SEVERITIES = ("mild", "moderate", "severe", "critical", "extreme")
DOSES = ("no drug", "low dose", "medium dose", "high dose", "very high dose")


def make(
    levels: int = 3, doses: int = 3, H: int = 8, effect: float = 0.7, toxicity: float = 0.5
) -> TabularMDP:
    """Build a clinic: `levels` grades of severity, each with or without side effects, and `doses` doses of one drug.

    The model is synthetic and uses no clinical data. Let d = dose / largest dose. A patient improves by one grade with
    probability 0.05 + effect d / (d + 1/2), worsens with probability 0.1 (1 - d), or stays, and has side effects in the
    next step with probability toxicity d^2. Side effects halve the first probability and add 0.15 to the second. Beyond
    the mildest grade is recovery, and beyond the worst is relapse; both are final. A step pays 1 after recovery, 0
    after relapse, and from 0.4 in the mildest grade down to 0 in the worst, less 0.1 (but at least 0) for side effects.
    """
    S = 2 * levels + 2
    recovered, relapsed = S - 2, S - 1
    P = np.zeros((S, doses, S))
    R = np.zeros((S, doses))
    P[recovered, :, recovered] = P[relapsed, :, relapsed] = 1.0
    R[recovered] = 1.0
    for grade in range(levels):
        for side in (0, 1):
            s = 2 * grade + side
            R[s] = max(0.4 * (levels - 1 - grade) / max(levels - 1, 1) - 0.1 * side, 0.0)
            for a in range(doses):
                d = a / max(doses - 1, 1)
                better = (0.05 + effect * d / (d + 0.5)) * (0.5 if side else 1.0)
                worse = 0.1 * (1 - d) + (0.15 if side else 0.0)
                better, worse = min(better, 1.0), min(worse, 1.0 - min(better, 1.0))
                ill = toxicity * d * d
                for step, chance in ((-1, better), (1, worse), (0, 1 - better - worse)):
                    to = grade + step
                    if to < 0:
                        P[s, a, recovered] += chance
                    elif to == levels:
                        P[s, a, relapsed] += chance
                    else:
                        P[s, a, 2 * to] += chance * (1 - ill)
                        P[s, a, 2 * to + 1] += chance * ill
    start = np.zeros(S)
    start[2 : 2 * levels : 2] = 1.0  # every grade but the mildest, without side effects
    if not start.any():
        start[0] = 1.0
    grades = SEVERITIES[:levels]
    return homogeneous(
        "Clinic (synthetic)",
        P,
        R,
        start=start / start.sum(),
        H=H,
        state_labels=(
            *(label for g in grades for label in (g, f"{g}, side effects")),
            "recovered",
            "relapsed",
        ),
        action_labels=DOSES[:doses],
    )


ENVIRONMENT = Environment(
    key="clinic",
    title="Clinic",
    summary="Synthetic patients: the benefit of a drug saturates as the dose grows, and side effects increase.",
    source="ours; motivated by the papers, without clinical data",
    fields=(
        Field("levels", "int", 3, "grades of severity", low=1, high=5),
        Field("doses", "int", 3, "number of doses to choose from, including no drug", low=2, high=5),
        horizon(8),
        Field("effect", "float", 0.7, "effect of the drug", low=0.0, high=1.0),
        Field("toxicity", "float", 0.5, "chance of side effects at the largest dose", low=0.0, high=1.0),
    ),
    make=make,
    size=lambda levels, doses, H, effect, toxicity: (2 * levels + 2, doses, H),
)
