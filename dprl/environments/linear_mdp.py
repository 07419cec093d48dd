"""A lock whose combination is hidden in the measures of a linear MDP.

A patient is in one of `stages` and shows one of `symptoms`; after recovery, nothing changes. The effects of drugs are
known: with symptom j, drug a has effect (a + j) mod drugs, up to a blur. The algorithm has to learn which effect helps
at each stage and step. This effect moves a patient one stage on, and all others lead back to the first stage.
"""

from __future__ import annotations

import numpy as np

from dprl.environments.environment import Environment
from dprl.fields import Field, SpecError
from dprl.mdp import TabularMDP
from dprl.mdp.tabular import Array, normalised


def features(
    stages: int = 3, drugs: int = 3, symptoms: int = 3, H: int = 10, blur: float = 0.2, seed: int = 0
) -> Array:
    """Return the features phi [S, A, d] with d = stages * drugs + 1. Coordinate l * drugs + i is the share of effect i
    at stage l, and the last coordinate is for recovered patients. The shares sum to 1."""
    S, d = stages * symptoms + 1, stages * drugs + 1
    phi = np.zeros((S, drugs, d))
    for stage in range(stages):
        of_stage = slice(stage * drugs, (stage + 1) * drugs)
        for symptom in range(symptoms):
            for a in range(drugs):
                phi[stage * symptoms + symptom, a, of_stage] = blur / drugs
                phi[stage * symptoms + symptom, a, stage * drugs + (a + symptom) % drugs] += 1 - blur
    phi[S - 1, :, d - 1] = 1.0
    return phi


def measures(stages: int, drugs: int, symptoms: int, H: int, seed: int) -> Array:
    """Return each effect's distribution of next states, mu_h [H, d, S]. `seed` fixes helpful effects and symptoms."""
    rng = np.random.default_rng(seed)
    S, d = stages * symptoms + 1, stages * drugs + 1
    mu = np.zeros((H, d, S))
    helps = rng.integers(0, drugs, (H, stages))
    shown = rng.dirichlet(np.ones(symptoms), (H, d))
    for h in range(H):
        for stage in range(stages):
            for i in range(drugs):
                row = stage * drugs + i
                on = stage + 1 if i == helps[h, stage] else 0
                if on == stages:
                    mu[h, row, S - 1] = 1.0
                else:
                    mu[h, row, on * symptoms : (on + 1) * symptoms] = shown[h, row]
    mu[:, d - 1, S - 1] = 1.0
    return mu


def make(
    stages: int = 3, drugs: int = 3, symptoms: int = 3, H: int = 10, blur: float = 0.2, seed: int = 0
) -> TabularMDP:
    """Build the linear MDP with hidden measures. Each step after recovery pays 1; first symptoms are equally likely."""
    phi = features(stages, drugs, symptoms, H, blur, seed)
    S, d = phi.shape[0], phi.shape[-1]
    theta = np.zeros((H, d))
    theta[:, d - 1] = 1.0
    P, R = linear_model(phi, measures(stages, drugs, symptoms, H, seed), theta)
    return TabularMDP(
        name="Linear MDP (lock)",
        P=P,
        R=R,
        d1=np.where(np.arange(S) < symptoms, 1.0 / symptoms, 0.0),
        state_labels=(
            *(f"stage {stage}, symptom {j}" for stage in range(stages) for j in range(symptoms)),
            "recovered",
        ),
        action_labels=tuple(f"drug {a}" for a in range(drugs)),
        bernoulli=False,
    )


ENVIRONMENT = Environment(
    key="linear-mdp",
    title="Linear MDP (lock)",
    summary="Synthetic patients whose symptoms show how each drug mixes the known effects. The algorithm has to learn "
    "which effect helps at each stage and step.",
    source="ours, based on Jin et al. 2020, Assumption A",
    fields=(
        Field("stages", "int", 3, "stages before recovery", low=1, high=6),
        Field("drugs", "int", 3, "number of drugs, and of effects", low=2, high=6),
        Field("symptoms", "int", 3, "symptoms that a stage may show", low=1, high=6),
        Field("H", "int", 10, "steps in an episode", low=1, high=100),
        Field("blur", "float", 0.2, "share of each drug that is spread evenly over all effects", 0.0, 0.9),
        Field("seed", "int", 0, "seed of the symptoms and the helpful effects", low=0, high=2**53 - 1),
    ),
    make=make,
    size=lambda stages, drugs, symptoms, H, blur, seed: (stages * symptoms + 1, drugs, H, stages * drugs + 1),
    features=features,
)


def linear_model(features: Array, measures: Array, rewards: Array) -> tuple[Array, Array]:
    """Return P [H, S, A, S] and R [H, S, A] of a linear MDP (Jin et al. 2020, Assumption A).

    phi [S, A, d] has norm at most 1, and theta_h [H, d] at most sqrt d. mu_h [H, d, S] is nonnegative, with |mu_h v| <=
    sqrt d for every v in [0, 1]^S. Raises SpecError if this does not hold, or if a row is not a distribution.
    """
    d = features.shape[-1]
    for name, values, most in (
        ("features", np.linalg.norm(features, axis=-1), 1.0),
        ("measures", np.linalg.norm(measures.sum(-1), axis=-1), np.sqrt(d)),
        ("rewards", np.linalg.norm(rewards, axis=-1), np.sqrt(d)),
    ):
        longest = float(np.max(values))
        if not longest <= most * (1 + 1e-9):
            raise SpecError(
                name, f"their norm is {longest:.3g}, but at most {most:.3g} is allowed; scale them."
            )
    if measures.min() < 0:
        raise SpecError("measures", "a number below 0 is not allowed; give numbers of at least 0.")
    P = normalised("measures", np.einsum("sai,hix->hsax", features, measures))
    R = np.einsum("sai,hi->hsa", features, rewards)
    if R.min() < -1e-12 or R.max() > 1 + 1e-12:
        raise SpecError("rewards", "a mean reward is not between 0 and 1; give other numbers.")
    return P, np.clip(R, 0.0, 1.0)
