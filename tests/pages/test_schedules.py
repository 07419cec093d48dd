"""Explore says when a learner makes new plans: in its own words, or in those of the schedule that can be chosen."""

from __future__ import annotations

import pytest

from dprl.learners import ALGORITHMS
from pages.shared.text import escape
from tests.pages.conftest import Visit, marked
from tests.problems import first

OWN = [key for key, learner in ALGORITHMS.items() if learner.schedule]


@pytest.mark.parametrize("key", first([*OWN, "ucrl-vtr"], lambda key: key in OWN))
def test_the_words_are_the_learners_own(visit: Visit, key: str) -> None:
    app = visit("bare")
    app.session_state["session"].draft.algorithm = key
    app.session_state["session"].draft.environment = "linear-mdp" if "lsvi" in key else "linear-mixture"
    app.run()
    learner = ALGORITHMS[key]
    private = learner.privacies != ("none",)
    said = escape(f"{learner.title} {learner.pace(private)}.")
    assert (said in marked(app)) == bool(learner.schedule)
    offered = [box.label for box in app.sidebar.selectbox]
    assert ("Policy updates" in offered) == (not learner.schedule)
