"""The page Offline: what a visitor sees at first, in each example and tab, runs, presses, copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl.runs.store import Store
from dprl.simulation import OfflineSpec, run
from pages.offline.charts import most_private, run_titles
from pages.offline.record import EXAMPLES, OfflineView
from pages.offline.record import FIRST as DEFAULT
from pages.shared.results.data import bundled
from pages.shared.visitor.links import encode_specs, fields_of
from tests.pages.conftest import Visit, Work, charts, grouped, legend, press, widget, words
from tests.problems import first

PAGE = "offline"
SMALL = OfflineSpec(environment="riverswim", environment_params={"S": 3, "H": 3}, n=10**6, seeds=2)
SPECS = (SMALL.baseline(), SMALL, SMALL.replace(rho=0.1))


SEEN = {  # what each tab but the first draws first, by its alternative text (None: nothing), and says
    "pessimism": ("Heatmaps of the true and the released", "the penalty removes the action's whole value"),
    "policy": ("Heatmaps of the action taken", "policy takes the learned action with a probability of"),
    "coverage": ("Heatmaps of the states visited", "Along the optimal policy's path"),
    "guarantee": (None, "Proved as claimed:** ρ = 0.1 when one trajectory is replaced"),
    "data": (None, "The suboptimality of every run"),
}


def query(*specs: OfflineSpec, **view: Any) -> dict[str, Any]:
    """The link to these runs, by default to small ones."""
    return grouped(encode_specs(specs or SPECS, OfflineView(**view)))


def test_what_an_older_link_chose_and_the_page_has_no_more_is_said(visit: Visit) -> None:
    said = "Offline always draws means on logarithmic axes."
    assert said in words(visit(PAGE, **query(), each="all"))
    assert said not in words(visit(PAGE, **query()))


def test_kept_curves_stay_until_there_are_too_many(visit: Visit) -> None:
    app = visit(PAGE, **query(*SPECS))
    widget(app, "toggle", "Keep the runs shown").set_value(True).run()
    widget(app, "text_input", "Values of ρ").set_value("2, 3, 4, 5, 6, 7").run()
    assert "At most 8 curves can be shown, and 3 are shown now" in words(app)
    assert app.button(key="run").disabled
    widget(app, "text_input", "Values of ρ").set_value("2, 3").run()
    press(app, "run")
    assert len(app.query_params["c"]) == 5


def test_bundled_low_estimates_are_the_engines() -> None:
    spec = DEFAULT[-1].replace(seeds=1)
    trace, kept = run(spec), bundled("offline")[DEFAULT[-1]]
    again = "it is not what the engine computes: run `python -m bench.bundled offline`"
    assert np.array_equal(kept.at, trace.at), again
    assert kept.values[:1] == pytest.approx(trace.values, rel=1e-5, abs=1e-12), again
    assert kept.lower is not None
    assert kept.lower[0] == pytest.approx(trace.seeds[0].lower, rel=1e-7), again


def named(app: Any) -> set[str]:
    """The runs in the legend, without their numbers."""
    return {name.split(": ")[-1] for name in legend(app)}


@pytest.mark.parametrize("place", first(range(1, len(EXAMPLES))))  # the first is shown already
def test_every_example_opens_finished(visit: Visit, store: Store, place: int) -> None:
    app, example = visit(PAGE), EXAMPLES[place]
    assert set(run_titles(DEFAULT)) <= named(app)
    app.pills[0].set_value(example.title).run()
    assert store.activity().seeds_queued == 0
    assert app.get("progress") == []
    assert set(run_titles(example.specs)) <= named(app)
    assert app.query_params["c"] == query(*example.specs)["c"]


def test_every_tab_of_a_finished_comparison(visit: Visit, work: Work) -> None:
    assert set(SEEN) == set(fields_of(OfflineView)["tab"].choices[1:])
    visit(PAGE, **query())
    assert work() == 6
    unusual = {"episode": 3, "n": 500, "h": 2, "first": 1, "second": 2, "near": "off"}
    known = {name: value for name, value in unusual.items() if name in fields_of(OfflineView)}
    for tab, (alt, said) in SEEN.items():
        app = visit(PAGE, **query(tab=tab))
        assert said in words(app), tab
        assert [chart.alt.startswith(alt or "-") for chart in charts(app)][:1] == ([True] if alt else []), tab
        for curve in (0, 2):
            visit(PAGE, **query(tab=tab, curve=curve, **known))


def test_a_close_look_at_what_is_bundled_computes_it(visit: Visit, store: Store, work: Work) -> None:
    app = visit(PAGE, tab="pessimism")
    assert store.activity().seeds_queued == DEFAULT[most_private(DEFAULT)].seeds
    app.button(key="cancel").click().run()
    assert store.activity().seeds_queued == 0
    assert "was not computed" in words(app)
    app.button(key="close_look").click().run()
    work(1)
    app.run()
    assert SEEN["pessimism"][1] in words(app)


def test_a_link_with_a_policy_shows_its_data(visit: Visit) -> None:
    spec = SMALL.replace(behaviour="policy:0.7:111X3")
    app = visit(PAGE, **query(spec, tab="coverage"))
    assert "70% follow a given policy, the others act at random" in words(app)
    assert widget(app, "selectbox", "Behaviour policy").value == "policy"
    assert not app.button(key="run").disabled
