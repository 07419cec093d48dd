"""The bound of a policy that leaves some cells to somebody else: it holds whatever they do there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dprl import OfflineSpec, TabularMDP
from dprl.learners import OFFLINE
from dprl.learners.offline.learner import Learned, OfflineProblem
from dprl.mdp import Size
from dprl.mdp.counts import empty, transitions, visits
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.simulation import datasets
from dprl.simulation.loops.offline import Curator, learned_from, noise_for
from tests.people import Certain
from tests.problems import few, of_data, random_mdp


def worst(mdp: TabularMDP, policy: Policy, enough: np.ndarray) -> Array:
    """[H + 1, S] what the policy brings where somebody else decides what is not `enough`, and wishes it ill."""
    V = np.zeros((mdp.H + 1, mdp.S))
    for h in range(mdp.H - 1, -1, -1):
        Q = mdp.R[h] + mdp.P[h] @ V[h + 1]
        V[h] = np.where(enough[h], np.take_along_axis(Q, policy[h][:, None], -1)[:, 0], Q.min(-1))
    return V


def shipped(learned: Learned, released: Array, E: float) -> Array:
    """[H, S] where the file of the policy says what to do: the rule of uploads/trace.py."""
    people = np.take_along_axis(visits(released), learned.policy[..., None], -1)[..., 0]
    return np.asarray(people - E >= 1)


def short_of(rng: np.random.Generator, mdp: TabularMDP) -> tuple[datasets.Part, ...]:
    """Behaviour that never takes some of the actions."""
    chances = rng.random((mdp.H, mdp.S, mdp.A)) * (rng.random((mdp.H, mdp.S, mdp.A)) < 0.5)
    chances[..., 0] += 1e-9 * (chances.sum(-1) == 0)
    return (datasets.Part(1.0, chances / chances.sum(-1, keepdims=True)),)


def small(seed: int) -> tuple[np.random.Generator, TabularMDP]:
    rng = np.random.default_rng(seed)
    S, A, H = (int(x) for x in rng.integers(2, 4, size=3))
    return rng, random_mdp(seed, S, A, H, sparse=bool(seed % 2))


def test_what_nobody_did_counts_nothing() -> None:
    """A reader's example: everybody gets the usual care, worth 0; the new one is declared to bring 1 a step."""
    record = empty(2, 2, 2)
    visits(record)[:, :, 0] = 2000
    transitions(record)[:, :, 0] = 1000
    rewards = np.broadcast_to([0.0, 1.0], (2, 2, 2)).copy()
    problem = OfflineProblem(Size(2, 2, 2), 2000, 0.1, {}, rewards, hands_over=True)
    plan = OFFLINE["dp-kl-lcb"].plan
    learned = learned_from(Certain(record), plan(problem))[0]
    assert (learned.V == 0).all()
    assert not shipped(learned, record, 0.0).any()
    alone = learned_from(Certain(record), plan(replace(problem, hands_over=False)))[0]
    assert alone.V[0, 0] == 2  # of a policy that does take the new one
    # an action with evidence is taken where it is worth more than whatever they do
    rewards[..., 0], rewards[..., 1] = 0.9, np.where(np.arange(2) == 0, 0.95, 0.1)
    learned = learned_from(Certain(record), plan(replace(problem, rewards=rewards)))[0]
    enough = shipped(learned, record, 0.0)
    assert (learned.policy[:, 1] == 0).all()
    assert enough[:, 1].all()
    assert learned.V[1, 1] == 0.9
    assert (not enough[1, 0], learned.V[1, 0]) == (True, 0.9)  # the least of 0.9 and 0.95


@pytest.mark.parametrize("key", ["dp-kl-lcb", "dp-apvi"])
def test_true_frequencies_bound_every_completion(key: str) -> None:
    """200 models: without noise, and with counts as they are expected, V~ is below the worst completion."""
    above = 0
    for seed in range(few(200)):
        rng, mdp = small(seed)
        n = int(10 ** rng.uniform(0.5, 6))
        share = datasets.occupancy(mdp, short_of(rng, mdp))
        record = empty(mdp.H, mdp.S, mdp.A)
        visits(record)[...] = n * share
        transitions(record)[...] = n * share[..., None] * mdp.P
        params = {f.name: f.default for f in OFFLINE[key].fields}
        problem = OfflineProblem(mdp.size, n, 0.1, params, mdp.R, hands_over=True)
        for handed in (True, False):
            learned = learned_from(Certain(record), OFFLINE[key].plan(replace(problem, hands_over=handed)))[0]
            least = worst(mdp, learned.policy, shipped(learned, record, 0.0))
            if handed:
                assert (learned.V <= least + 1e-12).all()
            above += not handed and bool((learned.V > least + 1e-12).any())
    assert key != "dp-kl-lcb" or above > few(200) / 2  # what counts on actions that nobody took is found out


@pytest.mark.parametrize("key", ["dp-kl-lcb", "dp-kl-lcb-rewards"])
def test_private_records_bound_every_completion(key: str) -> None:
    """Drawn users, noise of a budget, beta = 0.1: V~ was above the worst completion in none of so many data sets."""
    for seed in range(few(200)):
        rng, mdp = small(1000 + seed)
        n, rho = int(10 ** rng.uniform(1, 5)), float(10 ** rng.uniform(-1, 3))
        known = mdp.R if key == "dp-kl-lcb" else None
        problem = OfflineProblem(mdp.size, n, 0.1, {}, known, hands_over=True)
        noise, errors = noise_for(OfflineSpec(**of_data(key), rho=rho), problem, ())
        curator = Curator((datasets.sample(rng, mdp, short_of(rng, mdp), n),), noise, errors, rng)
        problem = replace(problem, errors=errors)
        learned, released = learned_from(curator, OFFLINE["dp-kl-lcb"].plan(problem))
        enough = shipped(learned, released[0], errors["transitions"])
        assert (learned.V <= worst(mdp, learned.policy, enough) + 1e-12).all()
