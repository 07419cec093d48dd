"""Policies: drawn on the environment, over steps, against the optimal one and what users got, at every size; grids."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from dprl.environments import ENVIRONMENTS
from dprl.figures import graph, grid, policy, steps, style
from dprl.mdp import planning
from dprl.metrics.policies import worse_actions
from dprl.sentences import policy as sentences
from tests.figures import captioned
from tests.figures.test_regret import named
from tests.problems import first

CHAIN, GRAPH = {"kind": "chain"}, {"kind": "graph"}


def optimal(chain: Any) -> dict[str, Any]:
    """What a policy on the chain is compared with."""
    return {
        "optimal_policy": chain.optimal,
        "optimal_Q": chain.optimal_Q,
        "occupancy": chain.occupancy,
        **chain.labels,
    }


def lines_of(figure: go.Figure, name: str) -> list[Any]:
    return [t for t in figure.data if t.name == name and t.mode == "lines"]


@pytest.mark.parametrize("drawing", [CHAIN, GRAPH])
def test_the_environment_draws_every_move_in_its_actions_colour(chain: Any, drawing: dict[str, str]) -> None:
    picture = policy.environment_drawing(chain.P, chain.R, drawing=drawing, **chain.labels)
    for action, name in enumerate(("← left", "→ right")):
        arcs = lines_of(picture.figure, name)
        assert {t.line.color for t in arcs} == {style.LIGHT.actions[action]}
        assert sum(t.showlegend is not False for t in arcs) == 1
        moves = sum(np.isnan(np.asarray(t.x, float)).sum() for t in arcs)
        assert moves == (chain.P[0, :, action] > 0).sum()
    assert not picture.figure.layout.xaxis.visible


def test_the_policy_on_the_environment_shows_what_is_chosen_and_rings_what_is_worse(chain: Any) -> None:
    how: dict[str, Any] = {"step": 2, "drawing": CHAIN, "when": "after 1 billion episodes"}
    picture = captioned.on_environment(chain.P, chain.policy, **how, **optimal(chain))
    figure = picture.figure
    assert len(lines_of(figure, "← left")) == 1
    nodes = next(t for t in figure.data if t.name == "states")
    gold = style.LIGHT.roles["optimal"]
    assert [c == gold for c in nodes.marker.line.color] == [False, True, False, False]
    assert "the optimal action is better" in {t.name for t in figure.data}
    rows = {t.name: list(t.text) for t in figure.data if t.name in ("plays", "optimal")}
    assert rows == {"plays": ["→", "←", "→", "→"], "optimal": ["→"] * 4}
    assert picture.see == (
        "At step 2 the policy chooses **right** in 3 of 4 states. The optimal policy does better in 1 of these "
        "states."
    )
    assert "step 2" in figure.layout.title.text
    assert picture.table["optimal action"].tolist() == ["right"] * 4


@pytest.mark.parametrize("drawing", [CHAIN, GRAPH])
def test_states_where_the_policy_never_is_at_a_step_are_grey_and_not_counted(
    chain: Any, drawing: dict[str, str]
) -> None:
    """A policy that starts in state 0 was said to be worse in states that no episode begins in."""
    chosen, occupancy = chain.policy.copy(), chain.occupancy.copy()
    chosen[0] = [1, 0, 0, 0]  # worse in three states that are not reached
    occupancy[0] = [1.0, 0.0, 0.0, 0.0]
    given = optimal(chain) | {"occupancy": occupancy, "drawing": drawing}
    picture = captioned.on_environment(chain.P, chosen, step=0, **given)
    assert picture.see == (
        "At step 0, a user who follows the policy can be in 1 of 4 states. The policy chooses **right** in 1 of "
        "these states. The optimal policy does better in none of these states. The policy never visits the unfilled "
        "states at this step, so its actions there cost nothing."
    )
    faint, names = style.LIGHT.faint, {t.name for t in picture.figure.data}
    nodes = next(t for t in picture.figure.data if t.name == "states")
    assert [edge == faint for edge in nodes.marker.line.color] == [False, True, True, True]
    assert "the optimal action is better" not in names
    assert "never here at this step" in names
    assert lines_of(picture.figure, "← left") == []  # what is played where nobody is leads nowhere
    assert lines_of(picture.figure, "→ right") != []
    everywhere = captioned.on_environment(chain.P, chosen, step=2, **given)
    assert "never here at this step" not in {t.name for t in everywhere.figure.data}


def stochastic(chain: Any) -> Any:
    """[5, 4, 2]: the chain's policy with chance 0.9, and with 0.6 at step 2 in state 1."""
    chances = np.where(np.eye(2)[chain.policy] > 0, 0.9, 0.1)
    chances[2, 1] = [0.6, 0.4]
    return chances


def test_a_stochastic_policy_is_drawn_with_every_action_as_wide_as_it_is_likely(chain: Any) -> None:
    chances = stochastic(chain)
    how: dict[str, Any] = {"step": 2, "drawing": CHAIN, "chances": chances}
    picture = captioned.on_environment(chain.P, chain.policy, **how, **optimal(chain))
    left, right = (lines_of(picture.figure, name) for name in ("← left", "→ right"))
    # left is certain to move: 0.1, and 0.6 in state 1; right by 0.4 and stays by 0.6, of 0.9 (0.4 in state 1)
    assert {t.line.width for t in left} == {graph.WIDTHS[0], graph.WIDTHS[2]}
    assert {t.line.width for t in right} == {*graph.WIDTHS[:4]}
    nodes = next(t for t in picture.figure.data if t.name == "states")
    hover = str(nodes.to_plotly_json())
    assert "<b>state 1</b>: left 60%, right 40%<br>leads to state 0 60%, state 1 24%, state 2 16%" in hover
    assert picture.see == (
        "At step 2 the likeliest action is **right** in 3 of 4 states. The optimal policy does better in 1 of these "
        "states. On average, the likeliest action in a state has a probability of 82%."
    )
    assert picture.table["chance of left"].tolist() == pytest.approx([0.1, 0.6, 0.1, 0.1])
    assert picture.table["action"].tolist() == ["right", "left", "right", "right"]


def test_chances_of_actions_over_the_steps(chain: Any) -> None:
    chances = stochastic(chain)
    picture = steps.action_chances(chances, chain.optimal, see="seen", **chain.labels)
    learned, best = picture.figure.data
    assert (learned.name, best.name) == ("Learned", "Optimal")
    assert learned.z.shape == (8, 5)
    assert learned.z[2 * 1 + 0, 2] == pytest.approx(0.6)  # state 1, left, step 2
    np.testing.assert_array_equal(best.z, np.tile([[0.0], [1.0]], (4, 5)))
    assert (learned.zmin, learned.zmax) == (0, 1)
    row = picture.table[(picture.table["step"] == 2) & (picture.table["state"] == "state 1")]
    assert row["learned"].tolist() == pytest.approx([0.6, 0.4])
    assert row["action"].tolist() == ["left", "right"]
    said = sentences.about_chances(chances, chain.optimal, chain.occupancy)
    assert said == (  # (19 * 0.9 + 0.4) / 20, (19 * 0.9 + 0.6) / 20
        "Along the optimal policy's path, this policy takes the optimal action with a probability of 88%. The "
        "likeliest action has a probability of 88% on average over states and steps, and of at least 60% in each."
    )


def test_steps_weigh_a_disagreement_by_the_optimal_policys_visits_and_a_tie_is_none(chain: Any) -> None:
    tied = chain.optimal_Q.copy()
    tied[2, 1] = 0.5
    assert worse_actions(chain.policy, chain.optimal, tied).sum() == 0
    given = {"optimal_policy": chain.optimal, "optimal_occupancy": chain.occupancy}
    picture = captioned.over_steps(chain.policy, when="after 10 episodes", **given, **chain.labels)
    learned, best, weighed = (t for t in picture.figure.data if t.type == "heatmap")
    assert (learned.name, best.name) == ("Learned", "Optimal")
    np.testing.assert_array_equal(learned.z, chain.policy.T)
    expected = np.zeros((4, 5))
    expected[1, 2] = 0.25
    np.testing.assert_array_equal(weighed.z, expected)
    assert "1 of 20 state-step pairs" in picture.see
    assert "5% of its time" in picture.see
    layout = picture.figure.layout
    assert layout.xaxis3.title.text == "Step h (0 to 4)"
    assert layout.yaxis.title.text == "State"
    assert picture.table["worse than optimal"].sum() == 1


@pytest.mark.parametrize("drawing", first([CHAIN, GRAPH]))
@pytest.mark.parametrize(
    ("S", "A", "H"),
    [
        (1, 1, 1),
        (24, 3, 200),
        (300, 4, 2),
        (6, 100, 2),
        pytest.param(300, 100, 2, marks=pytest.mark.thorough),  # both at their most
    ],
)
def test_every_size_stays_readable(drawing: dict[str, str], S: int, A: int, H: int) -> None:
    rng = np.random.default_rng(0)
    P = np.broadcast_to(rng.dirichlet(np.full(S, 0.3), size=(S, A)), (H, S, A, S))
    R = np.broadcast_to(rng.random((S, A)), (H, S, A))
    labels: dict[str, Any] = {
        "state_labels": [f"state {s}" for s in range(S)],
        "action_labels": [f"action {a}" for a in range(A)],
    }
    chosen, best = rng.integers(0, A, size=(2, H, S))
    occupancy = np.full((H, S), 1 / S)
    alone = policy.environment_drawing(P, R, drawing=drawing, **labels)
    drawn = captioned.on_environment(
        P, chosen, step=H - 1, drawing=drawing, optimal_policy=best, occupancy=occupancy, **labels
    )
    over = captioned.over_steps(chosen, optimal_policy=best, optimal_occupancy=occupancy, **labels)
    states = next(t for t in drawn.figure.data if t.name == "states")
    assert ("text" in states.mode) == (S <= 24)
    assert states.marker.size >= 5
    for axis in (over.figure.layout.xaxis, over.figure.layout.yaxis):
        assert axis.tickvals is None or len(axis.tickvals) <= 16
    for picture in (alone, drawn, over):
        assert picture.figure.layout.height <= 1100
        picture.figure.to_json()


def test_more_actions_than_colours_are_drawn_as_their_average() -> None:
    """A hundred actions had a hundred entries in the legend, over which nothing could be seen."""
    rng = np.random.default_rng(0)
    P, R = rng.dirichlet(np.ones(2), size=(1, 2, 100)), rng.random((1, 2, 100))
    names = [str(a) for a in range(100)]
    picture = policy.environment_drawing(
        P, R, drawing={"kind": "graph"}, state_labels=("0", "1"), action_labels=names
    )
    assert [trace.name for trace in picture.figure.data if trace.showlegend] == ["all actions, on average"]
    assert "There are 100 actions" in picture.see


STATES, ACTIONS, E = ("mild", "severe", "other"), ("watch", "treat"), 10.0
# [H = 2, S = 3, A = 2]: at step 1 of severe too few did what the policy does, and nobody was ever in other
VISITS = np.array([[[90.0, 40], [30, 200], [3, -2]], [[20, 70], [9, 100], [0, 1]]])
POLICY = np.array([[0, 0, 0], [0, 0, 1]])
ENOUGH = np.array([[True, True, False], [True, False, False]])


def test_where_a_policy_does_something_else_is_counted_where_both_are_known() -> None:
    usual, known = steps.most_often(VISITS, E)
    assert usual[:, :2].tolist() == [[0, 1], [1, 1]]
    assert known.tolist() == [[True, True, False], [True, True, False]]
    found = steps.changed(POLICY, ENOUGH, VISITS, E)
    assert found == ((0, 1, 0, 1), 2, 3)  # at step 0 of severe there are more users than at step 1 of mild
    agreed = steps.changed(usual, known, VISITS, E)
    assert agreed[:2] == (None, 0)


def test_where_too_few_did_so_the_picture_says_who_decides() -> None:
    how: dict[str, Any] = {"somebody": "somebody decides", "see": "What to see."}
    picture = steps.policy_beside_usual(
        POLICY, ENOUGH, VISITS, E, state_labels=STATES, action_labels=ACTIONS, **how
    )
    policy, usual = (trace for trace in picture.figure.to_dict()["data"] if trace["type"] == "heatmap")
    assert np.array(policy["customdata"]).T.tolist() == [
        ["watch", "watch", "somebody decides"],
        ["watch", "somebody decides", "somebody decides"],
    ]
    assert np.array(usual["customdata"]).T.tolist() == [
        ["watch", "treat", steps.FEW],
        ["treat", "treat", steps.FEW],
    ]
    table = picture.table
    decides = ["policy", "policy", "somebody decides", "policy", *["somebody decides"] * 2]
    assert table["decides"].tolist() == decides
    assert table["noisy episodes with this action"].tolist() == [90, 30, 3, 20, 9, 1]
    assert table["noisy episodes with that action"].tolist() == [90, 200, 3, 70, 100, 1]


def world(key: str, **params: Any) -> tuple[Any, dict[str, Any]]:
    environment = ENVIRONMENTS[key]
    mdp = environment.make(**{f.name: f.default for f in environment.fields} | params)
    return mdp, {"drawing": mdp.drawing, "state_labels": mdp.state_labels, "action_labels": mdp.action_labels}


GRIDS = [("gridworld", {}), ("gymnasium", {}), ("gymnasium", {"id": "CliffWalking-v1"})]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("key", "params"), GRIDS)
def test_every_cell_stands_where_it_is(key: str, params: dict[str, Any], dark: bool) -> None:
    mdp, hints = world(key, **params)
    picture = policy.environment_drawing(mdp.P, mdp.R, dark=dark, **hints)
    (cells,) = named(picture.figure, "cells")
    filled = np.isfinite(np.array(cells.z, float))
    expected = np.zeros((mdp.drawing["rows"], mdp.drawing["columns"]), bool)
    for r, c in mdp.drawing["cells"]:
        expected[r, c] = True
    np.testing.assert_array_equal(filled, expected)
    walls = named(picture.figure, "wall")
    assert bool(walls) == bool((~expected).any())
    if walls:
        np.testing.assert_array_equal(np.isfinite(np.array(walls[0].z, float)), ~expected)
    top, bottom = picture.figure.layout.yaxis.range
    assert top > bottom  # row 0 is on top
    assert [len(named(picture.figure, word)) for word in ("start", "goal", "pit")] == [1, 1, 1]


def test_arrows_are_the_policys_moves_and_none_stands_where_nothing_matters() -> None:
    mdp, hints = world("gridworld")
    best = planning.optimum(mdp)
    seen = planning.occupancy(mdp, best.policy)
    picture = captioned.on_environment(
        mdp.P, best.policy, step=2, optimal_policy=best.policy, optimal_Q=best.Q, occupancy=seen, **hints
    )
    (arrows,) = named(picture.figure, "action")
    drawn = {(y, x): text for x, y, text in zip(arrows.x, arrows.y, arrows.text, strict=True)}
    glyphs = {"up": "↑", "right": "→", "down": "↓", "left": "←"}
    for s, (r, c) in enumerate(mdp.drawing["cells"]):
        if mdp.drawing["marks"].get(f"{r},{c}") in grid.FINAL:
            assert (r, c) not in drawn
        else:
            assert drawn[r, c] == glyphs[mdp.action_labels[best.policy[2, s]]]
    (cells,) = named(picture.figure, "cells")
    assert np.nanmax(np.array(cells.z, float)) == 1
    (rings,) = named(picture.figure, "the optimal action is better")
    assert len(rings.x) == 0


def test_cells_where_the_policy_never_is_at_a_step_are_empty() -> None:
    mdp, hints = world("gridworld")
    best = planning.optimum(mdp)
    seen = planning.occupancy(mdp, best.policy)
    worse = best.policy.copy()
    worse[1, -3:] = 0
    picture = captioned.on_environment(
        mdp.P, worse, step=1, optimal_policy=best.policy, optimal_Q=best.Q, occupancy=seen, **hints
    )
    (cells,), (never,) = named(picture.figure, "cells"), named(picture.figure, "never here")
    reached = seen[1, : len(mdp.drawing["cells"])] > 0
    assert 0 < reached.sum() < len(reached)
    for s, (r, c) in enumerate(mdp.drawing["cells"]):
        assert np.isfinite(cells.z[r][c]) == reached[s]
        assert np.isfinite(never.z[r][c]) == (not reached[s])
    (rings,) = named(picture.figure, "the optimal action is better")
    assert len(rings.x) == 0
    assert f"in {(seen[1] > 0).sum()} of {mdp.S} states" in picture.see


@pytest.mark.parametrize("key", ["clinic", "hard-jdp", "custom", "chain"])
def test_long_names_stand_beside_the_nodes_whole_or_are_short(key: str) -> None:
    mdp, hints = world(key)
    picture = policy.environment_drawing(mdp.P, mdp.R, **hints)
    (nodes,) = named(picture.figure, "states")
    beside = [
        a.text.replace("<br>", " ") for a in picture.figure.layout.annotations if "reward" not in a.text
    ]
    if "text" in nodes.mode:
        assert beside == []
        assert len(set(nodes.text)) == mdp.S
        assert max(map(len, nodes.text)) <= 4
    else:
        assert beside == list(mdp.state_labels)


def test_names_a_visitor_gave_are_text() -> None:
    labels = ("<b>bold</b> and long", "&amp; another long one")
    P = np.full((1, 2, 1, 2), 0.5)
    picture = policy.environment_drawing(
        P, np.zeros((1, 2, 1)), drawing={"kind": "graph"}, state_labels=labels, action_labels=("a",)
    )
    text = " ".join(a.text for a in picture.figure.layout.annotations)
    assert "<b>" not in text
    assert "&amp;amp;" in text
