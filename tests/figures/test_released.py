"""A policy learned from a private data set, beside what users got."""

from __future__ import annotations

from typing import Any

import numpy as np

from dprl.figures import steps
from dprl.figures.picture import Picture

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


def beside_usual(**more: Any) -> Picture:
    labels: dict[str, Any] = {
        "state_labels": STATES,
        "action_labels": ACTIONS,
        "somebody": "somebody decides",
    }
    return steps.policy_beside_usual(POLICY, ENOUGH, VISITS, E, **labels, **more)


def test_where_too_few_did_so_the_picture_says_who_decides() -> None:
    picture = beside_usual(see="What to see.")
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
