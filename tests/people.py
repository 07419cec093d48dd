"""Data sets of people in a known model, as files and as counts, and what is learned from them and checked."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dprl.learners import OFFLINE
from dprl.learners.offline.learner import Learned
from dprl.mdp import Size, TabularMDP, planning
from dprl.privacy.attack import unit_noise
from dprl.privacy.curator import ONCE
from dprl.privacy.exact import STEPS
from dprl.simulation import UploadSpec, datasets
from dprl.simulation.loops.offline import Curator, learned_from
from dprl.simulation.uploads import check
from dprl.simulation.uploads.declaration import declaration_text
from dprl.simulation.uploads.noise import noise_of, upload_problem_of
from dprl.simulation.uploads.run import fitted_to
from dprl.simulation.uploads.spec import LEARNERS
from dprl.statistics.family import Query


def declared(model: TabularMDP, known: bool) -> str:
    """What an owner of data from a model declares, with its rewards or without."""
    start = (model.d1 / model.d1.sum()).tolist()
    rewards = {"rewards": model.R.tolist()} if known else {}
    return declaration_text(
        {"states": model.S, "actions": model.A, "horizon": model.H, "start": start, **rewards}
    )


class People(NamedTuple):
    """n people in a model: [n, H] states, actions, rewards and next states."""

    s: np.ndarray
    a: np.ndarray
    r: np.ndarray
    x: np.ndarray


def treated(model: TabularMDP, behaviour: str, n: int, rng: np.random.Generator) -> People:
    """Each of them follows one part of the behaviour policy to the end."""
    parts = datasets.parts(behaviour, model)
    part = rng.choice(len(parts), n, p=[part.share for part in parts])
    return played(model, np.tile(model.d1, (n, 1)), np.stack([each.policy for each in parts])[part], rng)


def written_down(people: People) -> str:
    """Their CSV, as an owner has it."""
    n, H = people.s.shape
    who, step = np.indices((n, H))
    table = np.stack([who, step, *people], axis=-1).reshape(-1, 6)
    heading = "episode,step,state,action,reward,next_state"
    text, form = io.StringIO(), ["%d", "%d", "%d", "%d", "%.9g", "%d"]
    np.savetxt(text, table, fmt=form, delimiter=",", header=heading, comments="")
    return text.getvalue()


MOST_OF_ONE = 3  # episodes


def returning(model: TabularMDP, n: int, rng: np.random.Generator) -> tuple[People, np.ndarray]:
    """n people who come again after a bad episode, up to MOST_OF_ONE times; and [episodes] whose each is."""
    uniform, best = datasets.uniform_policy(model), planning.optimum(model).policy
    enough = planning.start_value(model, planning.policy_values(model, uniform))
    ways, found, whose = np.stack([uniform, np.eye(model.A)[best]]), [], []
    who, begun, kept_to = np.arange(n), np.tile(model.d1, (n, 1)), rng.integers(0, 2, n)
    for _ in range(MOST_OF_ONE):
        each = played(model, begun, ways[kept_to], rng)
        found.append(each)
        whose.append(who)
        again = each.r.sum(1) < enough
        who, begun, kept_to = who[again], np.eye(model.S)[each.x[again, -1]], 1 - kept_to[again]
    joined = People(*(np.concatenate([getattr(each, name) for each in found]) for name in People._fields))
    return joined, np.concatenate(whose)


def played(model: TabularMDP, begun: np.ndarray, chances: np.ndarray, rng: np.random.Generator) -> People:
    """begun: [n, S] laws of the first state; chances: [n, H, S, A]."""

    def drawn(law: np.ndarray) -> np.ndarray:
        return np.asarray((rng.random(len(law))[:, None] > law.cumsum(-1)[:, :-1]).sum(-1))

    n, found, s = np.arange(len(begun)), [], drawn(begun)
    for h in range(model.H):
        a = drawn(chances[n, h, s])
        x = drawn(model.P[h, s, a])
        r = (rng.random(len(n)) < model.R[h, s, a]) * 1.0 if model.bernoulli else model.R[h, s, a]
        found.append((s, a, r, x))
        s = x
    return People(*(np.stack(each, axis=1) for each in zip(*found, strict=True)))


def record_of(model: TabularMDP, people: People) -> np.ndarray:
    """[H, S, A, S + 2] their counts."""
    S, A, H = model.S, model.A, model.H
    row = ((np.arange(H) * S + people.s) * A + people.a) * (S + 2)
    found = np.zeros(H * S * A * (S + 2))
    for cell, each in ((row + people.x, 1.0), (row + S, 1.0), (row + S + 1, people.r)):
        found += np.bincount(cell.ravel(), np.broadcast_to(each, cell.shape).ravel(), len(found))
    return found.reshape(H, S, A, S + 2)


def held(model: TabularMDP, people: People, known: bool) -> check.HeldOut:
    """These people as those held out."""
    n, H = people.s.shape
    paid = model.R[np.arange(H), people.s, people.a] if known else people.r
    own = np.round(paid.sum(1) / H * STEPS) / STEPS
    return check.HeldOut(
        record_of(model, people), n, np.array([own.sum(), (np.round(own**2 * STEPS) / STEPS).sum()])
    )


class Outcome(NamedTuple):
    """Of one data set: what the two policies are worth, what people held out say, the bound, and what was learned."""

    worth: float
    checked: dict[str, np.ndarray]
    cautious: float
    bound: float
    learned: Learned
    policy: np.ndarray


class Again:
    """A curator who releases what was released before, in the same order. asked: the queries so far."""

    def __init__(self, *told: np.ndarray) -> None:
        self.asked: list[Query] = []
        self._told = iter(told)

    def release(self, query: Query) -> np.ndarray:
        self.asked.append(query)
        return next(self._told)


class Certain:
    """A curator without noise, of a data set or of its halves. asked: the queries so far."""

    def __init__(self, *records: np.ndarray) -> None:
        self.asked: list[Query] = []
        self._records = records

    def release(self, query: Query) -> np.ndarray:
        self.asked.append(query)
        H, S, A, _ = self._records[query.half].shape
        return query.answer(self._records[query.half], np.zeros(query.draws(Size(S, A, H))), 0.0)


def same_tables(learned: Learned, expected: Sequence[np.ndarray], off: float = 1e-10) -> None:
    """Compare what was learned with the same tables by another way: policy, Q_hat, penalty, Q and V."""
    for name, table in zip(("policy", "Q_hat", "penalty", "Q", "V"), expected, strict=True):
        np.testing.assert_allclose(getattr(learned, name), table, rtol=0, atol=off, err_msg=name)


def outcome(spec: UploadSpec, model: TabularMDP, behaviour: str, seed: int) -> Outcome:
    """A data set of a known model, of people who come once."""
    rng = np.random.default_rng(seed)
    counted = datasets.sample(rng, model, datasets.parts(behaviour, model), spec.learned_from)
    return released(spec, model, counted, treated(model, behaviour, spec.checked, rng), rng=rng)


def outcome_of_returning(spec: UploadSpec, model: TabularMDP, seed: int) -> Outcome:
    """A data set of a known model, of people who come again."""
    rng = np.random.default_rng(seed)
    some, others = (returning(model, n, rng)[0] for n in (spec.learned_from, spec.checked))
    return released(spec, model, record_of(model, some), others, rng=rng)


def released(
    spec: UploadSpec,
    model: TabularMDP,
    record: np.ndarray,
    *others: People,
    rng: np.random.Generator,
    policy: np.ndarray | None = None,
) -> Outcome:
    """What is learned from some and checked by others, as `UploadRun` does it, with noise for simulation."""
    noise, errors = noise_of(spec)
    mechanism = noise.mechanism
    assert mechanism is not None
    problem = replace(upload_problem_of(spec), errors=errors)
    people = check.joined(held(model, each, problem.rewards is not None) for each in others)
    learned, told = learned_from(Curator((record,), noise, errors, rng), spec.learner.plan(problem))
    plug_in = learned_from(Again(*told), OFFLINE[LEARNERS[1]].plan(problem))[0]
    policies = (learned.policy, plug_in.policy) if policy is None else (policy, policy)
    models = [fitted_to(problem, policy, told, noise) for policy in policies]
    tables = [table for _, table in models]

    def noisy(part: check.HeldOut, episodes: int, of: str = "") -> np.ndarray:
        scales = [noise.scales[name + of] for name in check.names(episodes)]
        exact = [float(each) for each in check.sums(tables, part, episodes)]
        return np.array(exact + scales * unit_noise(mechanism, ONCE, len(exact), rng)[0])

    found = {"sums": noisy(people, problem.episodes), "ends": np.array([table[2:] for table in tables])}
    if people.groups:
        by_group = [noisy(part, 2, check.BY_GROUP) for part in people.groups]
        found["groups"] = np.array(by_group)
    said = check.results(found, models, noise.scales, spec.checked, problem.episodes)
    worth = [planning.start_value(model, planning.policy_values(model, policy)) for policy in policies]
    chosen = check.recommended(said["difference"])
    bound = planning.start_value(model, learned.V)
    mine = {name: values[chosen] for name, values in said.items()}
    return Outcome(worth[chosen], mine, worth[0], bound, learned, policies[chosen])
