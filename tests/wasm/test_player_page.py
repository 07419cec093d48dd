"""A page that plays its runs draws what the page it came from draws; one that is too large says what it leaves out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from dprl import run
from dprl.figures.looks import CurveStyle
from dprl.player import PlayedCurve, Shown, page, player_page, sizes_of
from dprl.player.content import worlds
from dprl.simulation import RunSpec
from dprl.simulation.replay import replayed
from pages.shared.visitor import links
from pages.shared.visitor.address import query_of

PLAYED = re.compile("Your browser has played")
LINE = """() => document.querySelector("#regret .plot").data.find(({ customdata }) => customdata).y"""
SPEC = RunSpec(environment_params={"S": 3, "H": 3}, privacy="none", episodes=10**6, seeds=1)


def test_a_page_that_would_be_too_large_has_its_own_numbers_of_users_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {size: replayed(SPEC.replace(episodes=size)) for size in sizes_of(SPEC)}
    assert len(found) == 3
    curve = PlayedCurve(SPEC, "No privacy", "No privacy", CurveStyle("none"), found)
    whole = player_page("Runs", "RiverSwim", [curve], Shown(), footer="")
    assert page.ALONE not in whole
    monkeypatch.setattr(page, "MOST_BYTES", len(whole) - 1)
    small = player_page("Runs", "RiverSwim", [curve], Shown(), footer="")
    assert f"RiverSwim · {page.ALONE}" in small
    assert len(small) < len(whole)


@pytest.mark.thorough
def test_the_share_of_the_best_value_is_drawn_first_and_links_carry_what_is_drawn(
    engine: Page, tmp_path: Path
) -> None:
    spec = SPEC.replace(episodes=10**4)
    trace = run(spec).seeds[0]
    found = replayed(spec)
    assert found["v_star"] == trace.v_star
    curve = PlayedCurve(spec, "No privacy", "No privacy", CurveStyle("none"), {spec.episodes: found})
    file = tmp_path / "runs.html"
    file.write_text(player_page("Runs", "", [curve], Shown(), footer=""), "utf-8")
    browser = engine.context.browser
    assert browser is not None
    opened = browser.new_page()
    opened.goto(file.as_uri())
    expect(opened.locator("#played")).to_have_text(PLAYED)
    assert np.array_equal(opened.evaluate(LINE), trace.regret / trace.episodes / trace.v_star)
    expect(opened.locator("figcaption").first).to_contain_text("of V* =")
    expect(opened.locator("#regret .legend")).to_contain_text("the most an episode can lose")
    assert links.decode(parse_qs(opened.url.partition("#")[2])).view == links.AT_FIRST
    opened.get_by_label("Measure shown").select_option(label="Regret so far")
    opened.get_by_label("Logarithmic axes").select_option(label="both")
    assert np.array_equal(opened.evaluate(LINE), trace.regret)
    assert links.decode(parse_qs(opened.url.partition("#")[2])).view == links.View()
    for view, chosen in (
        (links.View(measure="per-episode", x="linear"), "2"),
        (links.View(measure="extra"), "0"),
    ):
        opened.goto(f"{file.as_uri()}#{query_of(links.encode([links.Curve(spec)], view))}")
        expect(opened.get_by_label("Measure shown")).to_have_value(chosen)
    expect(opened.locator("#said")).to_have_text(
        "This page cannot show everything in the link: its measure (here: Share of V* lost)."
    )
    opened.close()


def test_each_environment_has_its_picture_once_by_day_and_by_night() -> None:
    grid = RunSpec(environment="gridworld")
    river, other = worlds([SPEC, SPEC.replace(epsilon=None, episodes=10), grid])
    assert river["says"].startswith(
        "RiverSwim, with 3 states, 2 actions and 3 steps. Drawing of the environment"
    )
    assert other["says"].startswith("Gridworld, with 11 states, 4 actions and 12 steps. Drawing of a grid")
    for world in (river, other):
        assert world["light"]["data"]
        assert world["light"] != world["dark"]
        assert len(json.dumps(world)) < 30_000
