"""The table of the fields of an online run, which links, JSON, flags and widgets all use."""

from __future__ import annotations

from dataclasses import fields

from dprl.environments import ENVIRONMENTS, Environment
from dprl.fields import Field
from dprl.learners import ALGORITHMS, NEEDED
from dprl.plugins import Registry, add_plugins
from dprl.privacy import MECHANISMS, PRIVATIZERS, Mechanism, outside
from dprl.simulation import schedules, structure

# Here all registries are complete: one module of a package may register entries of several kinds.
add_plugins(
    outside.GROUP, MECHANISMS, tuple(f.name for f in fields(Mechanism)), outside.refusal, outside.offer
)
add_plugins("dprl.environments", ENVIRONMENTS, tuple(f.name for f in fields(Environment)))
add_plugins("dprl.learners", ALGORITHMS, NEEDED)

DEFAULT_DELTA = 1e-6
MOST_OF_ONE = 1000  # episodes
TIED = "1/(10K)"  # a delta that is small compared with 1 / users

# Fields that return to their defaults when another field changes, because they lose their meaning.
BELONGS = {
    "environment": ("environment_params", "structure"),
    "algorithm": ("algorithm_params",),
    "privacy": ("mechanism", "calibration", "delta", "reports"),
    "calibration": ("mechanism", "delta"),
    "mechanism": ("delta",),
}

FIELDS: Registry[Field] = Registry(
    (f.name, f)
    for f in (
        Field(
            "environment", "choice", "riverswim", "the environment",
            choices=tuple(ENVIRONMENTS), query="env", flag="--env",
        ),
        Field("environment_params", "params", {}, "its parameters", query="envp", flag="--env-param"),
        Field(
            "algorithm", "choice", "dp-ucbvi", "the algorithm",
            choices=tuple(ALGORITHMS), query="alg", flag="--algorithm",
        ),
        Field("algorithm_params", "params", {}, "its parameters", query="algp", flag="--algorithm-param"),
        Field(
            "structure", "text", None,
            f"declares, as public, which transitions are possible at all: {structure.OWN}, those that the environment "
            "allows; by default all",
            optional=True, query="str", flag="--structure",
        ),
        Field(
            "privacy", "choice", None, "the privacy model; by default the algorithm's first",
            choices=tuple(PRIVATIZERS), optional=True, query="priv", flag="--privacy",
        ),
        Field(
            "mechanism", "choice", None, "noise mechanism; by default the first of the privacy model's that fits",
            choices=tuple(MECHANISMS), optional=True, query="mech", flag="--mechanism",
        ),
        Field(
            "calibration", "choice", None, "size of the noise: calibrated to (epsilon, delta), or as in the "
            "paper",
            choices=("calibrated", "paper"), optional=True, query="cal", flag="--calibration",
        ),
        Field(
            "reports", "choice", None,
            "reports that a row (h, s, a) adds up: from all users, or (played) only from users who were told to "
            "take a in s at h; by default the privacy model's choice, or all if a mechanism is named",
            choices=("all", "played"), optional=True, query="rep", flag="--reports",
        ),
        Field(
            "epsilon", "float", 1.0, "privacy budget: smaller is more private", 0.001, 10_000.0,
            optional=True, query="eps", flag="--epsilon",
        ),
        Field(
            "delta", "float", None,
            "probability on top of exp(epsilon), by default 1e-6, or 0 for Laplace noise as in the paper", 0.0, 0.1,
            optional=True, query="delta", flag="--delta", words=(TIED,),
        ),
        Field(
            "beta", "float", 0.1, "failure probability of the algorithm's bounds", 1e-9, 0.5,
            optional=True, query="beta", flag="--beta",
        ),
        Field(
            "bonus", "choice", None, "constants of the bonus; by default the algorithm's first",
            choices=("anytime", "paper", "practical", "own"), optional=True, query="bonus", flag="--bonus",
        ),
        Field("episodes", "int", 10**9, "number of users, K", 1, 10**15, query="K", flag="--episodes"),
        Field(
            "contribution", "int", 1,
            "m, the maximum number of episodes of one user, which is public; privacy protects all of them",
            1, MOST_OF_ONE, query="m", flag="--contribution",
        ),
        Field("schedule", "text", schedules.DEFAULT, schedules.ALLOWED, query="sched", flag="--schedule"),
        Field("seeds", "int", 5, "independent repetitions", 1, 10_000, query="seeds", flag="--seeds"),
        Field("root_seed", "int", 0, "seed of the random numbers", 0, 2**53 - 1, query="seed", flag="--root-seed"),
    )
)  # fmt: skip
