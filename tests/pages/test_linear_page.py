"""The page Linear: what a visitor sees at first, runs, presses, copies."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

from dprl.learners import ALGORITHMS
from dprl.runs.status import RunStatus
from dprl.runs.store import Store
from dprl.simulation import RunSpec
from pages.linear.examples import BASE, DEFAULT, EXAMPLES, harder
from pages.linear.record import LINEAR
from pages.linear.settings import LEARNERS, PROBLEMS, drafted, fitting, settings_of, specs_of
from pages.linear.tabs.exponents import most
from pages.linear.view import TABS, LinearView
from pages.shared.names import titles
from pages.shared.results import status
from pages.shared.results.bundled import bundled
from pages.shared.visitor.links import Curve
from pages.tradeoffs.state import SweepPageState
from tests.pages.conftest import Visit, Work, charts, choice, grouped, press, widget, words
from tests.problems import first, loop

PAGE = "linear"
SMALL = RunSpec(
    environment="linear-mixture",
    environment_params={"d": 3, "S": 3, "H": 4},
    algorithm="ucrl-vtr",
    privacy="central",
    episodes=10**8,
    seeds=2,
)
SPECS = (SMALL.baseline(), SMALL, SMALL.replace(privacy="local"))


def query(*specs: RunSpec, **view: Any) -> dict[str, Any]:
    return grouped(LINEAR.encode(specs, LinearView(**view)))


def labels(specs: tuple[RunSpec, ...]) -> list[str]:
    return titles([Curve(spec) for spec in specs])


def test_the_first_example_says_what_its_runs_show() -> None:
    share = {
        spec.privacy: np.interp([10**7, 10**12], known.at, known.values.mean(0) / known.at) / 3.185
        for spec, known in bundled("linear").items()
        if spec in DEFAULT and spec.epsilon in (None, 1.0)
    }
    assert "under 1% of V* from 10 million users on" in EXAMPLES[0].say
    assert share["central"][0] < 0.01 < share["local"][1]


def test_from_which_k_paper_constants_say_something_is_read_off_their_runs(visit: Visit) -> None:
    (example,) = (e for e in EXAMPLES if e.title == "The paper's constants")
    app = visit(PAGE, **query(*example.specs))
    (said,) = [info.value for info in app.info]
    assert "once an average episode loses less than 50% of V*" in said
    by_label = dict(zip(labels(example.specs), example.specs, strict=True))
    for label, spec in by_label.items():
        if spec.bonus != "paper":
            assert f"**{label}**" not in said
            continue
        kept = bundled("linear")[spec]
        average = kept.values.mean(0) / kept.at / 3.185
        told = said.split(f"**{label}**: ")[1].split(" users")[0]
        if average[-1] > 0.5:
            assert told == "not within 10¹⁵"
        else:
            assert told.startswith("from about ")


def test_the_price_is_measured_against_the_same_learner(visit: Visit, work: Work) -> None:
    visit(PAGE, **query(*SPECS))
    work()
    assert len(charts(visit(PAGE, **query(*SPECS, measure="extra")))) == 1
    assert "Add a run without privacy to see it." in words(visit(PAGE, **query(*SPECS[1:], measure="extra")))


def test_the_region_holds_the_truth_and_noise_widens_it(visit: Visit, work: Work) -> None:
    visit(PAGE, **query(*SPECS))
    work()
    drawn: dict[str, Any] = {}
    for near in ("on", "off"):
        app = visit(PAGE, **query(*SPECS, tab="ellipsoid", curve=1, near=near))
        (chart,) = charts(app)
        drawn = {t["name"]: t for t in json.loads(chart.spec)["data"]}
    noisy, quiet = (drawn[f"confidence set {which}"] for which in ("with noise", "without noise, same users"))
    (x,), (y,) = (np.array(_array(drawn["true weights"][axis])) for axis in "xy")
    spans = []
    for one in (noisy, quiet):
        across, up = _array(one["x"]), _array(one["y"])
        assert across.min() < x < across.max()
        assert up.min() < y < up.max()
        spans.append(np.ptp(across) * np.ptp(up))
    assert spans[0] > spans[1]


def _array(given: Any) -> Any:
    """Numbers as Plotly sends them: a list, or binary."""
    import base64

    if isinstance(given, dict):
        return np.frombuffer(base64.b64decode(given["bdata"]), dtype=given["dtype"])
    return np.array(given, float)


def test_problems_get_harder_and_exponents_can_be_met(visit: Visit) -> None:
    (example,) = (e for e in EXAMPLES if e.view.problem == "harder")
    app = visit(PAGE, **query(*example.specs, tab="exponents", problem="harder"))
    (chart,) = charts(app)
    drawn = json.loads(chart.spec)["data"]
    assert {t["name"].split(":")[0] for t in drawn if t["name"].startswith("0.")} == {"0.50", "0.75"}
    said = words(app)
    found = [float(x) for x in re.findall(r"x = ([\d.]+)", said)]
    assert found == pytest.approx([0.52, 0.5, 0.5], abs=0.06)
    runs = harder(BASE)
    assert [one.episodes for one in runs] == [10**k for k in range(6, 13)]
    assert runs[0].environment_params == BASE.environment_params
    shares = np.array([one.environment_params["share"] for one in runs]) - 0.25
    np.testing.assert_allclose(shares[1:] / shares[:-1], 10**-0.5)


@pytest.mark.parametrize("key", first(LEARNERS))
def test_why_a_learner_does_not_take_a_privacy_model_is_said(visit: Visit, key: str) -> None:
    missing = {"none", "central", "local"} - set(ALGORITHMS[key].privacies)
    problem = next(problem for problem in PROBLEMS if key in fitting(problem))
    app = visit(
        PAGE, **query(RunSpec(environment=problem, algorithm=key, privacy="none", episodes=10**3, seeds=1))
    )
    said = words(app)
    for model in missing:
        assert f"{ALGORITHMS[key].title}: {model.capitalize()} is an open question" in said
    assert ("is an open question" in said) == bool(missing)


def test_further_runs_are_offered_started_by_their_link_and_shown(
    visit: Visit, work: Work, store: Store
) -> None:
    visit(PAGE, **query(SMALL))
    work()
    app = visit(PAGE, **query(SMALL, tab="exponents"))
    choice(app, "Harder with more users").set_value("harder").run()
    press(app, "run_harder")
    assert store.activity().seeds_queued == 2 * len(harder(SMALL)) == 12
    work()
    assert charts(visit(PAGE, **query(SMALL, tab="exponents", problem="harder")))


def test_some_of_the_further_runs_are_drawn_while_the_others_are_offered(
    visit: Visit, work: Work, store: Store
) -> None:
    for one in (SMALL, *harder(SMALL)[:3]):
        store.ask(one, "somebody")
    work()
    app = visit(PAGE, **query(SMALL, tab="exponents"))
    choice(app, "Harder with more users").set_value("harder").run()
    assert app.button(key="run_harder").label == "Run them"
    assert charts(app)


def test_ways_lead_on_to_explore_and_to_a_sweep_of_the_same_learner(visit: Visit, store: Store) -> None:
    links = {link.proto.page: link.proto.query_string for link in visit(PAGE).get("page_link")}
    explore, sweep = (parse_qs(links[page]) for page in ("explore", "tradeoffs"))
    assert len(explore["c"]) == len(DEFAULT)
    app = visit("tradeoffs", **sweep)
    part = app.session_state["session"].part(SweepPageState)
    assert part.study.base.algorithm == "ucrl-vtr"
    assert part.study.models == ("central", "local", "none")
    assert "Not all of this link" not in words(app)


def test_too_few_users_for_an_exponent_are_said(visit: Visit, work: Work) -> None:
    few = SMALL.replace(episodes=500, seeds=1)
    visit(PAGE, **query(few))
    work()
    assert "at least 10,000 users" in words(visit(PAGE, **query(few, tab="exponents")))
    assert "This view needs more users" in words(visit(PAGE, **query(few, tab="exponents", problem="harder")))
    for tab in ("ellipsoid", "eigenvalues", "weights"):
        assert charts(visit(PAGE, **query(few, tab=tab)))


def test_theory_is_found_for_every_pair_that_a_paper_bounds() -> None:
    assert [most(spec) for spec in SPECS] == [0.5, 0.5, 0.75]


def test_only_what_is_linear_is_offered(visit: Visit) -> None:
    app = visit(PAGE)
    menu = widget(app, "selectbox", "Environment")
    assert len(menu.options) == len(PROBLEMS)
    app = visit(PAGE, c=["env.riverswim", *query(SMALL)["c"]])
    assert "Only runs of algorithms of linear models are shown here" in words(app)
    part = app.session_state["session"].parts["linear"]
    assert len(part.specs) == 1
    for key in LEARNERS:
        for model in {"none", "central", "local"} - set(ALGORITHMS[key].privacies):
            settings = settings_of((BASE,))
            settings.learners, settings.models = [key], ["none", model]
            draft = drafted((BASE,))
            draft.environment = next(problem for problem in PROBLEMS if key in fitting(problem))
            _, refused = specs_of(settings, draft)
            assert refused


def test_settings_give_the_runs_that_they_are_made_from() -> None:
    for example in EXAMPLES:
        if len({spec.bonus for spec in example.specs}) == 1:
            found, refused = specs_of(settings_of(example.specs), drafted(example.specs))
            assert (set(found), refused) == (set(example.specs), [])


@pytest.mark.parametrize("key", first(LEARNERS, loop))
def test_every_learner_of_a_linear_model_has_every_tab(visit: Visit, work: Work, key: str) -> None:
    """What it declares is enough: a learner appears here by itself."""
    base = RunSpec(
        environment=next(problem for problem in PROBLEMS if key in fitting(problem)),
        environment_params={"H": 3},
        algorithm=key,
        privacy="central",
        episodes=10**5,
        seeds=1,
    )
    given = query(base.baseline(), base)
    visit(PAGE, **given)
    work()
    drawn = {"regret", "exponents", "ellipsoid", "eigenvalues", "weights"}
    for tab in TABS:
        app = visit(PAGE, **given, tab=tab)
        assert bool(charts(app)) == (tab in drawn) or tab == "guarantee", (tab, words(app))
    assert most(base) is not None
    assert key in app.multiselect[0].value


def test_a_visitor_sees_that_the_algorithm_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    running, spec = RunStatus(state="running", seeds=1), RunSpec()
    assert status.awaited([running], [spec]) == "The first points appear in a moment."
    monkeypatch.setattr(status, "compiles", lambda given: given is spec)
    assert "compiles the algorithm before its first run" in status.awaited([running], [spec])
    assert status.awaited([], [spec]) == "Nothing has been computed."
