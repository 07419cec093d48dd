"""The page "When is privacy free?": what it shows at once, runs, says, draws, and reads from links."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from urllib.parse import parse_qs

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bench import local_price
from dprl import metrics
from dprl.learners import ALGORITHMS
from dprl.links import encode_spec
from dprl.runs.store import Store
from dprl.simulation import RunSpec
from dprl.theory import BOUNDS
from pages.free import link as free_link
from pages.free.additive import PROVED, measured, summary, trend
from pages.free.link import BASE, MODELS, SHOWN, four_models
from pages.free.state import Free, priced, run_status
from pages.free.verdict import late_losses
from pages.shared.names import BONUS
from pages.shared.results.bundled import bundled
from pages.shared.visitor import links
from tests.pages.conftest import Visit, Work, charts, choice, keyed, names, press, words
from tests.problems import first

PAGE = "free"
SMALL = BASE.replace(environment_params={"S": 3, "H": 3}, episodes=10**6, seeds=3, epsilon=10.0)


def test_the_first_visit_shows_the_answer_and_waits_for_nothing(visit: Visit, store: Store) -> None:
    app = visit(PAGE)
    assert (
        "By 10¹⁵ users the privacy cost grows no more with a trusted curator or a trusted shuffler."
        in words(app)
    )
    assert "The privacy cost still grows at 10¹⁵ users with no trusted party." in words(app)
    assert {"Central (JDP)", "Shuffle (SDP)", "Local (LDP)"} <= set(names(app))
    assert store.activity().runs_waiting == 0


def test_what_is_proved_and_measured_of_local_privacy_on_one_environment(visit: Visit) -> None:
    """The summary follows from the exponents that come with the program."""
    rows = measured()
    assert [(row["environment"], row["params"]) for row in rows[::2]] == list(local_price.PROBLEMS)
    assert {row["reports"] for row in rows[::2]} == {"played"}
    text = words(visit(PAGE)).replace("\\", "")
    assert summary(rows).replace("\\", "") in text
    assert all(said.split("**")[1] in text for said in PROVED)
    for exponent, said in (
        ((0.5, 0.4, 0.6), "goes on"),
        ((0.1, 0.05, 0.2), "cannot be told"),
        ((0, 0, 0), "stops"),
    ):
        assert trend({"exponents": [exponent]}) == said


@pytest.mark.parametrize("bonus", ["anytime", "paper"])
def test_on_riverswim_the_price_flattens_with_a_trusted_agent_and_not_with_nobody_trusted(bonus: str) -> None:
    runs = {c.spec.privacy: bundled("free")[c.spec] for c in four_models(BASE.replace(bonus=bonus))[0]}
    baseline = runs["none"]
    last = {}
    for model in ("central", "shuffle", "local"):
        own = runs[model]
        last[model] = metrics.growth_by_decade(own.at, own.beyond(baseline))[-1]
    assert last["central"].high <= 0.1
    # with the paper's bonus seeds of the shuffled run are still learning: 0.09 (-0.08 to 0.27)
    assert last["shuffle"].high <= (0.1 if bonus == "anytime" else 0.3)
    assert last["shuffle"].mean < last["local"].mean / 2
    assert last["local"].low > (0.1 if bonus == "anytime" else 0.25)  # ours is 0.15, and goes on falling


def test_late_losses_without_privacy_are_said_where_there_are_any(visit: Visit) -> None:
    assert "lost more in the end" not in words(visit(PAGE))
    curves = four_models(BASE)[0]
    runs = priced(curves, [run_status(curve.spec) for curve in curves])
    assert late_losses(runs) == ""
    assert runs[1].price is not None
    price = replace(runs[1].price, values=runs[1].price.values.copy())
    price.values[:2, -1] = -1e6
    text = late_losses([runs[0], replace(runs[1], price=price), *runs[2:]])
    assert "lost more in the end in 2 of 20 seeds than with a trusted curator. Such a seed" in text


def test_the_seeds_of_what_comes_with_the_program_agree_so_that_means_are_drawn() -> None:
    for curve in four_models(BASE)[0]:
        final = bundled("free")[curve.spec].ends
        assert final.mean() < 2 * np.median(final)


@pytest.mark.thorough
def test_where_there_is_one_action_nobody_makes_mistakes(visit: Visit, work: Work) -> None:
    """Then nothing is lost, with privacy or without: that is no late mistake."""
    base = BASE.replace(
        environment="random", environment_params={"S": 2, "A": 1, "H": 2}, episodes=10_000, seeds=2
    )
    visit(PAGE, b=encode_spec(base))
    work()
    assert "lost more in the end" not in words(visit(PAGE, b=encode_spec(base)))


@pytest.mark.parametrize("show", SHOWN)
@pytest.mark.parametrize("bonus", first(["anytime", "paper"]))
def test_every_chart_of_what_comes_with_the_program(
    visit: Visit, store: Store, show: str, bonus: str
) -> None:
    app = visit(PAGE, b=encode_spec(BASE.replace(bonus=bonus)), show=show)
    assert ":material/visibility:" in words(app)  # the sentence that says what to see
    assert "By 10¹⁵ users" in words(app)
    if show == "calculator":
        assert charts(app) == []
        return
    (chart,) = charts(app)
    assert chart.alt
    assert max(len(trace.get("x") or []) for trace in json.loads(chart.spec)["data"]) <= 500
    assert store.activity().runs_waiting == 0


@pytest.mark.thorough
def test_every_chart_while_runs_wait_go_on_and_are_finished(visit: Visit, work: Work) -> None:
    for seeds, show in product((0, 1, 4, 20), SHOWN):
        work(seeds if show == SHOWN[0] else 0)
        app = visit(PAGE, b=encode_spec(SMALL), show=show)
        assert app.session_state["session"].part(Free).view.show == show
        if seeds == 20:
            assert len(charts(app)) == (show != "calculator")
            assert "In reward:" in words(app)


def test_a_link_starts_what_is_missing_as_one_and_cancels_it_as_one(visit: Visit, store: Store) -> None:
    app = visit(PAGE, b=encode_spec(SMALL))
    specs = [curve.spec for curve in four_models(SMALL)[0]]
    assert [spec.privacy for spec in specs] == list(MODELS)
    assert {store.status(spec).state for spec in specs} == {"queued"}
    assert "4 runs" in words(app)
    press(app, "cancel")
    assert {store.status(spec).state for spec in specs} == {"cancelled"}
    press(app, "retry_0")
    assert {store.status(spec).state for spec in specs} == {"queued"}


@pytest.mark.thorough
def test_what_is_said_of_a_run_is_what_its_seeds_say(visit: Visit, work: Work, store: Store) -> None:
    visit(PAGE, b=encode_spec(SMALL))
    work()
    app = visit(PAGE, b=encode_spec(SMALL))
    rows = {}
    for curve in four_models(SMALL)[0]:
        rows[curve.spec.privacy] = metrics.align([(k, r) for _, k, r in store.live(curve.spec)])
    at, local = rows["local"]
    _, price = metrics.extra_regret(at, local, *rows["none"])
    mean, low, high = metrics.growth_exponent(at, price, 1e5, 1e6)
    text = words(app)
    assert f"exponent {mean:.2f} ({low:.2f} to {high:.2f}), from 3 of 3 seeds".replace("-", "−") in text
    assert low > 0.1
    assert "The privacy cost still grows at" in text
    cost = price[:, -1].mean()
    assert f"**Local (LDP):** {float(f'{cost:.3g}'):,.0f}" in text or "million" in text


@pytest.mark.thorough
def test_one_seed_has_no_interval_and_nothing_is_claimed(finished: Visit) -> None:
    one = SMALL.replace(seeds=1)
    text = words(finished(PAGE, b=encode_spec(one)))
    assert "One seed is too few to tell whether the privacy cost grows." in text
    assert "cannot tell whether the privacy cost still grows with a trusted curator" in text
    assert "grows no more" not in text


def test_a_model_that_cannot_be_had_is_said(visit: Visit, work: Work) -> None:
    base = SMALL.replace(mechanism="laplace-tree", delta=0.0)
    visit(PAGE, b=encode_spec(base))
    work()
    app = visit(PAGE, b=encode_spec(base))
    assert "shuffle: delta: 0 does not go with" in words(app)
    assert "Central (JDP):" in words(app)
    assert "Shuffle (SDP):" not in words(app)


def test_run_shows_what_the_controls_say_and_the_address_carries_it(visit: Visit, store: Store) -> None:
    app = visit(PAGE)
    assert "Computed before" in words(app)
    app.sidebar.selectbox[0].select("chain").run()
    assert "Computed before" not in words(app)
    press(app, "run")
    base = app.session_state["session"].part(Free).base
    assert base.environment == "chain"
    assert base.episodes == 10**15
    assert store.status(base).state == "queued"
    again = free_link.decode({key: [value] for key, value in _query(app).items()})
    assert again == free_link.FreeLink(base, app.session_state["session"].part(Free).view, ())
    assert again.view.S == base.environment_params["S"]


def _query(app: AppTest) -> dict[str, str]:
    found = {}
    for key, value in app.query_params.items():
        found[key] = value if isinstance(value, str) else value[-1]
    return found


def test_the_bonus_is_changed_at_once(visit: Visit, store: Store) -> None:
    app = visit(PAGE)
    choice(app, "Paper constants").set_value("paper").run()
    assert app.session_state["session"].part(Free).base == BASE.replace(bonus="paper")
    assert store.activity().runs_waiting == 0


def test_no_bonus_is_offered_that_the_algorithm_does_not_have(visit: Visit) -> None:
    base = SMALL.replace(algorithm="private-ucb-po")
    assert "anytime" not in ALGORITHMS[base.algorithm].bonuses
    app = visit(PAGE, b=encode_spec(base))
    assert choice(app, BONUS[base.bonus].capitalize()).options == [BONUS[base.bonus].capitalize()]


def test_explore_opens_the_same_four_runs(visit: Visit) -> None:
    app = visit(PAGE)
    (link,) = [e for e in app.get("page_link") if "Online" in e.proto.label]
    opened = links.decode(parse_qs(link.proto.query_string))
    assert opened.problems == ()
    assert [c.spec for c in opened.curves] == [c.spec for c in four_models(BASE)[0]]


def test_the_calculator_answers_with_every_bound(visit: Visit) -> None:
    app = visit(PAGE, show="calculator")
    tables = [frame.value for frame in app.dataframe]
    assert sum(len(table) for table in tables if "bound" in table) == len(BOUNDS)
    row = tables[0].query("bound == 'DP-UCBVI' and privacy == 'Central (JDP)'").iloc[0]
    # sqrt(6 * 2 * 8000 * 10^15) = 9.798 * 10^9; 36 * 2 * 8000 = 576,000; together below 20 K from K = 31,552
    assert row["value"] == "9.8 billion"
    assert row["privacy cost"] == "576,000"
    assert row["says something from"] == "31,600"
    assert row["free from"] == "3.46 million"  # 216 * 2 * 8000
    keyed(app, "text_input", ":free.epsilon:").input("0.5").run()
    tables = [frame.value for frame in app.dataframe]
    assert (
        tables[0].query("bound == 'DP-UCBVI' and privacy == 'Central (JDP)'").iloc[0]["privacy cost"]
        == "1.15 million"
    )
    assert app.session_state["session"].part(Free).base == BASE  # the runs stay
    assert _query(app)["eps"] == "0.5"


@pytest.mark.parametrize("typed", first(["-1", "0", "nan", "1e400", "many", "", "<b>"]))
def test_a_bad_number_in_the_calculator_is_said_in_a_sentence(visit: Visit, typed: str) -> None:
    app = visit(PAGE, show="calculator")
    keyed(app, "text_input", ":free.K:").input(typed).run()
    assert "K:" in words(app)
    assert "is not allowed; give a number from 1 to 1e+30." in words(app)
    assert app.session_state["session"].part(Free).view.K == 1e15
    assert not app.button(key="run").disabled


def test_what_a_bound_does_not_cover_is_said(visit: Visit) -> None:
    table = visit(PAGE, show="calculator").dataframe[0].value  # epsilon = 1, which SDP-PE's theorem excludes
    row = table.query("bound == 'SDP-PE'").iloc[0]
    assert row["conditions"].startswith("NOT MET HERE: proved for ε below 1.")


def test_chosen_bounds_are_drawn_dotted_beside_the_runs(visit: Visit) -> None:
    app = visit(PAGE, show="theory", bounds="pucb.jdp-lower")
    drawn = names(app)
    assert "A: PUCB, Central (JDP), Vietri et al. 2020, Thm. 4" in drawn
    assert "B: Lower bound, Central (JDP), Vietri et al. 2020, Thm. 6" in drawn
    assert not any(name.startswith("C:") for name in drawn)
    assert "only slopes and ratios mean something" in words(app)


def test_default_specs_are_the_bundled_ones() -> None:
    assert RunSpec(episodes=10**15, seeds=20) == BASE
    for curve in four_models(BASE)[0]:
        assert curve.spec in bundled("free")
