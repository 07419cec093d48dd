"""The registry of environments; each environment has its own file."""

from dprl.environments import (
    chain,
    clinic,
    custom,
    gridworld,
    gymnasium,
    hard_jdp,
    linear_mdp,
    linear_mixture,
    linear_synthetic,
    random,
    riverswim,
)
from dprl.environments.environment import Environment
from dprl.plugins import Registry

ENVIRONMENTS: Registry[Environment] = Registry(
    (e.key, e)
    for e in (
        riverswim.ENVIRONMENT,
        gridworld.ENVIRONMENT,
        chain.ENVIRONMENT,
        clinic.ENVIRONMENT,
        hard_jdp.ENVIRONMENT,
        linear_mdp.ENVIRONMENT,
        linear_synthetic.ENVIRONMENT,
        linear_mixture.ENVIRONMENT,
        random.ENVIRONMENT,
        gymnasium.ENVIRONMENT,
        custom.ENVIRONMENT,
    )
)
