"""Home: a finished chart at one epsilon, and the ways on; and the document about each page."""

from __future__ import annotations

import json
from itertools import pairwise
from urllib.parse import parse_qs

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dprl.figures.style import MOST_POINTS
from dprl.metrics import search
from dprl.runs.store import Store
from dprl.simulation.prepare import guarantee_of, noise_of_schedule
from dprl.sitemap import PAGES, Page
from pages.shared.examples import HOME_BUDGETS, HOME_EPISODES, trust
from pages.shared.results.data import bundled
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
    (query,) = [parse_qs(query) for query in queries if "c=" in query]
    link = links.decode(query)
    assert link.problems == ()
    assert link.curves == trust(0.3, HOME_EPISODES).curves
    assert link.view.measure == "share"
    assert [c.spec.privacy for c in link.curves] == ["none", "central", "shuffle", "local"]
    assert {c.spec.epsilon for c in link.curves} == {None, 0.3}


def test_more_privacy_never_needs_fewer_users() -> None:
    for model in (1, 2, 3):
        needed = []
        for epsilon in HOME_BUDGETS:
            run = bundled("home")[trust(epsilon, HOME_EPISODES).curves[model].spec]
            average = (run.values / run.at).mean(axis=0)
            needed.append(search.stays_below(run.at.astype(float), average, 0.34))
        # Of a shuffler 20 and 30 ask for the same few bits, so that only chance tells them apart.
        assert all(a >= 0.99 * b for a, b in pairwise(needed))


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
