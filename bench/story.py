"""Compute the data of the story on Home: users in a river, noise in their counts, and an algorithm that learns.

`python -m bench.bundled start` stores it in assets/start.json. The users of the first four scenes follow the best
policy. The noise comes from runs at each of EPSILONS; the learning scene shows a run and its non-private baseline.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dprl import run
from dprl.environments import ENVIRONMENTS
from dprl.mdp import TabularMDP, planning
from dprl.mdp.counts import visits
from dprl.mdp.tabular import Array
from dprl.research.one_user import apart, episode
from dprl.simulation import RunSpec, SeedTrace
from dprl.simulation.trace import Ints

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
FIRST = EPSILONS.index(1.0)  # first position of the slider
SPEC = RunSpec(episodes=3 * 10**7, seeds=1)
USERS = 94  # at the release of these runs that is closest to a hundred users
CROWD = 10.0**0.2  # smallest factor between two moments of learning that are shown
DIGITS = 4


def world() -> TabularMDP:
    return ENVIRONMENTS[SPEC.environment].make(**SPEC.environment_params)


def path(mdp: TabularMDP, policy: Ints, random: np.random.Generator) -> list[int]:
    """Draw the states that a user who follows a policy [H, S] visits, one for each step."""
    return episode(mdp.P, mdp.d1, policy, random)[0]


def digits(values: Any) -> str:
    """Return states or actions, of which there are at most ten, as one string of digits."""
    return "".join(str(int(value)) for value in np.ravel(values))


def short(values: Any) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values]


def noise(trace: SeedTrace, policy: Ints) -> Array:
    """Return the noise in the visit counts of a policy's actions at each detail of a run, [D, H, S]."""
    drawn = visits(trace.noisy) - visits(trace.counts)
    return np.asarray(np.take_along_axis(drawn, policy[None, :, :, None], axis=3)[..., 0])


def lost(trace: SeedTrace, at: Ints) -> list[float]:
    """Return the share of V* that an average episode has lost so far, interpolated at these numbers of users."""
    average = np.interp(at, trace.episodes, trace.regret / trace.episodes)
    return short(average / trace.v_star)


def learning(mdp: TabularMDP, random: np.random.Generator) -> dict[str, Any]:
    """Return what a run at epsilon 1 has learned at several numbers of users: the share of V* lost, the policy, and
    one user's path."""
    trace = run(SPEC).seeds[0]
    shown = apart(trace.detail_episodes, CROWD)
    at = trace.detail_episodes[shown]
    policies = [trace.policy[i].astype(np.int64) for i in shown]
    return {
        "epsilon": SPEC.epsilon,
        "users": at.tolist(),
        "lost": lost(trace, at),
        "baseline": lost(run(SPEC.baseline()).seeds[0], at),
        "policies": [digits(policy) for policy in policies],
        "paths": [digits(path(mdp, policy, random)) for policy in policies],
    }


def race(best: Ints, far: float) -> dict[str, Any]:
    """Return the noise in all counts of USERS users at each epsilon and finally without noise, and one count over time.

    far: the probability that a user is at the far end at the last step; the number of users there is the one count.
    """
    found: dict[str, Any] = {"epsilons": EPSILONS, "first": FIRST, "std": [], "cells": [], "users": []}
    found |= {"true": [], "noisy": []}
    for epsilon in EPSILONS:
        trace = run(SPEC.replace(epsilon=epsilon)).seeds[0]
        drawn, at = noise(trace, best), trace.detail_episodes
        (here,) = np.flatnonzero(at == USERS)
        shown = apart(at, CROWD)
        counted = np.round(far * at[shown])
        found["std"].append(float(f"{trace.guarantee.noise_std:.{DIGITS}g}"))
        found["cells"].append(np.round(drawn[here]).astype(int).ravel().tolist())
        found["users"].append(at[shown].tolist())
        found["true"].append(counted.astype(int).tolist())
        found["noisy"].append(np.round(counted + drawn[shown, -1, -1]).astype(int).tolist())
    for name, none in (("std", 0), ("cells", [0] * best.size)):  # finally without noise
        found[name].append(none)
    found["users"].append(found["users"][-1])
    for name in ("true", "noisy"):
        found[name].append(found["true"][-1])
    return found


def story() -> dict[str, Any]:
    """Return all data of the story, as JSON data. Places and actions are digits, one for each step.

    Raises:
        RuntimeError: another user has the same path as the last one.
    """
    mdp, random = world(), np.random.default_rng(SPEC.root_seed)
    best = planning.optimum(mdp).policy.astype(np.int64)
    paths = [digits(path(mdp, best, random)) for _ in range(USERS)]
    if paths.count(paths[-1]) > 1:
        raise RuntimeError("Another user has the same path as the last user.")
    far = planning.occupancy(mdp, best)[-1, -1]
    return {
        "spec": SPEC.to_dict(),
        "places": mdp.S,
        "steps": mdp.H,
        "rewards": short([mdp.R[0, 0].max(), mdp.R[0, -1].max()]),
        "policy": digits(best),
        "paths": paths,
        "noise": race(best, float(far)),
        "learning": learning(mdp, random),
    }
