"""Data sets of people in a known model, as files and as counts, and what is learned from them and checked."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dprl.learners.offline.learner import Learned
from dprl.mdp import TabularMDP, planning
from dprl.privacy.attack import unit_noise
from dprl.privacy.curator import ONCE
from dprl.privacy.exact import STEPS
from dprl.simulation import UploadSpec, datasets
from dprl.simulation.loops.offline import Curator, learned_from
from dprl.simulation.uploads import check
from dprl.simulation.uploads.declaration import declaration_text
from dprl.simulation.uploads.noise import noise_of, upload_problem_of
from dprl.simulation.uploads.reach import BETTER, made_up, useful
from dprl.simulation.uploads.run import fitted_to


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
    """n people who come again as long as an episode went badly, up to MOST_OF_ONE times: from the state where they
    ended, and treated otherwise than before. Beside their episodes, [episodes] whose each is."""
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
    """Of one data set: what the policy is worth and its bound, what people held out say of it, and what was learned."""

    worth: float
    bound: float
    checked: dict[str, np.ndarray]
    learned: Learned


def outcome(spec: UploadSpec, model: TabularMDP, behaviour: str, seed: int) -> Outcome:
    """A data set of a known model, of people who come once."""
    rng = np.random.default_rng(seed)
    counted = datasets.sample(rng, model, datasets.parts(behaviour, model), spec.learned_from)
    return released(spec, model, counted, treated(model, behaviour, spec.checked, rng), rng)


def outcome_of_returning(spec: UploadSpec, model: TabularMDP, seed: int) -> Outcome:
    """A data set of a known model, of people who come again."""
    rng = np.random.default_rng(seed)
    some, others = (returning(model, n, rng)[0] for n in (spec.learned_from, spec.checked))
    return released(spec, model, record_of(model, some), others, rng)


def released(
    spec: UploadSpec, model: TabularMDP, record: np.ndarray, others: People, rng: np.random.Generator
) -> Outcome:
    """What is learned from some, of whom this is the record, and checked by others, as `UploadRun` does it, but with
    noise for simulation."""
    noise, errors = noise_of(spec)
    assert noise.mechanism is not None
    problem = replace(upload_problem_of(spec), errors=errors)
    people = held(model, others, problem.rewards is not None)
    learned, told = learned_from(Curator((record,), noise, errors, rng), spec.learner.plan(problem))
    std = float(noise.mechanism.std(ONCE)[0])
    scales = [noise.scales[name] for name in check.names(problem.episodes)]
    fitted, table = fitted_to(problem, learned, told, noise, errors)
    unit = unit_noise(noise.mechanism, ONCE, len(scales), rng)[0]
    sums = np.array([float(each) for each in check.sums(table, people, problem.episodes)]) + scales * unit
    of_sums = std * np.array(scales)
    said = check.assessed(sums, fitted, table, spec.checked, model.H, of_sums, problem.episodes)
    worth = planning.start_value(model, planning.policy_values(model, learned.policy))
    return Outcome(worth, planning.start_value(model, learned.V), said, learned)


def least(good: Callable[[int], bool]) -> float:
    """About the least n that is good, from 10 on."""
    low, high = 10.0, 1e11
    while high > 1.1 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if good(math.ceil(middle)) else (middle, high)
    return high


def bound(spec: UploadSpec, model: TabularMDP, people: tuple[datasets.Part, ...], seeds: int = 3) -> float:
    """Mean bound of the start over so many data sets of n people."""
    noise, errors = noise_of(spec)
    problem, found = replace(upload_problem_of(spec), errors=errors), []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        record = datasets.sample(rng, model, people, spec.n)
        learned = learned_from(Curator((record,), noise, errors, rng), spec.learner.plan(problem))[0]
        found.append(planning.start_value(model, learned.V))
    return float(np.mean(found))


def needed(spec: UploadSpec, model: TabularMDP, people: tuple[datasets.Part, ...]) -> tuple[float, float]:
    """From how many people the bound is useful: as it is forecast, and in the model."""
    models = made_up(spec)
    now = float((datasets.occupancy(model, people) * model.R).sum())
    enough = now + BETTER * (planning.start_value(model, planning.optimum(model).V) - now)
    return (
        least(lambda n: useful(spec.replace(n=n), models)),
        least(lambda n: bound(spec.replace(n=n), model, people) >= enough),
    )
