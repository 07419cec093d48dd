"""A page that plays its runs takes over what a link of the dashboard says, or says that it does not."""

from __future__ import annotations

import re
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from dprl import ALGORITHMS, ENVIRONMENTS
from dprl.assets import classic
from dprl.figures.looks import CurveStyle
from dprl.links import VERSION, spec_pairs
from dprl.player import PlayedCurve, Shown, player_page
from dprl.player.content import codec
from dprl.privacy import PRIVATIZERS
from dprl.simulation import RunSpec
from dprl.simulation.pairs import runs_in
from dprl.simulation.replay import replayed
from pages.shared.visitor import links
from pages.shared.visitor.address import MOST_LETTERS, query_of, saying, sentence_of

READ = """([source, codec, fragments]) => {
  const decode = new Function(`${source}; return decode`)();
  return fragments.map((fragment) => decode(fragment, codec, []));
}"""
TAKEN = {"measure", "x", "y", "curve"}  # the measures that it lacks are named by the page itself
ONE_SENTENCE = re.compile(
    r"Error: (the|a part of a curve in the) link [^.<>]*|Error: curve [12] of the link [^.<>]*(\.S|\.H)?\)"
)
OTHERS = {"tab": "data", "statistic": "median", "each": "on", "family": "rewards"} | {
    "seen": "released",
    "drawn": "map",
    "near": "off",
}
HOSTILE = (
    "<img src=x onerror=hit()>",
    "</p><script>hit()</script>",
    "&lt;b&gt; **bold** $x$ [a](javascript:hit())",
    "two\nlines\u2028and \u202ea turn\0",
    " \u200b ",
    "é" * MOST_LETTERS + "!",
    "😀" * (MOST_LETTERS + 5),
    "a" * (MOST_LETTERS - 1) + " b",
    "v=1&c=alg.X~name.Y%00+&say=other",
)


def read(engine: Page, *queries: list[tuple[str, str]]) -> list[dict[str, Any]]:
    fragments = [query_of([("v", VERSION), *query]) for query in queries]
    found: list[dict[str, Any]] = engine.evaluate(READ, [classic("player_link.js"), codec(), fragments])
    return found


def test_a_sentence_is_read_as_the_dashboard_reads_it(engine: Page) -> None:
    for text, found in zip(HOSTILE, read(engine, *(saying(text) for text in HOSTILE)), strict=True):
        problems: list[str] = []
        assert found["say"] == sentence_of({"say": [text]}, problems)
        assert len(found["lacks"]) == len(problems)


def test_each_choice_of_a_view_is_taken_over_or_named(engine: Page) -> None:
    queries = []
    for name in (one.name for one in fields(links.View)):
        field = links.fields_of(links.View)[name]
        assert read(engine, [(field.query, str(field.default))])[0]["lacks"] == []  # as usual, in words
        if name not in TAKEN:
            queries.append([(field.query, OTHERS.get(name, "7"))])
    assert all(len(found["lacks"]) == 1 for found in read(engine, *queries, [("lock", "all")], [("x", "?")]))


def test_every_pair_that_the_dashboard_refuses_is_refused_with_its_sentence(engine: Page) -> None:
    """Of algorithm, privacy model and mechanism; no other pair is refused so."""
    mechanisms = sorted({key for one in PRIVATIZERS.values() for key in one.mechanisms})
    asked, expected = [], []
    for algorithm, privacy, mechanism in product(ALGORITHMS, PRIVATIZERS, mechanisms):
        world = next(key for key in ENVIRONMENTS if runs_in(algorithm, key))
        curve = f"env.{world}~alg.{algorithm}~priv.{privacy}~mech.{mechanism}~K.1000"
        asked.append(query_of([("v", VERSION), ("c", curve)]))
        problems = links.decode(parse_qs(asked[-1])).problems
        pair = [one for one in problems if one.startswith(("Curve 1: privacy:", "Curve 1: mechanism:"))]
        expected.append(pair[0].removeprefix("Curve 1: ").removesuffix(".") if pair else "")
    own = [spec_pairs(RunSpec())]
    said, *_ = engine.evaluate(READ_OR_REFUSED, [classic("player_link.js"), codec(), own, asked])
    pairs = [one if isinstance(one, str) and one.startswith("Error: in curve 1, ") else "" for one in said]
    assert [one.removeprefix("Error: in curve 1, ") for one in pairs] == expected
    assert len(set(expected)) > 90


READ_OR_REFUSED = """([source, codec, curves, fragments]) => {
  const decode = new Function(`${source}; return decode`)();
  window.hit = () => { window.hits = 1; };
  return [fragments.map((fragment) => {
    try { return Object.keys(decode(fragment, codec, curves)).sort(); } catch (error) { return String(error); }
  }), window.hits ?? 0, Object.keys(Object.prototype), ({}).eps ?? ""];
}"""
SIGNS = [
    *"~.=&%#<>'\"\\{}[]\0\u202e9eE-+",
    "__proto__",
    "%00",
    "constructor",
    "<img src=x onerror=hit()>",
    "1e999",
    "NaN",
]
LONG = [
    sign * (99_000 // len(sign)) for sign in ("~", ".", "%", "c=&", "c=a.b~", "c.", "\u202e", "__proto__.")
]


def test_a_thousand_hostile_fragments_are_read_or_refused_in_one_sentence(engine: Page) -> None:
    spec = RunSpec(environment_params={"S": 3, "H": 3}, episodes=10**4)
    curves = [spec, spec.baseline()]
    link = query_of(links.encode([links.Curve(one) for one in curves], links.AT_FIRST))
    rng, hostile = np.random.default_rng(0), []
    for number in range(1000):
        at, until = np.sort(rng.integers(0, len(link), 2))
        put = "".join(rng.choice(SIGNS, int(rng.integers(0, 6))))
        hostile.append(link[:at] + put + (link[until:] if number % 3 else link[at:until]))
    hostile += [link + long for long in LONG] + [f"{link}&c={long}" for long in LONG]
    pairs = [spec_pairs(one) for one in curves]
    said, *harm = engine.evaluate(READ_OR_REFUSED, [classic("player_link.js"), codec(), pairs, hostile])
    read = [one for one in said if not isinstance(one, str)]
    assert {tuple(keys) for keys in read} == {("close", "curves", "lacks", "measure", "say", "x", "y")}
    assert [one for one in said if isinstance(one, str) and not ONE_SENTENCE.fullmatch(one)] == []
    assert 50 < len(read) < 1000
    assert harm == [0, [], ""]


@pytest.mark.thorough
def test_a_shared_sentence_stands_above_the_page_as_text_and_goes_on_with_its_link(
    engine: Page, tmp_path: Path
) -> None:
    spec = RunSpec(environment_params={"S": 3, "H": 3}, privacy="none", episodes=10**4, seeds=1)
    curve = PlayedCurve(spec, "None", "None", CurveStyle("none"), {spec.episodes: replayed(spec)})
    file = tmp_path / "runs.html"
    file.write_text(player_page("Runs", "", [curve], Shown(sentence=HOSTILE[0]), footer=""), "utf-8")
    browser = engine.context.browser
    assert browser is not None
    page, wrong = browser.new_page(), []
    page.set_viewport_size({"width": 390, "height": 844})
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.add_init_script("window.hit = () => { window.hits = 1; };")
    page.goto(file.as_uri())
    sentence, said = page.locator("#sentence"), page.locator("#said")
    expect(sentence).to_have_text(f"Whoever shared this says: {HOSTILE[0]}")
    look = links.encode([links.Curve(spec)], links.AT_FIRST)
    for text in HOSTILE:
        page.goto(f"{file.as_uri()}#{query_of([*look, *saying(text)])}")
        page.reload()
        kept = sentence_of({"say": [text]}, [])
        expect(page.locator("#played")).to_contain_text("Your browser has played")
        assert sentence.text_content() == (kept and f"Whoever shared this says: {kept}")
        assert sentence.locator("*").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.get_by_label("Measure shown").select_option(label="Regret so far")
        assert parse_qs(page.url.partition("#")[2]).get("say", [""]) == [kept]
    named = [links.Curve(spec, name="Mine")]
    other = links.View(measure="extra", statistic="median", tab="policy")
    page.goto(f"{file.as_uri()}#{query_of(links.encode(named, other))}")
    expect(said).to_have_text(
        "This page cannot show everything in the link: its measure (here: Share of V* lost), the median of the seeds "
        "(here: their mean), what it chooses in other tabs, names of curves."
    )
    page.goto(f"{file.as_uri()}#v=?&say=unheard")
    expect(said).to_contain_text("The link could not be used")
    expect(sentence).to_have_text(f"Whoever shared this says: {HOSTILE[0]}")
    assert (page.evaluate("window.hits ?? 0"), wrong) == (0, [])
    page.close()
