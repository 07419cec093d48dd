"""What a comparison opens on: the most private curve, in the settings and in the close looks."""

from __future__ import annotations

import pytest

from dprl.simulation import RunSpec
from pages.shared.names import titles
from pages.shared.visitor.draft import spec_from
from pages.shared.visitor.links import AT_FIRST, Curve, most_private
from tests.pages.conftest import Visit, chip, keyed, press, widget

SMALL = "envp.S.3~envp.H.3~K.1000~seeds.1"
LINK = [f"{SMALL}~priv.none", "priv.central~eps.10", "priv.central~eps.0.1", "priv.local~eps.1"]
BASE = RunSpec(environment_params={"S": 3, "H": 3})


HIDDEN = Curve(BASE, hidden=True)


@pytest.mark.parametrize(
    ("curves", "found"),
    [
        ((BASE.baseline(), BASE, BASE.replace(epsilon=0.1), BASE.replace(epsilon=10.0)), 2),
        ((BASE.baseline(), *(BASE.replace(privacy=p) for p in ("local", "shuffle", "central"))), 1),
        ((BASE, BASE.replace(calibration="paper"), BASE.baseline()), 1),
        ((BASE.replace(epsilon=0.5), BASE.replace(privacy="local")), 0),
        ((BASE.baseline(), BASE.replace(bonus="paper").baseline()), 0),
        ((BASE.baseline(), HIDDEN), 0),  # what is hidden is not looked at first
        ((HIDDEN, Curve(BASE.replace(epsilon=0.1), hidden=True)), 1),
    ],
)
def test_the_most_private_promises_most(curves: tuple[RunSpec | Curve, ...], found: int) -> None:
    assert most_private([Curve(one) if isinstance(one, RunSpec) else one for one in curves]) == found


def test_a_link_fills_the_settings_with_its_most_private_curve(visit: Visit) -> None:
    app = visit("explore", c=LINK)
    session = app.session_state["session"]
    assert spec_from(session.draft) == session.explore.curves[2].spec
    assert keyed(app, "text_input", "epsilon:exact").value == "0.1"


def test_a_curve_that_was_chosen_stays_when_another_goes_or_comes(visit: Visit) -> None:
    app = visit("explore", c=LINK, tab="data")
    widget(app, "selectbox", "Curve").set_value(1).run()
    chip(app, "Remove", 0).click().run()
    assert app.session_state["session"].explore.view.curve == 0
    chip(app, "Remove", 0).click().run()
    assert app.session_state["session"].explore.view.curve == -1


def test_the_first_run_in_an_environment_comes_with_its_baseline_and_others_alone(visit: Visit) -> None:
    app = visit("bare")
    press(app, "run")
    kept = app.session_state["session"].explore
    assert kept.curves == [Curve(RunSpec()), Curve(RunSpec().baseline())]
    assert kept.view == AT_FIRST
    widget(app, "text_input", "Privacy budget ε, exact value").input("3").run()
    press(app, "run")
    assert [c.spec for c in kept.curves] == [RunSpec(), RunSpec().baseline(), RunSpec(epsilon=3.0)]
    widget(app, "selectbox", "Environment").select("chain").run()
    press(app, "run")
    *before, other, baseline = kept.curves
    assert (len(before), other.spec.environment, baseline.spec) == (3, "chain", other.spec.baseline())
    assert titles(kept.curves) == [
        "RiverSwim: Central ε = 1",
        "RiverSwim: No privacy",
        "RiverSwim: Central ε = 3",
        "Combination lock: Central ε = 3",
        "Combination lock: No privacy",
    ]
    bare = visit("bare")
    widget(bare, "selectbox", "Privacy model").select("none").run()
    press(bare, "run")
    assert [c.spec for c in bare.session_state["session"].explore.curves] == [RunSpec(privacy="none")]
