"""Offline: open finished, compute, show, refuse, and write links."""

from __future__ import annotations

from typing import Any

import pytest

from dprl.runs.store import Store
from dprl.simulation import OfflineSpec
from pages.offline.record import EXAMPLES, FIRST, OfflineLink, OfflineState, decode
from pages.offline.view import OfflineView
from pages.shared.offline import names
from pages.shared.visitor import multi_run_link
from pages.shared.visitor.views import fields_of
from tests.pages.conftest import Visit, Work, charts, grouped, legend, press, sent, tabs, widget, words
from tests.problems import first

DATA = OfflineSpec(environment="riverswim", environment_params={"S": 3, "H": 3}, n=10**6, seeds=2)
SPECS = (DATA.baseline(), DATA, DATA.replace(rho=0.1))
SEEN = {  # what each tab but the first draws first, by its alternative text (None: nothing), and says
    "pessimism": ("Heatmaps of a data set's visits", "the penalty removes the action's whole value"),
    "policy": ("Heatmaps of the action taken", "the behaviour policy takes the learned action with chance"),
    "coverage": ("Heatmaps of the states on the way", "On the optimal policy's way"),
    "guarantee": (None, "Proved as claimed:** ρ = 0.1 when one trajectory is replaced"),
    "data": (None, "The suboptimality of every run"),
}


def query(*specs: OfflineSpec, **view: Any) -> dict[str, list[str]]:
    """The link to these runs, by default to small ones."""
    return grouped(multi_run_link.encode(specs or SPECS, OfflineView(**view)))


def named(app: Any) -> set[str]:
    """The runs in the legend, without their numbers."""
    return {name.split(": ")[-1] for name in legend(app)}


@pytest.mark.parametrize("place", first(range(len(EXAMPLES))))
def test_every_example_opens_finished(visit: Visit, store: Store, place: int) -> None:
    app, example = visit("offline"), EXAMPLES[place]
    assert set(names.titles(FIRST)) <= named(app)
    press(app, f"example_{place}")
    assert store.activity().seeds_queued == 0
    assert app.get("progress") == []
    assert set(names.titles(example.specs)) <= named(app)
    assert app.query_params["c"] == query(*example.specs)["c"]


def test_every_tab_of_a_finished_comparison(visit: Visit, work: Work) -> None:
    assert set(SEEN) == set(fields_of(OfflineView)["tab"].choices[1:])
    visit("offline", **query())
    assert work() == 6
    for tab, (alt, said) in SEEN.items():
        app = visit("offline", **query(tab=tab))
        assert said in words(app), tab
        assert [chart.alt.startswith(alt or "-") for chart in charts(app)][:1] == ([True] if alt else []), tab
        for curve in (0, 2):
            visit("offline", **looked_at(tab, curve))


def looked_at(tab: str, curve: int) -> dict[str, list[str]]:
    """The same with all else of the view not as usual, as far as that is of a close look."""
    given = {"episode": 3, "n": 500, "h": 2, "first": 1, "second": 2, "near": "off"}
    known = {name: value for name, value in given.items() if name in fields_of(OfflineView)}
    return query(tab=tab, curve=curve, **known)


def test_a_link_starts_what_is_missing_and_curves_grow(visit: Visit, work: Work, store: Store) -> None:
    app = visit("offline", **query())
    assert store.activity().seeds_queued == 6
    assert "3 runs" in words(app)
    assert "The first points appear in a moment" in words(app)
    work(3)
    app.run()
    assert "3 of 6 seeds finished" in words(app).replace("**", "")
    assert charts(app)
    work()
    app.run()
    assert app.get("progress") == []
    second = visit("offline", **query())
    assert store.activity().seeds_queued == 0
    assert legend(second) == legend(app)


def test_a_close_look_at_what_is_bundled_computes_it(visit: Visit, store: Store, work: Work) -> None:
    app = visit("offline", tab="pessimism")
    assert store.activity().seeds_queued == FIRST[names.most_private(FIRST)].seeds
    app.button(key="cancel").click().run()
    assert store.activity().seeds_queued == 0
    assert "This data set was not computed" in words(app)
    app.button(key="close_look").click().run()
    work(1)
    app.run()
    assert SEEN["pessimism"][1] in words(app)


def test_tabs_are_in_the_address(visit: Visit) -> None:
    app = visit("offline")
    sent(app, tabs(app), string_value="Guarantee")
    assert app.query_params["tab"] == "guarantee"
    assert app.query_params["c"] == query(*FIRST)["c"]


def test_run_shows_what_the_controls_say(visit: Visit) -> None:
    app = visit("offline", **query())
    widget(app, "text_input", "Values of ρ").set_value("0.5, 1, 2").run()
    press(app, "run")
    shown = app.session_state["session"].parts[OfflineState].specs
    assert shown == (DATA.baseline(), *(DATA.replace(rho=rho) for rho in (0.5, 1.0, 2.0)))


def test_all_of_a_view_and_all_examples_are_said_by_a_link() -> None:
    """Each attribute of the view is not as usual."""
    other: dict[str, Any] = {
        name: next(one for one in field.choices if one != field.default)
        if field.choices
        else int(field.low or 0) + 2
        for name, field in fields_of(OfflineView).items()
    }
    view = OfflineView(**other | {"curve": 1})
    for specs in (SPECS, *(example.specs for example in EXAMPLES)):
        for seen in (OfflineView(), view):
            assert decode(grouped(multi_run_link.encode(specs, seen))) == OfflineLink(specs, seen)
