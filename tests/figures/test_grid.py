"""Grids, and graphs with long names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl.environments import ENVIRONMENTS
from dprl.figures import grid, policy
from dprl.mdp import planning
from tests.figures import captioned
from tests.figures.test_regret import named


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
