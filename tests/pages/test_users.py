"""The page How many users do I need?: what it says at once, its links, its marks, and the page to take along."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dprl.runs.store import Store
from dprl.simulation import RunSpec
from dprl.users import MODELS, Asked, answers, likely_from
from pages.explore.tabs import asked_about
from pages.home.state import known
from pages.shared.visitor.links import Curve
from pages.shared.visitor.state import ExploreState
from pages.users import words
from pages.users.link import Users, encode, users_table
from pages.users.link import asked_of as asked_from
from tests.pages.conftest import Visit, charts, go, kept, keyed, press, traces, widget
from tests.pages.conftest import words as words_of

PAGE = "users"
OWN = Asked(10**9, 6, 2, 20, 17.0, 0.5, 1e-8, 5.0)
KNOWN = Asked(problem="riverswim", users=10**8)


def said(app: AppTest) -> str:
    """All words of the page, its cards among them."""
    return (words_of(app) + "\n".join(element.proto.body for element in app.get("html"))).replace("\\", "")


def typed(app: AppTest, users: str) -> AppTest:
    return keyed(app, "text_input", ":users.users:").input(users).run()  # type: ignore[no-any-return]


def ways(app: AppTest) -> list[str]:
    """The keys of the buttons that change the settings."""
    return [str(button.key) for button in app.button if str(button.key).startswith("way_")]


def test_the_first_visit_answers_and_waits_for_nothing(visit: Visit, store: Store) -> None:
    app = visit(PAGE)
    assert "10 million users are" in said(app)
    assert "and 10 million are probably enough" not in said(app)  # the number is larger, so it is rounded up
    assert store.activity().seeds_queued == 0


def test_the_answer_comes_first_and_its_buttons_change_the_settings(visit: Visit) -> None:
    """50,000 users are too few at any epsilon; a press of any button gives settings for which they are enough."""
    link = {"K": "50000", "S": "8", "A": "3"}
    app = visit(PAGE, **link)
    assert "With 50,000 users and a trusted curator, no ε up to" in words_of(app)
    offered = ways(app)
    assert len(offered) >= 2
    for key in offered:
        app = visit(PAGE, **link)
        press(app, key)
        assert re.search("users are probably enough at .* = ", words_of(app))
        assert not ways(app)
        assert kept(app, Users).asked != Asked(users=50_000, S=8)
        assert app.query_params["S"] == "8"
    labels = [each.proto.label for each in visit(PAGE, **link).get("page_link")]
    assert "Or learn from records of past users" in labels


def test_each_card_has_an_epsilon(visit: Visit) -> None:
    said = []
    for asked, link in ((KNOWN, {"problem": "riverswim", "K": "1e8"}), (Asked(users=100_000), {"K": "1e5"})):
        cards = visit(PAGE, **link).get("html")[0].proto.body
        for need in answers(users_table(), asked)[1:]:
            least = likely_from(users_table(), asked, need.model)
            maybe = f"Perhaps from ε = {need.least:.2g}" if need.least < np.inf else "Too few even at ε = 10"
            said.append(f"Enough from ε = {least:g}" if np.isfinite(least) else maybe)
            assert said[-1] in cards
    assert {words.split()[0] for words in said} == {"Enough", "Perhaps", "Too"}


def test_where_a_known_policy_will_do_it_says_that_nothing_has_to_be_learned(visit: Visit) -> None:
    app = visit(PAGE, K="1", today="8")
    assert "a policy that you know today loses 8% of V*, and you allow a loss of 10%" in said(app)
    cards = app.get("html")[0].proto.body
    assert cards.count("✓ Enough") == cards.count("Learning without that policy needs") == len(MODELS)
    asked = kept(app, Users).asked
    assert ("today", "8") in encode(asked)
    assert "No learning is needed" in words.answer(users_table(), asked, answers(users_table(), asked))


def test_measured_and_extrapolated_are_told_apart_in_words_and_in_the_chart(visit: Visit) -> None:
    own, known = visit(PAGE, **dict(encode(OWN))), visit(PAGE, **dict(encode(KNOWN)))
    for app, dash, kind, other in (
        (own, "7px,4px", "Extrapolated", "Measured"),
        (known, "solid", "Measured", "Extrapolated"),
    ):
        lines = [trace for trace in traces(app) if re.search("extrapolated|measured", trace.get("name", ""))]
        assert {trace["line"]["dash"] for trace in lines} == {dash}
        assert f"{kind}, within a factor of" in said(app)
        assert f"{other}, within a factor of" not in said(app)


def test_beyond_what_was_measured_it_says_so_and_gives_no_verdict(visit: Visit) -> None:
    app = visit(PAGE, S="5000")
    assert "We extrapolated beyond all measurements, which covered S from" in said(app)
    assert said(app).count("– Not known") == len(MODELS)
    assert "Enough" not in said(app)


def test_inputs_change_the_answer_and_the_address(visit: Visit) -> None:
    app = visit(PAGE)
    for name, given in (("users", "1e12"), ("S", "6"), ("loss", "2")):
        keyed(app, "text_input", f":users.{name}:").input(given).run()
    assert kept(app, Users).asked == Asked(users=10**12, S=6, loss=2.0)
    assert app.query_params["K"] == "1e12"
    app.selectbox[0].select("chain").run()
    assert kept(app, Users).asked.problem == "chain"
    asked = [str(one.key).split(":")[2] for one in app.text_input if ":users." in str(one.key)]
    assert asked == ["users.users", "users.epsilon", "users.delta", "users.loss", "users.today"]
    (link,) = [one for one in app.get("page_link") if "Find" in one.proto.label]
    assert "env.chain" in link.proto.query_string


def test_thousands_may_have_commas(visit: Visit) -> None:
    app = typed(visit(PAGE), "20,000")
    assert kept(app, Users).asked.users == 20_000
    assert "is not allowed" not in words_of(app)
    assert charts(app)


@pytest.mark.parametrize("given", ["-1", "nan", "", "many", "20,00"])
def test_a_bad_number_gets_a_sentence_and_changes_nothing_but_that_no_answer_stays(
    visit: Visit, given: str
) -> None:
    app = typed(visit(PAGE), given)
    assert "is not allowed; give a whole number from 1 to 1e+15." in said(app)
    assert "A value below cannot be read" in words_of(app)
    assert kept(app, Users).asked == Asked()
    assert not charts(app)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_home_and_this_page_agree_on_what_both_draw(store: Store, epsilon: float) -> None:
    """Home's runs have other seeds' number and budgets of their own: RiverSwim, a tenth of V* lost."""
    home = {cost.model: cost.needed for cost in known(epsilon)}
    for need in answers(users_table(), replace(KNOWN, epsilon=epsilon)):
        assert need.low <= home[need.model] <= need.high


def test_the_link_below_a_chart_asks_about_the_run_that_was_run_last() -> None:
    first, last = RunSpec(environment="chain", epsilon=0.2), RunSpec(environment="clinic", epsilon=5.0)
    shown = ExploreState(curves=[Curve(first), Curve(first.baseline()), Curve(last)])
    assert asked_about(shown) == first  # nothing was chosen: the most private
    for curve, asked in ((2, last), (1, first)):
        shown.view = replace(shown.view, curve=curve)
        assert asked_about(shown) == asked


def test_of_an_environment_that_was_measured_it_takes_that() -> None:
    assert asked_from(RunSpec(privacy="local", epsilon=0.2, episodes=10**6)) == Asked(
        problem="riverswim", users=10**6, S=6, A=2, H=20, epsilon=0.2
    )
    assert asked_from(RunSpec(privacy="none", episodes=10**6)).epsilon == Asked().epsilon


def test_it_asks_about_what_was_chosen_on_online(visit: Visit) -> None:
    """By the menu as by the link below a chart; what was asked here stays."""
    app = visit("bare")
    widget(app, "selectbox", "Environment").set_value("clinic").run()
    widget(app, "text_input", "Privacy budget ε, exact value").set_value("0.4").run()
    go(app, PAGE)
    found = kept(app, Users).asked
    assert (found.S, found.A, found.H, found.epsilon, found.users) == (8, 3, 8, 0.4, Asked().users)
    assert "come from your settings on Online" in words_of(app)
    keyed(app, "text_input", "users.epsilon").set_value("2").run()
    assert "settings on Online" not in words_of(app)
    go(app, "explore")
    widget(app, "selectbox", "Environment").set_value("chain").run()
    go(app, "offline")  # which has settings of its own
    assert widget(app, "selectbox", "Environment").value != "chain"
    go(app, PAGE)
    assert kept(app, Users).asked.epsilon == 2.0
