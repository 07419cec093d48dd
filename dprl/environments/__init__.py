"""Environments: one file each, one line each here."""

from dprl.environments import random, riverswim
from dprl.environments.environment import Environment

ENVIRONMENTS: dict[str, Environment] = {
    e.key: e
    for e in (
        riverswim.ENVIRONMENT,
        random.ENVIRONMENT,
    )
}

__all__ = ["ENVIRONMENTS", "Environment"]
