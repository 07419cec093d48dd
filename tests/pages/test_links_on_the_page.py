"""Links on their pages: what is wrong is said, and the rest is kept; coming back, and what is pressed meanwhile."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

import pytest

from pages.shared.visitor import state
from tests.pages.conftest import Visit, chip, go, words
from tests.pages.opened import opened
from tests.pages.test_short import LINKS, part
from tests.problems import first

VERSION = "The link has version 9 and was read as version 1."
# Of a page: a link, what is said of it, and, but for Offline, a link that is read as the same.
WRONG = [
    ("explore", "c=eps.-1~K.1000&c=priv.none&c=K.2000", "Curve 1: epsilon: -1 is", "c=K.1000&c=priv.none&c=K.2000"),
    ("explore", "c=eps.nan~K.1000", "epsilon: nan is not allowed", "c=K.1000"),
    ("explore", "c=env.atlantis~eps.2", "environment: atlantis is not allowed", "c=eps.2"),
    ("explore", "c=envp.S.one~eps.2", "environment_params.S: one is not allowed", "c=eps.2"),
    ("explore", "c=envp.Z.5", "riverswim has no parameter Z", "c=eps.1"),
    ("explore", "c=alg.ucbvi~priv.local", "privacy: local cannot be combined with ucbvi", "c=alg.ucbvi"),
    ("explore", "c=sched.never", "schedule: never is not allowed", "c=eps.1"),
    ("explore", "c=sched.episodic", "too many for the episodic schedule", None),
    ("explore", "c=what.ever~eps.2", "what.ever is not part of a curve", "c=eps.2"),
    ("explore", "c=eps.2&tab=nothing", "tab: nothing is not allowed", "c=eps.2"),
    ("explore", "c=eps.2&x=diagonal&tab=policy", "x: diagonal is not allowed", "c=eps.2&tab=policy"),
    ("explore", "v=9&c=eps.2", VERSION, "c=eps.2"),
    ("explore", "c=" + "~".join(["eps.2"] * 3000), "longer than", "c=eps.1"),
    ("explore", "&".join(["c=eps.2"] * 20), "The link has 20 curves", "&".join(["c=eps.2"] * 8)),
    ("tradeoffs", "x=<img>", "x: <img> is not allowed", ""),
    ("tradeoffs", "share=lots", "share: lots is not allowed", ""),
    ("tradeoffs", "m=secret&m=local", "privacy: secret is not allowed", "m=local"),
    ("tradeoffs", "at=1,x", "epsilon: x is not allowed", ""),
    ("tradeoffs", "b=alg.ucbvi&m=central&m=none", "models: ucbvi does not support central", "b=alg.ucbvi&m=none"),
    ("attack", "first=9/9/9", "first: 9/9/9 is not allowed; give each step as state/action/reward", ""),
    ("attack", "step=four", "step: four is not allowed; give one of one, subtract, tree", ""),
    ("users", "K=0", "users: 0 is not allowed; give a whole number from 1 to 1e+15.", ""),
    ("users", "S=one", "S: one is not allowed; give a whole number from 2 to 10000.", ""),
    ("papers", "problem=taxi", "problem: taxi is not allowed; give one of clinic", ""),
    ("home", "eps=<b>", "epsilon: <b> is not allowed", "eps=1"),
    ("home", "eps=0.25", "The slider has no position for ε = 0.25, so this page shows ε = 0.3", "eps=0.3"),
    ("home", "eps=", "epsilon:", "eps=1"),
    ("lessons", "lesson=<b>", "lesson: <b> is not allowed; give one of ", ""),
    ("lessons", "lesson=trust&step=9", "step: 9 is not allowed; give a whole number from 1 to 5", "lesson=trust"),
    ("lessons", "lesson=trust&guess=aaaa", "guess: aaaa is not allowed", "lesson=trust"),
    ("papers", "item=<b>", "item: <b> is not allowed; press a row", ""),
    ("papers", "item=pac/one-draw&at=9", "give a whole number from 1 to 2", "item=pac/one-draw"),
    ("offline", "c=alg.dp-ucbvi", "Curve 1: algorithm: dp-ucbvi is not allowed", None),
    ("offline", "c=alg.dp-vapvi", "has no features, which dp-vapvi needs", ""),
    ("offline", "c=mu.mixture:9", "Curve 1: behaviour: mixture:9 is not allowed", None),
    ("offline", "c=n.5&tab=x", "tab: x is not allowed", "c=n.5"),
    ("offline", "&".join(["c=n.5"] * 9), "The link has 9 curves; the first 8 are shown.", "&".join(["c=n.5"] * 8)),
    ("offline", "c=K.5", "K.5 is not part of a curve", None),
]  # fmt: skip


@pytest.mark.parametrize(("page", "query", "said", "rest"), WRONG)
@pytest.mark.usefixtures("reading")
def test_what_is_wrong_is_said_in_a_sentence_and_the_rest_is_kept(
    page: str, query: str, said: str, rest: str | None
) -> None:
    found = opened(page, query)
    assert any(said in problem for problem in found.problems)
    assert all(problem.isprintable() and problem.endswith(".") for problem in found.problems)
    assert len(found.problems) == 1  # without a declaration nothing of it is there, which is said
    assert rest is None or found.query == opened(page, rest).query


@pytest.mark.parametrize(
    ("page", "query", "said"), [one[:3] for one in {one[0]: one for one in WRONG[::-1]}.values()]
)
def test_it_is_said_on_the_page(visit: Visit, page: str, query: str, said: str) -> None:
    app = visit(page, **parse_qs(query))
    assert page == "home" or "Not all of this link could be used" in words(app)
    assert said in words(app)
    assert not any(re.search(r"(?<!\\)<", warning.value) for warning in app.warning)  # escaped


@pytest.mark.parametrize("page", first(LINKS, ("explore", "tradeoffs", "home", "users").__contains__))
def test_coming_back_from_another_page_keeps_what_was_seen(visit: Visit, page: str) -> None:
    app = visit(page, **LINKS[page])
    seen = part(app, page).query
    go(app, "runs")
    go(app, page)
    assert part(app, page).query == seen
    address = {key: found if isinstance(found, list) else [found] for key, found in app.query_params.items()}
    assert page == "home" or address == parse_qs(seen)  # whose slider writes it, in the browser


def test_the_address_follows_the_comparison_and_the_tab_only(visit: Visit) -> None:
    app = visit("explore", c=["envp.H.5"])
    before = dict(app.query_params)
    next(s for s in app.sidebar.select_slider if "ε" in s.label).set_value(0.3).run()
    assert dict(app.query_params) == before
    app.button(key="run").click().run()
    assert len(app.query_params["c"]) == 2
    assert "tab" not in app.query_params  # Regret is what a link shows that says nothing else


def test_going_back_brings_the_earlier_comparison(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = visit("explore", c=["envp.H.5"])
    chip(app, "Add this run without privacy", 0).click().run()
    assert len(app.session_state["session"].explore.curves) == 2
    monkeypatch.setattr(state, "went_back", lambda: True)
    app.query_params.clear()
    app.query_params["c"] = ["envp.H.5"]
    app.run()
    assert len(app.session_state["session"].explore.curves) == 1
    app.query_params.clear()
    app.run()
    assert len(app.session_state["session"].explore.curves) == 1  # an address without a link says nothing


def test_what_is_pressed_before_the_browser_knows_the_new_address_does_not_bring_back_the_old(
    visit: Visit,
) -> None:
    app = visit("explore", c=["envp.H.5"])
    chip(app, "Add this run without privacy", 0).click().run()
    app.query_params.clear()
    app.query_params["c"] = ["envp.H.5"]
    app.button(key="reset").click().run()
    assert len(app.session_state["session"].explore.curves) == 2
