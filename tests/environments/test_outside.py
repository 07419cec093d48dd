"""Problems from outside: Gymnasium's, those of other libraries written down from their definitions, and arrays.

V* of what a spec runs is held against a recursion over outcomes, in the problem's own units, that shares nothing with
it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from math import fsum
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest

from dprl import (
    ENVIRONMENTS,
    OfflineSpec,
    RunSpec,
    SpecError,
    Sweep,
    TabularMDP,
    from_gymnasium,
    spec_from_json,
)
from dprl.environments import gymnasium as ours
from dprl.mdp.structure import on_table, table_of
from dprl.simulation import answer, answered
from tests.environments.test_custom import GOOD
from tests.environments.test_environments import best
from tests.problems import random_mdp, refused

Outcomes = list[tuple[float, int, float, bool]]  # chance, next state, reward, whether the episode ends


def world(S: int, A: int, first: int, outcomes: Callable[[int, int], Outcomes]) -> Any:
    """An environment that says its model as Gymnasium's do."""
    return SimpleNamespace(
        observation_space=gymnasium.spaces.Discrete(S),
        action_space=gymnasium.spaces.Discrete(A),
        initial_state_distrib=np.eye(S)[first],
        P={s: {a: outcomes(s, a) for a in range(A)} for s in range(S)},
    )


def deep_sea(N: int) -> Any:
    """Osband et al. 2019 (bsuite), in Colosseum, too: down-left is free, down-right costs 0.01/N, and the chest at the
    lower right is worth 1. The N-th move ends an episode."""

    def outcomes(s: int, a: int) -> Outcomes:
        row, column = divmod(s, N)
        to = min(column + 1, N - 1) if a else max(column - 1, 0)
        reward = (-0.01 / N if a else 0.0) + (1.0 if a and row == column == N - 1 else 0.0)
        return [(1.0, min(row + 1, N - 1) * N + to, reward, row == N - 1)]

    return world(N * N, 2, 0, outcomes)


def river(S: int) -> Any:
    """RiverSwim of Strehl and Littman 2008, in Colosseum, too: left always works; right moves on with chance 0.3 or
    0.35, and back with 0.1."""

    def outcomes(s: int, a: int) -> Outcomes:
        if a == 0:
            return [(1.0, max(s - 1, 0), 5.0 if s == 0 else 0.0, False)]
        if s == 0:
            return [(0.7, 0, 0.0, False), (0.3, 1, 0.0, False)]
        if s == S - 1:
            return [(0.7, s - 1, 0.0, False), (0.3, s, 10_000.0, False)]
        return [(0.1, s - 1, 0.0, False), (0.6, s, 0.0, False), (0.3, s + 1, 0.0, False)]

    return world(S, 2, 1, outcomes)


def four_rooms(N: int, works: float) -> Any:
    """The grid world with four rooms of rlberry: walls in the middle with a door in each, moves that work with chance
    `works` and else go any way; the goal, in the last corner, pays 1 and ends an episode."""
    middle = N // 2
    doors = {(middle, 1), (middle, N - 2), (1, middle), (N - 2, middle)}
    free = [(r, c) for r in range(N) for c in range(N) if middle not in (r, c) or (r, c) in doors]
    number = {place: i for i, place in enumerate(free)}

    def outcomes(s: int, a: int) -> Outcomes:
        found = []
        for b, (dr, dc) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
            to = number.get((free[s][0] + dr, free[s][1] + dc), s)
            goal = to == len(free) - 1
            found.append(((works if a == b else 0.0) + (1 - works) / 4, to, float(goal), goal))
        return found

    return world(len(free), 4, 0, outcomes)


HOLES = ["SFFFF", "FHFHF", "FFFFH", "HFFFF", "FFHFG"]
TOYS: dict[str, tuple[str, dict[str, Any], int]] = {  # Gymnasium's: id, options, and H
    "lake": ("FrozenLake-v1", {}, 100),
    "large lake by its name": ("FrozenLake-v1", {"map_name": "8x8", "is_slippery": False}, 14),
    "lake of one's own": (
        "FrozenLake-v1",
        {"desc": HOLES, "success_rate": 0.8, "reward_schedule": (10, -3, -0.1)},
        30,
    ),
    "cliff": ("CliffWalking-v1", {}, 20),
    "cliff that slips": ("CliffWalkingSlippery-v1", {}, 17),
    "taxi": ("Taxi-v4", {}, 20),
    "taxi in the rain": ("Taxi-v4", {"is_rainy": True, "rainy_probability": 0.7}, 9),
}
WORLDS: dict[str, tuple[Callable[[], Any], int]] = {  # how each is made, and H
    **{name: (partial(gymnasium.make, id, **options), H) for name, (id, options, H) in TOYS.items()},
    "deep sea": (lambda: deep_sea(8), 8),
    "river": (lambda: river(6), 40),
    "four rooms": (lambda: four_rooms(7, 0.9), 25),
}


def made(params: Any) -> TabularMDP:
    return ENVIRONMENTS["custom"].make(**params)


def best_by_recursion(env: Any, H: int) -> float:
    inside = getattr(env, "unwrapped", env)
    P, first = inside.P, inside.initial_state_distrib

    @cache
    def value(steps: int, s: int) -> float:
        if steps == 0:
            return 0.0
        return max(
            fsum(p * (r + (0.0 if end else value(steps - 1, int(to)))) for p, to, r, end in outcomes)
            for outcomes in P[s].values()
        )

    return fsum(float(chance) * value(H, s) for s, chance in enumerate(first) if chance)


@pytest.mark.parametrize("name", WORLDS)
def test_the_best_value_is_that_of_a_recursion_over_outcomes(name: str) -> None:
    make, H = WORLDS[name]
    env = make()
    given = from_gymnasium(env, H)
    structure = "environment" if name.startswith("taxi") else None
    spec = RunSpec(environment=given, structure=structure, privacy="none", episodes=1000, seeds=1)
    assert spec.environment == "custom"
    assert spec_from_json(spec.to_json()) == spec
    mdp = made(spec.environment_params)
    low, high = given.drawing["reward_low"], given.drawing["reward_high"]
    unit = (best_by_recursion(env, H) - H * low) / (high - low)
    assert best(given) == pytest.approx(unit, rel=1e-12, abs=1e-12)
    assert best(mdp) == pytest.approx(unit, rel=1e-12, abs=1e-12)
    assert H * low + (high - low) * best(mdp) == pytest.approx(best_by_recursion(env, H), rel=1e-10)


def test_the_answer_that_pages_ask_for_is_this_value() -> None:
    env = four_rooms(5, 0.9)
    spec = RunSpec(environment=from_gymnasium(env, 8, rewards=(0, 1)), privacy="none", episodes=100)
    assert answered(answer("v_star", spec)) == pytest.approx(best_by_recursion(env, 8), rel=1e-12)


@pytest.mark.parametrize("form", ["arrays", "lists", "JSON", "object", "sparse object"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_models_in_each_form(form: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    H, S, A = (int(n) for n in rng.integers(2, 7, size=3))
    whole = random_mdp(seed, S, A, H, bernoulli=False, sparse=True)
    P, R, d1 = whole.P, whole.R, whole.d1
    arrays = {"P": P, "R": R, "d1": d1}
    lists = {name: array.tolist() for name, array in arrays.items()}
    if form == "sparse object":
        possible = table_of(P > 0)
        P_there = on_table(P, whole.possible, possible)[0]
        whole = replace(whole, P=P_there, possible=possible, bernoulli=True)
    forms: dict[str, Any] = {"arrays": arrays, "lists": lists, "JSON": json.dumps(lists, indent=2)}
    given = forms.get(form, whole)
    for kind in (RunSpec, OfflineSpec):
        spec = kind(environment=given)
        assert (spec.environment, spec.environment_params["H"]) == ("custom", H)
        assert spec_from_json(spec.to_json()) == spec
        mdp = made(spec.environment_params)
        np.testing.assert_array_equal(mdp.P, P)
        np.testing.assert_array_equal(mdp.R, R)
        assert mdp.bernoulli == (form != "object")
        np.testing.assert_allclose(mdp.d1, d1, rtol=1e-15)


def test_one_model_is_one_spec_whatever_it_is_given_as() -> None:
    text = json.dumps(GOOD, indent=1)
    specs = [
        RunSpec(environment=text, environment_params={"H": 4}),
        RunSpec(environment=GOOD, environment_params={"H": 4}),
        RunSpec(environment={**GOOD, "H": 9}).replace(environment=GOOD, environment_params={"H": 4}),
        RunSpec().replace(environment=GOOD, environment_params={"H": 4}),
        RunSpec.from_dict({"environment": GOOD, "environment_params": {"H": 4}}),
    ]
    assert len({spec.seed_key(0) for spec in specs}) == 1
    assert RunSpec(environment={**GOOD, "H": 9}).environment_params["H"] == 9
    assert RunSpec(environment=GOOD).environment_params["H"] == 10
    swept: Any = {"environment": GOOD}
    assert Sweep(swept, {"H": [2, 3]}).specs[0].environment == "custom"


def test_a_model_that_is_the_same_at_each_step_is_written_once() -> None:
    given = ENVIRONMENTS["riverswim"].make(S=4, H=50)
    spec = RunSpec(environment=given)
    assert len(spec.to_json()) < 2000
    np.testing.assert_array_equal(made(spec.environment_params).P, given.P)
    assert spec.replace(environment_params={**spec.environment_params, "H": 7}).environment_params["H"] == 7


TABLE = {"P": [[[0.5, 0.5], [1.0, 0.0]]] * 3, "R": [[0.1, 0.0]] * 3, "d1": [1, 0, 0]}
POSSIBLE = [[[0, 2], [1]]] * 3


def test_chances_may_be_of_the_possible_next_states_alone() -> None:
    mdp = made(RunSpec(environment={**TABLE, "possible": POSSIBLE}).environment_params)
    np.testing.assert_array_equal(mdp.P[0, 1], [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({**TABLE}, "environment_params.model: the sizes of P"),
        (
            {**TABLE, "possible": [[[2, 0], [1]]] * 3},
            "environment_params.model.possible: P has at most 2 next states",
        ),
        ({**TABLE, "possible": 3}, "environment_params.model.possible: P has"),
        ({**TABLE, "possible": [[[0], [1]]] * 3}, "environment_params.model.P: a probability is beyond"),
        ({**GOOD, "bernoulli": 1}, "environment_params.model.bernoulli: 1 is not allowed"),
        ({**GOOD, "H": "two"}, "environment_params.H: two is not allowed"),
        ({**GOOD, "P": object()}, "environment: this cannot be written as JSON"),
        ({"P": GOOD["P"]}, "environment_params.model: R and d1 must be given"),
        ("{", "environment_params.model: this is not JSON"),
        (object(), "environment: "),
        (gymnasium.make("FrozenLake-v1"), "environment: the number of steps of an episode is missing"),
    ],
)
def test_what_is_no_model_is_refused_in_a_sentence(given: Any, sentence: str) -> None:
    for kind in (RunSpec, OfflineSpec):
        with refused(sentence):
            kind(environment=given)


def test_parameters_beside_a_model_are_checked() -> None:
    for params, sentence in (
        ({"model": "{}"}, "environment_params.model: the environment is already a model"),
        ({"S": 3}, "environment_params: custom has no parameter S"),
        (3, "environment_params: 3 is not allowed"),
        ({"H": 0}, "environment_params.H: 0 is not allowed"),
    ):
        with pytest.raises(SpecError, match=sentence):
            RunSpec(environment=GOOD, environment_params=params)  # type: ignore[arg-type]


NAN = float("nan")


def with_outcome(outcome: Any) -> Any:
    return world(2, 1, 0, lambda s, a: [outcome])


@pytest.mark.parametrize(
    ("env", "arguments", "sentence"),
    [
        ("Nope-v1", {}, "env: Gymnasium cannot make Nope-v1"),
        ("FrozenLake-v1", {"slips": 1}, "env: Gymnasium cannot make FrozenLake-v1"),
        ("Blackjack-v1", {"H": 3}, "env: its observation_space is not Discrete"),
        ("Taxi-v4", {"fickle_passenger": True}, "options: the table P of Taxi does not include fickle"),
        ("CliffWalking-v1", {}, "H: the environment has no time limit; give H"),
        ("FrozenLake-v1", {"H": 101}, "H: 101 is not allowed; give at most 100, after which an episode ends"),
        ("FrozenLake-v1", {"H": 2, "start": [1.0]}, "start: this is not a probability"),
        ("FrozenLake-v1", {"H": 2, "rewards": (0.0, 0.1)}, "rewards: mean rewards range from 0 to 0.33"),
        (deep_sea(2), {"H": 2, "slips": 1}, "options: slips can only be given together with an id"),
        (SimpleNamespace(), {"H": 2}, "env: its observation_space is not Discrete"),
        ("FrozenLake-v1", {"H": 2, "start": [-1.0, 2.0] + [0.0] * 14}, "start: start[0] is -1, which is negative"),
        ("FrozenLake-v1", {"H": 2, "start": [0.5] + [0.0] * 15}, "start: start sums to 0.5; give"),
        (with_outcome((0.5, 0, 0.0, False)), {"H": 2}, "env.P: P[0][0] sums to 0.5; give probabilities that sum to 1."),
        (with_outcome((NAN, 0, 0.0, False)), {"H": 2}, "env: P[0][0] has the probability NaN; give a number"),
        (with_outcome((-0.5, 0, 0.0, False)), {"H": 2}, "env: P[0][0] has the probability -0.5, which is negative"),
        (with_outcome((1.0, 0, NAN, False)), {"H": 2}, "env: P[0][0] has the reward NaN; give a number."),
        (with_outcome((1.0, 2, 0.0, False)), {"H": 2}, "env: P[0][0] has the next state 2; give a whole"),
        (with_outcome((1.0, 0.5, 0.0, False)), {"H": 2}, "env: P[0][0] has the next state 0.5; give"),
        (with_outcome(None), {"H": 2}, "env: P[0][0] is not allowed"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_a_sentence(env: Any, arguments: Any, sentence: str) -> None:
    with refused(sentence):
        from_gymnasium(env, **arguments)


@pytest.mark.parametrize("chances", [[np.float32(1 / 3)] * 3, [0.333333] * 3, [0.9999999], [1 / 3] * 3])
def test_rounded_probabilities_are_made_to_sum_to_1(chances: list[Any]) -> None:
    rows = [(chance, to, 1.0, False) for to, chance in enumerate(chances)]
    mdp = from_gymnasium(
        world(3, 1, 0, lambda s, a: rows), 2, start=chances + [0] * (3 - len(chances)), rewards=(0.0, 1.0)
    )
    np.testing.assert_allclose(mdp.P.sum(-1), 1.0, rtol=0, atol=1e-15)
    np.testing.assert_allclose(mdp.d1.sum(), 1.0, rtol=0, atol=1e-15)
    np.testing.assert_allclose(mdp.R, 1.0, rtol=0, atol=1e-15)


def test_what_is_said_of_start_ends_rewards_and_wrappers() -> None:
    lake = gymnasium.make("FrozenLake-v1")
    assert from_gymnasium("FrozenLake-v1").H == 100
    assert from_gymnasium(lake.unwrapped, 300).H == 300  # without the wrapper there is no limit
    start = np.eye(16)[14]
    mdp = from_gymnasium(lake, 1, start=start, rewards=(0.0, 1.0))
    np.testing.assert_array_equal(mdp.d1, [*start, 0.0])
    assert best(mdp) == pytest.approx(1 / 3)
    assert mdp.state_labels[-1] == "end"
    assert from_gymnasium(river(4), 5).S == 4  # nothing ends it
    bare = river(4)
    del bare.initial_state_distrib
    with pytest.raises(SpecError, match="has no distribution of the first state; give 4 probabilities"):
        from_gymnasium(bare, 5)
    with pytest.raises(SpecError, match="the wrapper TransformReward changes"):
        from_gymnasium(gymnasium.wrappers.TransformReward(lake, lambda r: 2.0), 5)


make = ENVIRONMENTS["gymnasium"].make


@pytest.mark.parametrize("id", ["FrozenLake-v1", "CliffWalking-v1"])
@pytest.mark.parametrize("H", [1, 13])
def test_one_by_its_name_is_gymnasiums_own_model(id: str, H: int) -> None:
    """As it is read from there, with labels and a drawing of its own."""
    mdp, read = make(id=id, H=H), from_gymnasium(gymnasium.make(id), H)
    for name in ("P", "R", "d1"):
        np.testing.assert_array_equal(getattr(mdp, name), getattr(read, name))
    assert mdp.state_labels[-1] == "end"
    assert mdp.drawing["reward_low"] == read.drawing["reward_low"]
    assert mdp.drawing["reward_high"] == read.drawing["reward_high"]


@pytest.mark.parametrize("id", ["FrozenLake-v1", "CliffWalking-v1"])
def test_moves_are_named_and_drawn_as_they_go(id: str) -> None:
    """An action named right, drawn right, leads right from a free place, at least as likely as elsewhere."""
    mdp = make(id=id, H=1)
    cells = mdp.drawing["cells"]
    middle = 9 if id == "FrozenLake-v1" else 14  # in the lake a hole is above it, where an episode ends
    for a, (dr, dc) in enumerate(mdp.drawing["moves"]):
        to = cells.index([cells[middle][0] + dr, cells[middle][1] + dc])
        to = mdp.S - 1 if (id, to) == ("FrozenLake-v1", 5) else to
        assert mdp.P[0, middle, a, to] == pytest.approx(mdp.P[0, middle, a].max()), mdp.action_labels[a]
        named = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
        assert named[mdp.action_labels[a]] == (dr, dc)


def test_taxi_is_refused_because_of_its_counters() -> None:
    for H in (1, 20, 200):
        with refused("environment_params: ") as error:
            RunSpec(environment="gymnasium", environment_params={"id": "Taxi-v3", "H": H})
        for part in ("counters", "S=501, A=6", "give FrozenLake-v1, CliffWalking-v1, or"):
            assert part in str(error.value)


def test_one_that_gymnasium_no_longer_has_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As its newer versions no longer have Taxi-v3."""

    def gone(id: str) -> None:
        raise gymnasium.error.DeprecatedEnv(id)

    ours.model.cache_clear()
    monkeypatch.setattr(gymnasium, "make", gone)
    with pytest.raises(SpecError, match="give another") as error:
        make()
    assert error.value.field == "environment_params.id"
    ours.model.cache_clear()
