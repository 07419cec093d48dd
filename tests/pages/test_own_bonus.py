"""A learner of another package, whose bonus nobody has proved: that is said wherever its bonus is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dprl import ALGORITHMS
from dprl.learners.tabular import pucb
from dprl.learners.tabular.planner import TabularLearner
from dprl.simulation import FIELDS
from pages.shared import names
from pages.shared.controls import panel
from tests.pages.conftest import Visit, widget, words

NOT_PROVED = "not proved"


@pytest.fixture
def simple(monkeypatch: pytest.MonkeyPatch) -> TabularLearner:
    """A learner that brings no kernel for the anytime bonus and names no sets of constants, as a plug-in would."""
    found = TabularLearner(
        key="simple", title="Simple optimism", summary="Optimism.", source="nobody's", privacies=("central", "none"),
        statistic=pucb.ALGORITHM.statistic, plan=pucb.ALGORITHM.plan, constants=pucb.ALGORITHM.constants,
    )  # fmt: skip
    monkeypatch.setattr(ALGORITHMS, "group", "")
    monkeypatch.setitem(ALGORITHMS, "simple", found)
    algorithm = FIELDS["algorithm"]
    monkeypatch.setitem(FIELDS, "algorithm", replace(algorithm, choices=(*algorithm.choices, "simple")))
    return found


@pytest.mark.parametrize("privacy", ["central", "none"])
def test_menu_title_and_card_say_so(simple: TabularLearner, visit: Visit, privacy: str) -> None:
    app = visit("explore", c=[f"alg.simple~priv.{privacy}~K.1000~seeds.1"], tab="guarantee")
    menu = widget(app, "selectbox", "Bonus constants")
    assert menu.options == [panel.BONUS["own"]]
    assert "No theorem here proves" in menu.help
    said = words(app)
    assert "Simple optimism" in said
    assert names.BONUS["own"] in said
    assert "This bonus has no proof" in said
    built_in = words(visit("explore", c=[f"priv.{privacy}~K.1000~seeds.1"], tab="guarantee"))
    assert NOT_PROVED not in built_in
