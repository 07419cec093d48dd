"""Draw the counts of data sets with n trajectories that follow a behaviour policy."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from dprl.fields import Field, SpecError, not_allowed
from dprl.mdp import Size, TabularMDP, planning
from dprl.mdp.counts import empty, rewards, transitions, visits
from dprl.mdp.sampling import binomials, multinomial
from dprl.mdp.tabular import Array
from dprl.simulation import policies
from dprl.simulation.policies import Policy


@dataclass(frozen=True)
class Part:
    """A share of the trajectories and the policy that they follow, given as action probabilities [H, S, A]."""

    share: float
    policy: Array


@dataclass(frozen=True)
class Behaviour:
    """A way in which users choose actions, written in specs as `key`, `key:argument` or `key:argument:policy`."""

    key: str
    title: str  # the name in menus
    said: str  # the phrase for captions; {} is the argument as a percentage
    summary: str  # a sentence or two
    argument: Field | None  # the field for its number, if it has one
    # parts(mdp, argument, policy): the policies that trajectories follow. policy: [H, S], if one is given.
    parts: Callable[[TabularMDP, float, Policy], tuple[Part, ...]]
    takes_policy: bool = False  # whether its text includes a policy, see policies.py

    @property
    def allowed(self) -> str:
        """Describe the text that stands for this behaviour in a spec."""
        if self.argument is None:
            return self.key
        named = f"{self.key}:{self.argument.name.upper()}"
        if self.takes_policy:
            return f"{named}:POLICY with {self.argument.allowed} and, for example, {policies.EXAMPLE}"
        return f"{named} with {self.argument.allowed}"


def uniform_policy(mdp: TabularMDP) -> Array:
    """Return the policy under which all actions are equally likely, [H, S, A]."""
    return np.full((mdp.H, mdp.S, mdp.A), 1 / mdp.A)


def optimal_policy(mdp: TabularMDP) -> Array:
    """Return the policy that always takes the optimal action (the first if there are several), [H, S, A]."""
    return np.eye(mdp.A)[planning.optimum(mdp).policy]


def _mixed(mdp: TabularMDP, share: float, policy: Array) -> tuple[Part, ...]:
    return Part(share, policy), Part(1 - share, uniform_policy(mdp))


def _mostly_first(mdp: TabularMDP, p: float, _: Policy) -> tuple[Part, ...]:
    rest = (1 - p) / max(mdp.A - 1, 1)
    policy = np.full((mdp.H, mdp.S, mdp.A), rest)
    policy[..., 0] = 1 - rest * (mdp.A - 1)
    return (Part(1.0, policy),)


_PARTS: dict[str, Callable[[TabularMDP, float, Policy], tuple[Part, ...]]] = {
    "mixture": lambda mdp, share, _: _mixed(mdp, share, optimal_policy(mdp)),
    "uniform": lambda mdp, *_: (Part(1.0, uniform_policy(mdp)),),
    "epsilon-optimal": lambda mdp, slip, _: (
        Part(1.0, (1 - slip) * optimal_policy(mdp) + slip * uniform_policy(mdp)),
    ),
    "first": _mostly_first,
    "policy": lambda mdp, share, policy: _mixed(mdp, share, np.eye(mdp.A)[policy]),
}


def _behaviours() -> Iterator[tuple[str, Behaviour]]:
    for key, row in tomllib.loads(Path(__file__).with_name("behaviours.toml").read_text("utf-8")).items():
        given = row.pop("argument", None)
        argument = Field(kind="float", low=0.0, high=1.0, **given) if given else None
        yield key, Behaviour(key, **row, argument=argument, parts=_PARTS[key])


BEHAVIOURS = dict(_behaviours())
ALLOWED = " or ".join(b.allowed for b in BEHAVIOURS.values())


def split_behaviour(text: str) -> tuple[str, str, str]:
    """Split the text of a behaviour into key, argument and policy; a missing part becomes ""."""
    key, _, given = text.partition(":")
    if key in BEHAVIOURS and BEHAVIOURS[key].takes_policy:
        argument, colon, policy = given.partition(":")
        return (key, argument, policy) if colon else (key, "", given)
    return key, given, ""


def check_behaviour(text: str, size: Size) -> str:
    """Return the canonical form of a behaviour, such as mixture:0.7. Raises SpecError."""
    key, given, policy = split_behaviour(text)
    behaviour = BEHAVIOURS.get(key)
    try:
        if behaviour is None or (given and behaviour.argument is None):
            raise SpecError("behaviour", "")
        if behaviour.argument is None:
            return key
        value = behaviour.argument.parse(given) if given else behaviour.argument.default
    except SpecError:
        raise not_allowed("behaviour", text, ALLOWED) from None
    named = f"{key}:{value!r}".removesuffix(".0")
    if not behaviour.takes_policy:
        return named
    return f"{named}:{policies.policy_text(policies.policy_from_text(policy, size))}"


def parts(text: str, mdp: TabularMDP) -> tuple[Part, ...]:
    """Return the policies that users follow under a behaviour in canonical form, each with its share of users."""
    key, argument, policy = split_behaviour(text)
    followed = policies.policy_from_text(policy, mdp.size) if policy else np.zeros((0, 0), dtype=np.int64)
    return BEHAVIOURS[key].parts(mdp, float(argument or 0), followed)


def following(policy: ArrayLike, share: float = 0.7) -> str:
    """Return the text of a behaviour in which some users follow a policy and the others act at random.

    Args:
        policy: the actions [H, S], such as `trace.seeds[0].policy[-1]` of an online run.
        share: the share of users who follow it, from 0 to 1.

    Raises:
        SpecError: The policy is not a table of integers, or the share is out of range.

    Example:
        >>> dprl.following([[0, 1], [1, 1]], share=0.5)
        'policy:0.5:01.11'
    """
    actions = np.array(policy) if isinstance(policy, list | tuple | np.ndarray) else np.zeros(0)
    if actions.ndim != 2 or actions.dtype.kind not in "iu" or not actions.size or actions.min() < 0:
        raise not_allowed("policy", "this", "the number of an action for each step and state, [H, S]")
    share = cast(Field, BEHAVIOURS["policy"].argument).check(share)
    return f"policy:{share!r}:{policies.policy_text(actions.astype(np.int64))}"


def sample(rng: np.random.Generator, mdp: TabularMDP, behaviour: tuple[Part, ...], n: int) -> Array:
    """Draw the counts of n independent trajectories, [H, S, A, S + 2] (rows as in mdp/counts.py). The running time does
    not depend on n, because all users' actions and next states are drawn at once from multinomials."""
    record = empty(mdp.H, mdp.S, mdp.A)
    m = transitions(record)
    each = multinomial(rng, n, np.array([part.share for part in behaviour]))
    for part, users in zip(behaviour, each, strict=True):
        here = multinomial(rng, users, mdp.d1)
        for h in range(mdp.H):
            acting = multinomial(rng, here, part.policy[h])
            moved = multinomial(rng, acting, mdp.P[h])
            m[h] += moved
            here = moved.sum((0, 1))
    n_visits = visits(record)
    n_visits[...] = m.sum(-1)
    drawn = binomials(rng, n_visits.astype(np.int64), mdp.R, 1 - mdp.R) if mdp.bernoulli else n_visits * mdp.R
    rewards(record)[...] = drawn
    return record


def occupancy(mdp: TabularMDP, behaviour: tuple[Part, ...]) -> Array:
    """Return d^mu [H, S, A], the probability that a trajectory visits state s and takes action a at step h."""
    total = np.zeros((mdp.H, mdp.S, mdp.A))
    for part in behaviour:
        here = mdp.d1
        for h in range(mdp.H):
            acting = here[:, None] * part.policy[h]
            total[h] += part.share * acting
            here = np.einsum("sa,sax->x", acting, mdp.P[h])
    return total


def coverage(mdp: TabularMDP, behaviour: tuple[Part, ...]) -> tuple[float, float]:
    """Return how well a behaviour policy covers all state-action pairs, and those that an optimal policy visits.

    The first number, d_m, is the least positive d^mu(h, s, a) (Qiao, Wang 2023, Theorem 3.4). The second is the least
    d^mu of a pair that the optimal policy visits (the lowest action in case of ties), or 0 if Assumption 2.1 fails.
    """
    visited = occupancy(mdp, behaviour)
    best = planning.optimum(mdp).policy
    chosen = np.take_along_axis(visited, best[..., None], -1)[..., 0]
    return float(visited[visited > 0].min()), float(chosen[planning.occupancy(mdp, best) > 0].min())
