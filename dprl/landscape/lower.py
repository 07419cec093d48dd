"""The lower bounds that the table is held against: of a problem and one neighbour, see docs/notes/floors.md."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass

from dprl.environments import ENVIRONMENTS
from dprl.landscape.entry import BUDGET, LandscapeProblem
from dprl.landscape.floors import Neighbour, neighbours
from dprl.mdp import TabularMDP
from dprl.mdp.planning import optimum
from dprl.simulation import RunSpec

DIGITS = 4


@dataclass(frozen=True)
class LowerBound:
    """No algorithm has lost less than `regret` both on a problem and on its neighbour.

    Attributes:
        problem: key of the problem.
        privacy: model of privacy, or none.
        K: users.
        regret: at least this in one of both.
        place: (h, s, a), the one row in which the neighbour differs.
        named: the state and the action of that row.
        worth: what the row is worth in the problem and in its neighbour, the best going on.
    """

    problem: str
    privacy: str
    K: int
    regret: float
    place: tuple[int, int, int]
    named: tuple[str, str]
    worth: tuple[float, float]

    @classmethod
    def from_dict(cls, given: dict[str, object]) -> LowerBound:
        """What `asdict` wrote."""
        return cls(**{key: tuple(one) if isinstance(one, list) else one for key, one in given.items()})  # type: ignore[arg-type]


def bounds(problem: LandscapeProblem, models: Collection[str], users: Sequence[int]) -> Iterator[LowerBound]:
    """Of a problem under each model of privacy; none where it has features, which a neighbour would not keep."""
    environment = ENVIRONMENTS[problem.environment]
    if environment.features is not None or environment.mixture is not None:
        return
    mdp = problem_model(problem)
    found = neighbours(mdp)
    for model in models:
        epsilon, delta = (1.0, 0.0) if model == "none" else BUDGET
        for K in users:
            floor = found.floor(float(K), model, epsilon, delta)
            yield _written(mdp, problem.key, model, K, floor.regret, floor.neighbour)


def all_bounds(problems: Collection[LandscapeProblem], users: Sequence[int]) -> Iterator[LowerBound]:
    """Of several problems, under each model of privacy."""
    for problem in problems:
        yield from bounds(problem, ("none", "central", "shuffle", "local"), users)


def problem_model(problem: LandscapeProblem) -> TabularMDP:
    """The problem as a model."""
    spec = RunSpec(environment=problem.environment, environment_params=dict(problem.params))
    return ENVIRONMENTS[problem.environment].make(**spec.environment_params)


def _written(
    mdp: TabularMDP, problem: str, model: str, K: int, regret: float, other: Neighbour
) -> LowerBound:
    best = optimum(mdp)
    h, s, a = other.h, other.s, other.a
    there = other.R + float(other.P @ best.V[h + 1])
    worth = float(f"{best.Q[h, s, a]:.{DIGITS}g}"), float(f"{there:.{DIGITS}g}")
    named = mdp.state_labels[s], mdp.action_labels[a]
    return LowerBound(problem, model, K, float(f"{regret:.{DIGITS}g}"), (h, s, a), named, worth)


def written(bounds: Collection[LowerBound]) -> list[dict[str, object]]:
    """JSON-able."""
    return [asdict(one) for one in bounds]
