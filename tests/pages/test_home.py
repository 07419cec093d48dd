"""Home: the story, who is told it; a finished chart at one epsilon, and the ways on; the document about each page."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from bench import story as made
from dprl import run
from dprl.figures.style import MOST_POINTS
from dprl.mdp.counts import visits
from dprl.messages import messages
from dprl.research.one_user import apart
from dprl.runs.store import Store
from dprl.simulation.prepare import guarantee_of, noise_of_schedule
from dprl.sitemap import PAGES, Page
from pages.home.state import story_content
from pages.shared.examples import HOME_BUDGETS, HOME_EPISODES, trust
from pages.shared.results.data import asset, path_of
from pages.shared.visitor import links
from tests.pages.conftest import Visit, charts, words
from tests.problems import first
from tests.test_layers import ROOT


def title(app: AppTest) -> str:
    (chart,) = charts(app)
    assert chart.alt
    figure = json.loads(chart.spec)
    assert all(len(trace["x"]) <= MOST_POINTS for trace in figure["data"])
    return str(figure["layout"]["title"]["text"])


def test_home_shows_a_finished_chart_and_what_to_see(visit: Visit, store: Store) -> None:
    app = visit()
    assert title(app).endswith("at ε = 1")
    assert "of V*. At **ε\u00a0=\u00a01** you need" in words(app)
    assert "at most **2.7 times** as likely as now, plus **one in a million** (δ = 10⁻⁶)." in words(app)
    central = next(c.spec for c in trust(1.0, HOME_EPISODES).curves if c.spec.privacy == "central")
    noise = guarantee_of(central, noise_of_schedule(central, HOME_EPISODES)).noise_std
    assert f"**standard deviation of {noise:.0f} visits after 10¹⁵ users**" in words(app)
    assert app.warning == []
    assert store.activity().seeds_queued == 0


@pytest.mark.parametrize("epsilon", HOME_BUDGETS)
def test_a_link_brings_its_epsilon(visit: Visit, epsilon: float) -> None:
    app = visit(v="1", eps=f"{epsilon:g}")
    assert title(app).endswith(f"at ε = {epsilon:g}")
    assert f"At **ε\u00a0=\u00a0{epsilon:g}** you need" in words(app)
    assert app.warning == []


def test_explore_opens_just_this_chart(visit: Visit) -> None:
    app = visit(eps="0.3")
    queries = [link.proto.query_string for link in app.get("page_link")]
    (link,) = [links.decode(parse_qs(query)) for query in queries if "c=" in query]
    assert (link.problems, link.view.measure) == ((), "share")
    assert link.curves == trust(0.3, HOME_EPISODES).curves


WITH_ONE = [page for page in PAGES.values() if page.guide]


def test_each_document_is_there() -> None:
    assert len(WITH_ONE) == len(PAGES) - 1  # Runs has none
    for page in WITH_ONE:
        assert any((ROOT / "docs" / page.guide).with_suffix(kind).is_file() for kind in (".md", ".ipynb"))


@pytest.mark.parametrize("page", first(WITH_ONE, lambda page: page.section), ids=lambda page: page.path)
def test_a_page_leads_to_its_document_where_that_is_served(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, page: Page
) -> None:
    path, link = page.path or "home", f"(app/static/docs/{page.guide}.html)"
    assert not any(link in each.value for each in visit(path).markdown)
    told = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: name == "server.enableStaticServing" or told(name))
    served = [each.value for each in visit(path).markdown]
    assert any(link in said for said in served)


RECOMPUTE = "it is not what runs say: run `python -m bench.bundled start`"


def stories(app: Any) -> int:
    """How many are on the page."""
    kinds = [block.proto.component_name for block in app.get("bidi_component")]
    return sum("start" in kind or "story" in kind for kind in kinds)


def test_who_comes_without_a_link_is_told_the_story_which_a_slider_or_a_reload_does_not_end(
    visit: Visit,
) -> None:
    app = visit()
    assert stories(app) == 1
    assert [header.value for header in app.header] == [messages("start")["home"]["title"]]
    assert len(charts(app)) == 1
    app.query_params["eps"] = "2"  # as the slider writes the address
    assert stories(app.run()) == 1
    app = visit(story="on", v="1", eps="2")
    assert stories(app) == 1
    assert not app.warning


@pytest.mark.parametrize("query", [{"eps": "1"}, {"v": "1"}, {"v": "2", "eps": "0.1"}, {"eps": "nonsense"}])
def test_a_link_to_home_opens_home(visit: Visit, query: dict[str, str]) -> None:
    app = visit(**query)
    assert stories(app) == len(app.header) == 0
    assert len(charts(app)) == 1


def test_what_is_sent_is_small() -> None:
    assert path_of("start").stat().st_size < 20_000
    assert len(json.dumps(story_content())) < 50_000


def test_noise_and_learning_of_the_story_are_of_a_run() -> None:
    kept = asset("start")
    trace = run(made.SPEC).seeds[0]
    assert kept["spec"] == made.SPEC.to_dict(), RECOMPUTE
    shown = apart(trace.detail_episodes, made.CROWD)
    learned, noise = kept["learning"], kept["noise"]
    assert learned["users"] == trace.detail_episodes[shown].tolist(), RECOMPUTE
    assert learned["policies"] == [made.digits(trace.policy[i]) for i in shown], RECOMPUTE
    average = np.interp(learned["users"], trace.episodes, trace.regret / trace.episodes) / trace.v_star
    assert learned["lost"] == pytest.approx(average.tolist(), rel=1e-3), RECOMPUTE
    first = noise["first"]
    assert noise["epsilons"][first] == made.SPEC.epsilon
    assert noise["std"][first] == pytest.approx(trace.guarantee.noise_std, rel=1e-3), RECOMPUTE
    far = (visits(trace.noisy) - visits(trace.counts))[shown, -1, -1, 1]
    drawn = np.array(noise["noisy"][first]) - np.array(noise["true"][first])
    assert np.abs(drawn - far).max() <= 1, RECOMPUTE


@pytest.mark.thorough
def test_the_whole_file_is_what_runs_say() -> None:
    assert json.loads(json.dumps(made.story())) == asset("start"), RECOMPUTE
