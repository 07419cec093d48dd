"""Measure how many users are needed to learn: `python -m bench.bundled users` stores numbers and a fitted power law.

For every problem, privacy model and epsilon, one run of USERS users gives the number of users from which an average
episode has lost at most each share of V*. The noise is set for all USERS, which is up to a tenth more than for the few
that are needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.kinds import DRAWN, HIDDEN, Kinds
from dprl import RunSpec, run
from dprl.environments import ENVIRONMENTS
from dprl.metrics import search
from dprl.papers.report import version
from dprl.simulation import online
from dprl.users import MODELS, MOST, Asked, Check, Problem, Table, beyond, curve
from dprl.users.answer import straight
from dprl.users.law import LEARNED, Point, crossed, factor, fitted, held_out, off, signal, weights

EPSILONS = (0.02, 0.1, 0.5, 2.0, 5.0, 15.0)
LOSSES = (0.01, 0.02, 0.05, 0.1)
DELTA = 1e-6
USERS = int(MOST)
SEEDS = 3
# Problems for each kind, their number for kinds outside the fit, and their budgets.
EACH, EACH_HIDDEN = 4, 1
DRAWN_EPSILONS = (0.1, 1.0, 8.0)
# Settings of the runs to compare with: between those above, and at other values of delta.
BETWEEN = ((1.0, DELTA),)
OTHER_DELTAS = ((1.0, 1e-9), (1.0, 1e-4))
OTHER_LOSSES = (0.014, 0.032, 0.07)


@dataclass(frozen=True)
class Case:
    """An environment at one size. key: its name in links; title: its name in menus."""

    key: str
    title: str
    environment: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def spec(
        self, model: str = "none", epsilon: float = 1.0, delta: float = DELTA, root_seed: int = 0
    ) -> RunSpec:
        """Return the run that measures this case, with defaults for everything not given."""
        return RunSpec(
            environment=self.environment,
            environment_params=self.params,
            privacy=model,
            epsilon=epsilon,
            delta=delta,
            episodes=USERS,
            seeds=SEEDS,
            root_seed=root_seed,
        )

    @property
    def size(self) -> tuple[int, int, int]:
        """Return the numbers of states, actions and steps."""
        S, A, H = ENVIRONMENTS[self.environment].size(**self.spec().environment_params)[:3]
        return S, A, H


# Two or three sizes of each environment, from tiny to the largest that runs in seconds.
MEASURED = (
    Case("riverswim", "RiverSwim", "riverswim"),
    Case("riverswim-small", "RiverSwim, short", "riverswim", {"S": 4, "H": 10}),
    Case("riverswim-large", "RiverSwim, long", "riverswim", {"S": 10, "H": 30}),
    Case("riverswim-strehl", "RiverSwim of Strehl and Littman", "riverswim", {"variant": "strehl-littman"}),
    Case("gridworld", "Gridworld", "gridworld"),
    Case("gridworld-small", "Gridworld, small", "gridworld", {"map": "S--/-W-/--G", "H": 8}),
    Case("gridworld-slippery", "Gridworld, slippery", "gridworld", {"slip": 0.3, "H": 20}),
    Case("chain", "Combination lock", "chain"),
    Case("chain-long", "Combination lock, long", "chain", {"S": 8, "A": 2, "H": 16}),
    Case("chain-wide", "Combination lock, wide", "chain", {"S": 3, "A": 6, "H": 5}),
    Case("clinic", "Clinic", "clinic"),
    Case("clinic-two-doses", "Clinic with two doses", "clinic", {"levels": 4, "doses": 2, "H": 12}),
    Case("clinic-four-doses", "Clinic with four doses", "clinic", {"levels": 2, "doses": 4, "H": 5}),
    Case("hard-jdp", "Hard instance of JDP", "hard-jdp", {"alpha": 0.3}),
    Case("hard-jdp-large", "Hard instance of JDP, large", "hard-jdp", {"n": 4, "m": 4, "alpha": 0.4, "H": 8}),
    Case("linear-mdp", "Linear MDP (lock)", "linear-mdp"),
    Case(
        "linear-mdp-small", "Small linear MDP", "linear-mdp", {"stages": 2, "drugs": 4, "symptoms": 2, "H": 6}
    ),
    Case("linear-synthetic-small", "Linear MDP, few actions", "linear-synthetic", {"A": 8, "H": 10}),
    Case("linear-synthetic", "Linear MDP, many actions", "linear-synthetic", {"A": 30, "H": 20}),
    Case("linear-mixture", "Linear mixture", "linear-mixture"),
    Case("linear-mixture-large", "Linear mixture, large", "linear-mixture", {"S": 8, "H": 20}),
    Case("random", "Random MDP", "random"),
    Case("random-tiny", "Random MDP, tiny", "random", {"S": 3, "A": 2, "H": 5}),
    Case("random-large", "Random MDP, large", "random", {"S": 10, "A": 4, "H": 20}),
    Case("random-states", "Random MDP, many states", "random", {"S": 20, "A": 3, "H": 15}),
    Case("frozenlake", "FrozenLake", "gymnasium", {"id": "FrozenLake-v1"}),
    Case("frozenlake-short", "FrozenLake, short", "gymnasium", {"id": "FrozenLake-v1", "H": 12}),
)


def drawn(kinds: Kinds, each: int) -> Iterator[tuple[str, Case]]:
    """Yield `each` random problems of each kind, together with the kind's name."""
    for place, (kind, make) in enumerate(kinds.items()):
        for number in range(each):
            P, R, d1, H = make(np.random.default_rng([place, number]))
            model = {"P": np.minimum(P, 1.0).tolist(), "R": R.tolist(), "d1": d1.tolist()}
            key = f"{kind}-{number + 1}"
            yield kind, Case(key, "", "custom", {"model": json.dumps(model), "H": H})


class Compared(NamedTuple):
    """A measured number of users, to be compared with the table's answer."""

    case: str
    model: str
    asked: Asked
    users: float


def needed(spec: RunSpec, losses: Sequence[float] = LOSSES) -> NDArray[np.float64]:
    """Return how many users are needed until an average episode loses at most each share of V*, [L]; inf if that
    never happens."""
    trace = run(spec)
    lost = (trace.regret / trace.episodes).mean(axis=0) / trace.seeds[0].v_star
    found = [search.stays_below(trace.episodes.astype(float), lost, share) for share in losses]
    return np.nan_to_num(found, nan=np.inf)


def problem(case: Case, kind: str = "", losses: Sequence[float] = LOSSES, root_seed: int = 0) -> Problem:
    """Return how many users a case needs under each privacy model and budget. kind: for a random problem, stands for
    its model."""
    budgets = DRAWN_EPSILONS if kind else EPSILONS
    rows = {
        m: [
            needed(case.spec(m, e, root_seed=root_seed), losses) for e in (budgets if m != "none" else (1.0,))
        ]
        for m in MODELS
    }
    found = Problem(
        case.key,
        case.title,
        kind or case.environment,
        {} if kind else dict(case.spec().environment_params),
        *case.size,
        online.v_star(case.spec()),
        {model: np.array(row) for model, row in rows.items()},
    )
    return Problem.from_dict(found.to_dict())  # with rounded digits, from which everything else follows


def points(
    problems: Iterable[Problem], epsilons: Sequence[float] = EPSILONS, losses: Sequence[float] = LOSSES
) -> Iterator[Point]:
    """Yield the measured points to which the power law is fitted."""
    for one in problems:
        for model, rows in one.needed.items():
            for epsilon, row in zip(epsilons, rows, strict=False):  # without privacy there is only one row
                mu = signal(model, epsilon, DELTA, one.H)
                for loss, users in zip(losses, row, strict=True):
                    size = (one.S, one.A, one.H, one.value / 100)
                    yield Point(one.environment, model, *size, loss, mu, float(users))


def table() -> Table:
    """Return the whole table: the measured users, the power law with its errors, and the runs that check both."""
    problems = {case.key: problem(case) for case in MEASURED}
    others = {case.key: problem(case, kind) for kind, case in drawn(DRAWN, EACH)}
    measured = [*points(problems.values()), *points(others.values(), DRAWN_EPSILONS)]
    made = Table(
        version(),
        EPSILONS,
        LOSSES,
        DELTA,
        problems,
        DRAWN_EPSILONS,
        others,
        fitted(measured),
        held_out(measured),
        crossed(measured),
        neighbours(problems.values()),
        OTHER_LOSSES,
        {},
        (),
    )
    hidden = {case.key: problem(case, kind, OTHER_LOSSES, 1) for kind, case in drawn(HIDDEN, EACH_HIDDEN)}
    made = replace(made, hidden=hidden)
    return replace(made, checks=(*checks_of_kinds(made), *checks(made)))


def neighbours(problems: Iterable[Problem]) -> dict[str, float]:
    """Return, by privacy model, how wrong linear interpolation between neighbouring losses and budgets would be if
    the number between them had not been measured. The table's own intervals are half as long."""
    errors: dict[str, list[float]] = {model: [] for model in MODELS}
    names: dict[str, list[str]] = {model: [] for model in MODELS}
    for one in problems:
        for model, rows in one.needed.items():
            signals = [signal(model, epsilon, DELTA, one.H) for epsilon in EPSILONS]
            lines = [(np.log(LOSSES), row) for row in np.log(rows)]
            lines += [(np.log(signals), row) for row in np.log(rows.T) if model != "none"]
            for at, row in lines:
                for i in range(1, len(at) - 1):
                    said = straight(at[[i]], at[[i - 1, i + 1]], row[[i - 1, i + 1]])[0]
                    if np.isfinite(said):
                        errors[model].append(float(said - row[i]))
                        names[model].append(one.key)
    return {model: factor(np.array(errors[model]), names[model]) for model in MODELS}


def compared(
    cases: Iterable[Case], models: Sequence[str], budgets: Sequence[tuple[float, float]]
) -> Iterator[Compared]:
    """Run the cases with other seeds, and yield each question to the table with the number of users measured."""
    for case in cases:
        for model in models:
            for epsilon, delta in budgets if model != "none" else budgets[:1]:
                took = needed(case.spec(model, epsilon, delta, root_seed=1), OTHER_LOSSES)
                value = 100 * online.v_star(case.spec()) / case.size[2]
                key = case.key if case in MEASURED else ""
                for share, users in zip(OTHER_LOSSES, took, strict=True):
                    asked = Asked(1, *case.size, value, epsilon, delta, 100 * share, problem=key)
                    yield Compared(case.key, model, asked, float(users))


def checks_of_kinds(made: Table) -> Iterator[Check]:
    """Yield checks of the stated errors on kinds of problems outside the fit, within the page's range of sizes."""
    inside = [
        one
        for one in made.hidden.values()
        if not beyond(made, Asked(S=one.S, A=one.A, H=one.H, value=one.value))
    ]
    found = [one for one in points(inside, made.drawn_epsilons, made.hidden_losses) if one.needed > LEARNED]
    for model in MODELS:
        own = [one for one in found if one.model == model]
        errors, names = off(made.law, own), [one.environment for one in own]
        yield Check(
            "problems of another kind", True, model, len(own), *_checked(errors, names, made.held_out[model])
        )


def _checked(errors: NDArray[np.float64], names: Sequence[str], stated: float) -> tuple[float, float]:
    """Return the share of errors within the stated factor, and the factor that covers the share COVERED of them."""
    inside = np.abs(errors) <= np.log(stated)
    return round(float(weights(names) @ inside), 6), factor(errors, names)


def checks(made: Table) -> Iterator[Check]:
    """Run the measured problems with other seeds and deltas, and yield how well the table predicts the results."""
    groups: dict[str, tuple[Sequence[Case], Sequence[str], Sequence[tuple[float, float]]]] = {
        "measured problems, other seeds, between what was run": (MEASURED, MODELS, BETWEEN),
        "measured problems, at another δ": (MEASURED[::8], ("central", "shuffle"), OTHER_DELTAS),
    }
    for words, (cases, models, budgets) in groups.items():
        found = [one for one in compared(cases, models, budgets) if one.users > LEARNED]
        for model in models:
            own = [one for one in found if one.model == model]
            said = [float(curve(made, one.asked, model, np.array([one.asked.epsilon]))[0]) for one in own]
            seen = [one.users for one in own]
            errors = np.log(
                np.minimum(said, USERS) / np.minimum(seen, USERS)
            )  # more than USERS counts as USERS
            names = [one.case for one in own]
            yield Check(words, False, model, len(own), *_checked(errors, names, made.between[model]))
