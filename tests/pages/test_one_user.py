"""One user beside the chart: what is drawn is a way that the run's own policy and model allow, and counts it kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl import run
from dprl.environments import ENVIRONMENTS
from dprl.figures import one_user as figures
from dprl.figures.grid import is_grid
from dprl.mdp import TabularMDP, planning
from dprl.research.one_user import APART, apart, best_content, content, drawable, episode
from dprl.simulation import RunSpec
from dprl.words import percent
from tests.pages.conftest import Visit, words

SHORT: dict[str, Any] = {"episodes": 20_000, "seeds": 1, "epsilon": 50.0}
SPECS = [
    RunSpec(environment_params={"S": 3, "H": 3}, **SHORT),
    RunSpec(environment="gridworld", **SHORT).baseline(),
    RunSpec(environment="clinic", privacy="local", mechanism="laplace", reports="all", **SHORT),
    RunSpec(environment_params={"S": 3, "H": 3}, algorithm="private-ucb-po", **SHORT),
]


def possible(way: Any, mdp: TabularMDP) -> tuple[np.ndarray, np.ndarray]:
    """The states and actions of a way that the model allows."""
    s, a, h = np.array(way["states"]), np.array(way["actions"]), np.arange(mdp.H - 1)
    assert mdp.d1[s[0]] > 0
    assert (mdp.P[h, s[:-1], a[:-1], s[1:]] > 0).all()
    return s, a


@pytest.mark.parametrize(
    "spec", SPECS, ids=lambda spec: f"{spec.environment}-{spec.privacy}-{spec.algorithm}"
)
def test_users_walk_as_policy_and_model_allow_among_counts_that_the_run_kept(spec: RunSpec) -> None:
    mdp, trace = ENVIRONMENTS[spec.environment].make(**spec.environment_params), run(spec).seeds[0]
    made = content(mdp, trace)
    at = apart(trace.detail_episodes, APART)
    assert len(made["moments"]) == len(at)
    assert content(mdp, trace) == made  # whoever asks sees the same users
    for i, moment in zip(at, made["moments"], strict=True):
        for way, policy in zip(moment["ways"], (trace.policy[i], trace.optimal_policy), strict=True):
            s, a = possible(way, mdp)
            if not trace.chances.size or policy is trace.optimal_policy:
                assert (a == policy[np.arange(mdp.H), s]).all()
        true = trace.counts[i][..., -2].sum(axis=(0, 2))[: len(made["places"])]
        assert np.argsort(moment["fills"], kind="stable").tolist() == np.argsort(true, kind="stable").tolist()
        assert all(0 <= level <= 1 for level in moment["fills"] + (moment["ticks"] or []))
        assert (moment["ticks"] is None) == (spec.privacy == "none")
    assert made["moments"][0]["lost"].startswith(
        "After the first user," if trace.detail_episodes[at[0]] == 1 else "After "
    )
    if not trace.chances.size:
        value = planning.start_value(mdp, planning.policy_values(mdp, trace.policy[at[-1]]))
        assert f"loses {percent(max(1 - value / trace.v_star, 0.0))} of" in made["moments"][-1]["lost"]


@pytest.mark.parametrize("key", sorted(set(ENVIRONMENTS) - {"custom", "gymnasium"}))
def test_every_environment_that_is_small_has_a_place_for_each_state(key: str) -> None:
    mdp = ENVIRONMENTS[key].make()
    if not drawable(mdp):
        return
    still = figures.Moment(1, np.zeros(mdp.S), None, 0.0, ([0] * mdp.H, [0] * mdp.H))
    made = figures.one_user(
        [still], [still.way], drawing=mdp.drawing, states=mdp.state_labels, actions=mdp.action_labels
    )
    boxes = np.array([place["box"] for place in made["places"]])
    assert len(boxes) == (len(mdp.drawing["cells"]) if is_grid(mdp.drawing) else mdp.S)
    assert (boxes[:, :2] >= 0).all()
    assert (boxes[:, 0] + boxes[:, 2] <= figures.WIDE + 0.1).all()
    assert (boxes[:, 1] + boxes[:, 3] <= made["high"] + 0.1).all()
    for i, (x, y, wide, high) in enumerate(boxes):  # none lies over another
        apart_x = np.abs(boxes[:, 0] - x) >= np.minimum(boxes[:, 2], wide) - 0.1
        apart_y = np.abs(boxes[:, 1] - y) >= np.minimum(boxes[:, 3], high) - 0.1
        assert np.delete(apart_x | apart_y, i).all()


def test_an_episode_of_rounded_chances_is_drawn() -> None:
    P, first = np.full((2, 2, 2, 2), 0.5), np.array([1.0, 0.0])
    chances = np.full((2, 2, 2), 0.4999999)
    drawn = [
        episode(P, first, np.zeros((2, 2), int), np.random.default_rng(i), chances)[1] for i in range(20)
    ]
    assert {action for actions in drawn for action in actions} == {0, 1}


@pytest.mark.parametrize(
    ("curve", "said"),
    [
        ("envp.S.3~envp.H.3~K.1000~seeds.1", ""),
        ("env.random~envp.S.30~envp.A.2~envp.H.2~K.1000~seeds.1", "too many states to draw"),
    ],
)
def test_it_stands_below_the_chart_or_it_is_said_why_not(finished: Visit, curve: str, said: str) -> None:
    app = finished("explore", c=[curve])
    assert "One user, step by step" in [part.label for part in app.expander]
    app.session_state["learner"] = True
    app.run()
    assert ("too many states" in words(app)) == bool(said)


def test_users_of_the_best_policy_fill_states_as_they_do_on_average() -> None:
    mdp = ENVIRONMENTS["clinic"].make()
    made, best, h = best_content(mdp), planning.optimum(mdp).policy, np.arange(mdp.H)
    visits = planning.occupancy(mdp, best).sum(0)
    top = np.log1p(visits.max() * 10**6)
    assert made["moments"][-1]["fills"] == pytest.approx(np.log1p(visits * 10**6) / top, abs=1e-3)
    for moment in made["moments"]:
        (way,) = moment["ways"]
        s, a = possible(way, mdp)
        assert (a == best[h, s]).all()
        assert moment["ticks"] is None
        assert "followed the best policy" in moment["lost"]
