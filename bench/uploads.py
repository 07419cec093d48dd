"""A data set of a visitor's own: what is said before a release and after it, against models that are known.

python -m bench.uploads forecast
"""

from __future__ import annotations

import io
import json
import math
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dprl import run, upload
from dprl.environments import ENVIRONMENTS
from dprl.learners.offline.learner import Learned
from dprl.mdp import TabularMDP, planning
from dprl.privacy.attack import unit_noise
from dprl.privacy.curator import ONCE
from dprl.privacy.exact import STEPS
from dprl.simulation import UploadSpec, datasets
from dprl.simulation.loops.offline import Curator, learned_from
from dprl.simulation.uploads import check, kept
from dprl.simulation.uploads.declaration import declaration_text
from dprl.simulation.uploads.reach import BETTER, made_up, useful
from dprl.simulation.uploads.run import errors_by_step, fitted_to, noise_of, upload_problem_of
from dprl.simulation.uploads.spec import NOWHERE

HIDDEN: list[tuple[str, dict[str, Any]]] = [  # none of them is among the models of a forecast
    ("riverswim", {}),
    ("clinic", {}),
    ("chain", {}),
    ("gridworld", {}),
    ("random", {"S": 8, "A": 3, "H": 10, "seed": 77}),
    ("random", {"S": 8, "A": 3, "H": 10, "seed": 78, "concentration": 1.0}),
    ("random", {"S": 4, "A": 2, "H": 5, "seed": 79, "concentration": 0.1}),
    ("random", {"S": 12, "A": 4, "H": 15, "seed": 80}),
]


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
    fitted, table = fitted_to(problem, learned, told, noise, errors, errors_by_step(spec))
    unit = unit_noise(noise.mechanism, ONCE, len(scales), rng)[0]
    sums = np.array([float(each) for each in check.sums(table, people, problem.episodes)]) + scales * unit
    quantile = check.QUANTILES[noise.mechanism.key]
    of_sums = std * np.array(scales)
    said = check.assessed(sums, fitted, table, spec.checked, model.H, of_sums, quantile, problem.episodes)
    worth = planning.start_value(model, planning.policy_values(model, learned.policy))
    return Outcome(worth, planning.start_value(model, learned.V), said, learned)


# Of the random models of `verdict`. Where the estimator was mended, models from (1000, 5000) were looked at; these were
# run once, with what is in the code now.
SIZES_FROM, MODELS_FROM = 3000, 60_000


def verdict(models: int = 10, seeds: int = 100, budgets: tuple[float, ...] = (0.1, 1.0)) -> None:
    """How often intervals hold and verdicts are wrong, in random models that nothing was tuned on."""
    print(
        "| rho | n | rewards | learner | learned | behaviour | difference | better | worse | wrong | truly better |"
    )
    for rho, n, known, key in product(budgets, (5000, 20_000), (True, False), ("dp-kl-lcb", "dp-plug-in")):
        hits, verdicts, good = np.zeros(3), Counter[str](), 0
        for i in range(models):
            rng = np.random.default_rng(SIZES_FROM + i)
            size = {
                name: int(rng.integers(*ends))
                for name, ends in (("S", (2, 13)), ("A", (2, 5)), ("H", (3, 13)))
            }
            model = ENVIRONMENTS["random"].make(
                **size, concentration=float(rng.choice([0.2, 1, 3])), seed=MODELS_FROM + i
            )
            behaviour = ("uniform", "mixture:0.7", "epsilon-optimal:0.15", "first:0.7")[i % 4]
            now = float((datasets.occupancy(model, datasets.parts(behaviour, model)) * model.R).sum())
            spec = UploadSpec(
                data=NOWHERE, declared=declared(model, known), n=n, rho=rho, held_out=check.SHARE,
                checked=round(check.SHARE * n), algorithm=key,
            )  # fmt: skip
            for seed in range(seeds):
                one = outcome(spec, model, behaviour, seed)
                truth = {"learned": one.worth, "behaviour": now, "difference": one.worth - now}
                ends = [(one.checked[name], value) for name, value in truth.items()]
                hits += [low - 1e-9 <= value <= high + 1e-9 for (low, _, high), value in ends]
                said, gain = check.verdict(one.checked["difference"]), truth["difference"]
                verdicts[said] += 1
                verdicts["wrong"] += (said == check.BETTER and gain <= 0) or (
                    said == check.WORSE and gain >= 0
                )
                good += gain > 0
        total = models * seeds
        shares = [
            *(hits / total),
            *(verdicts[name] / total for name in ("better", "worse", "wrong")),
            good / total,
        ]
        words = f"{rho:g}", f"{n:,}", "known" if known else "learned", key
        print(
            f"| {' | '.join(words)} | {' | '.join(f'{100 * share:.3g}%' for share in shares)} |", flush=True
        )


def several(models: int = 10, seeds: int = 20) -> None:
    """The same where people come up to MOST_OF_ONE times, for reasons that lie in what happened to them; and how often
    V~ is above the value anywhere."""
    print("| rho | people | rewards | V~ above | learned | behaviour | difference | better | worse | wrong |")
    for rho, n, known in product((0.1, 1.0), (5000, 20_000), (True, False)):
        hits, verdicts, above = np.zeros(3), Counter[str](), 0
        for i in range(models):
            model = ENVIRONMENTS["random"].make(
                S=3 + i % 5, A=2 + i % 2, H=3 + i % 6, concentration=(0.3, 1.0, 3.0)[i % 3], seed=7000 + i
            )
            everybody = returning(model, 100_000, np.random.default_rng(i))[0]
            begun = np.bincount(everybody.s[:, 0], minlength=model.S) / len(everybody.s)
            now = float(model.R[np.arange(model.H), everybody.s, everybody.a].sum(1).mean())
            public = json.loads(declared(model, known)) | {
                "columns": {"person": "who"},
                "episodes": MOST_OF_ONE,
            }
            spec = UploadSpec(
                data=NOWHERE, declared=declaration_text(public), n=n, rho=rho, held_out=check.SHARE,
                checked=round(check.SHARE * n),
            )  # fmt: skip
            for seed in range(seeds):
                one = outcome_of_returning(spec, model, seed)
                V = planning.policy_values(model, one.learned.policy)
                above += bool((one.learned.V > V + 1e-9).any())
                worth = float(begun @ V[0])
                truth = {"learned": worth, "behaviour": now, "difference": worth - now}
                ends = [(one.checked[name], value) for name, value in truth.items()]
                hits += [low - 1e-9 <= value <= high + 1e-9 for (low, _, high), value in ends]
                said = check.verdict(one.checked["difference"])
                verdicts[said] += 1
                verdicts["wrong"] += said != check.CLOSE and (said == check.BETTER) != (worth > now)
        total = models * seeds
        shares = [
            above / total,
            *(hits / total),
            *(verdicts[name] / total for name in ("better", "worse", "wrong")),
        ]
        words = f"{rho:g}", f"{n:,}", "known" if known else "learned"
        print(
            f"| {' | '.join(words)} | {' | '.join(f'{100 * share:.3g}%' for share in shares)} |", flush=True
        )


# Models of the size of a ward in which patients get about 5.38 and 6.73 at best; and the share of them treated best.
WARDS = ((5.0, 899, 0.34), (1.0, 1812, 0.52), (3.0, 1542, 0.39))


def ward(concentration: float, seed: int) -> TabularMDP:
    """8 states, 3 actions, 10 steps."""
    return ENVIRONMENTS["random"].make(S=8, A=3, H=10, seed=seed, concentration=concentration)


def worth(people: int = 20_000, rho: float = 0.1, sets: int = 20) -> None:
    """What the policy is worth that comes of a file, read and released as for people: means of so many data sets."""
    print(
        "| model | rewards | today | best | learned policy, mean | least | bound, mean | better |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    for concentration, number, share in WARDS:
        model, behaviour = ward(concentration, number), f"mixture:{share:g}"
        now = float((datasets.occupancy(model, datasets.parts(behaviour, model)) * model.R).sum())
        best = planning.start_value(model, planning.optimum(model).V)
        for known in (True, False):
            found = []
            for seed in range(sets):
                text = written_down(treated(model, behaviour, people, np.random.default_rng(seed)))
                spec = upload(io.BytesIO(text.encode()), declared(model, known), rho=rho)
                try:
                    trace = run(spec).seeds[0]
                finally:
                    kept.forget(spec.data)
                values = planning.policy_values(model, trace.policy.astype(np.int64))
                value, bound_of = planning.start_value(model, values), float(trace.curve.values[0])
                found.append((value, bound_of, trace.verdict == check.BETTER))
            values, bounds, better = np.array(found).T
            numbers = now, best, values.mean(), values.min(), bounds.mean()
            words = f"{number}", "known" if known else "learned", *(f"{each:.2f}" for each in numbers)
            print(f"| {' | '.join(words)} | {better.mean():.0%} |", flush=True)


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


def forecast(rho: float = 0.1) -> None:
    """From how many people a bound is useful: forecast from public numbers, and in models that it was not made from."""
    print(
        "| model | behaviour | rewards | forecast | in the model | ratio |\n| --- | --- | --- | --- | --- | --- |"
    )
    for name, params in HIDDEN:
        model = ENVIRONMENTS[name].make(**params)
        for behaviour in ("uniform", "mixture:0.7"):
            for known in (True, False):
                spec = UploadSpec(data=NOWHERE, declared=declared(model, known), n=1, rho=rho)
                said, true = needed(spec, model, datasets.parts(behaviour, model))
                words = f"{name} {params or ''}".strip(), behaviour, "known" if known else "learned"
                print(f"| {' | '.join(words)} | {said:.2g} | {true:.2g} | {true / said:.2g} |", flush=True)


def main() -> int:
    measured: dict[str, Callable[[], None]] = {
        "forecast": forecast,
        "verdict": verdict,
        "several": several,
        "worth": worth,
    }
    measured[sys.argv[1]]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
