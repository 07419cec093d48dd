"""A page that plays its runs says what the dashboard says, takes over its links, and draws with a part of Plotly."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Any, get_args
from urllib.parse import parse_qs

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from plotly.offline import get_plotlyjs

from dprl import ALGORITHMS, ENVIRONMENTS
from dprl.assets import classic
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
from dprl.figures.trust import LEARNED
from dprl.links import VERSION, spec_pairs
from dprl.metrics.search import stays_below
from dprl.player import PlayedCurve, PlayedMeasure, Shown, page, player_page, sizes_of
from dprl.player.content import codec, said, worlds
from dprl.player.plotly import CHARTS, UnknownFormError, only, plotly
from dprl.privacy import PRIVATIZERS
from dprl.sentences.regret import about_regret
from dprl.simulation import RunSpec
from dprl.simulation.pairs import runs_in
from dprl.simulation.replay import replayed
from dprl.words import percent
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


# What a page says of its runs.

SAYS = """([source, curves, measure, seeds, said]) =>
  new Function(`${source}; return sentence`)()(curves, measure, seeds, said)"""
PERCENT = (
    "([source, shares, tiny]) => shares.map((one) => new Function(`${source}; return percent`)()(one, tiny))"
)
SOURCE = classic("parts.js", "player_words.js", "player_sentence.js")
V_STAR = 3.3


def curve(name: str, last: float, falls: float, measure: str, place: str = "") -> Series:
    """Regret that an average episode has lost all of at first, and then less and less."""
    x = np.geomspace(1, last, 40)
    share = np.minimum(1.0, falls / x)
    center = {"share": share, "per-episode": share * V_STAR, "cumulative": share * V_STAR * x}[measure]
    needed = stays_below(x, center, LEARNED * (1.0 if measure == "share" else V_STAR))
    rows = np.tile(center, (3, 1))
    look = CurveStyle("none")
    return Series(name, look, x, rows, center, center, center, v_star=V_STAR, needed=needed, place=place)


@pytest.mark.parametrize("measure", get_args(PlayedMeasure))
@pytest.mark.parametrize(
    "made",
    [
        [("A", 1e9, 1e3), ("B", 1e9, 5e4), ("C", 1e9, 1e5)],
        [("A", 1e6, 1e5), ("B", 1e6, 1e3)],
        [("A", 1e6, 1e5), ("B", 1e5, 1e3), ("C", 1e7, 1e3)],
        [("A", 1e6, 1e5), ("B", 1e6, 1e5)],
        [("A", 1e6, 1e5), ("B", 1e6, 1e3), ("C", 1e6, 1e4), ("D", 1e6, 1e2)],
        [
            ("A", 1e6, 1e5, "here"),
            ("B", 1e7, 1e3, "there"),
            ("C", 1e6, 1e3, "here"),
            ("D", 1e5, 1e2, "there"),
        ],
        [("A", 1e9, 1e3, "here"), ("B", 1e9, 1e5, "there"), ("C", 1e9, 1e5, "here")],
    ],
)
def test_a_page_says_what_the_dashboard_says(
    engine: Page, measure: PlayedMeasure, made: list[tuple[Any, ...]]
) -> None:
    curves = [curve(name, last, falls, measure, *place) for name, last, falls, *place in made]
    drawn = [
        {"title": c.label, "best": V_STAR, "best_text": f"{V_STAR:#.3g}", "episodes": c.x.tolist()}
        | {"center": c.center.tolist(), "place": c.place}
        for c in curves
    ]
    here = engine.evaluate(SAYS, [SOURCE, drawn, measure, 3, said()])
    there = about_regret(curves, measure)
    assert here.replace("“", "**").replace("”", "**").replace("Means over 3 seeds.", "") == there.replace(
        "Numbers are means over seeds.", ""
    )


def test_percentages_are_read_alike(engine: Page) -> None:
    shares = [0.0, 0.5, 1.0, -0.018, -2.5, *np.geomspace(1e-9, 1.23, 60), *(1 - np.geomspace(1e-6, 0.02, 20))]
    found = engine.evaluate(PERCENT, [SOURCE, shares, said()["tiny"]])
    assert found == [percent(share) for share in shares]


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


# Plotly without charts that no page draws.

PICTURES: list[dict[str, Any]] = [
    {
        "data": [
            {"type": "scatter", "mode": "lines", "x": [1, 10, 100], "y": [3, 2, 1], "fill": "toself"},
            {"type": "scatter", "mode": "lines+markers+text", "x": [1, 50], "y": [1, 2], "text": ["a", "b"]},
        ],
        "layout": {"xaxis": {"type": "log"}, "annotations": [{"text": "here", "x": 1, "y": 2}]},
    },
    {
        "data": [{"type": "bar", "x": ["a", "b"], "y": [1, 2], "error_y": {"array": [0.5, 0.2]}}],
        "layout": {"shapes": [{"type": "line", "x0": 0, "x1": 1, "y0": 1, "y1": 1}]},
    },
    {"data": [{"type": "heatmap", "z": [[1, 2], [3, None]], "text": [["a", "b"], ["c", ""]]}], "layout": {}},
]
# What a picture is made of, with a mouse over it. Plotly draws numbers for names in it, here the same each time.
DRAWN = """async ([script, pictures]) => {
  const made = document.createElement("script");
  made.textContent = script;
  document.head.append(made);
  const found = [];
  let drawn;
  Math.random = () => (drawn = (drawn * 16807 + 1) % 2147483647) / 2147483647;
  for (const { data, layout } of pictures) {
    drawn = 1;
    const place = document.body.appendChild(document.createElement("div"));
    await Plotly.newPlot(place, data, { ...layout, width: 500, height: 300 });
    Plotly.Fx.hover(place, [{ curveNumber: 0, pointNumber: data[0].type === "heatmap" ? [0, 1] : 1 }]);
    const tools = [...place.querySelectorAll(".modebar-btn")].map((one) => one.dataset.title);
    const pixels = await Plotly.toImage(place, { format: "svg" });
    const svg = [...place.querySelectorAll("svg")].map((one) => one.outerHTML).join("");
    found.push([svg, tools, pixels].join());
    place.remove();
  }
  return found;
}"""


def test_a_script_of_another_form_is_taken_whole() -> None:
    with pytest.raises(UnknownFormError):
        only("var Plotly = {};", ("heatmap",))


def test_the_installed_script_has_the_form_that_is_known() -> None:
    """Red where another version of Plotly has another: then pages are 1.4 MB larger, and open later."""
    assert len(plotly()) < len(get_plotlyjs()) / 4
    assert "this, (() => {" in plotly()  # one function, which is compiled when it is read
    assert only(get_plotlyjs(), CHARTS).startswith(get_plotlyjs()[:1000])  # with its notice


def test_it_draws_what_the_whole_script_draws(engine: Page) -> None:
    assert engine.context.browser is not None
    drawn: list[list[str]] = []
    for _ in range(3):  # on a busy machine a hover label may be late
        drawn.clear()
        for script in (get_plotlyjs(), plotly()):
            page = engine.context.browser.new_page()
            drawn.append(page.evaluate(DRAWN, [script, PICTURES]))
            page.close()
        if drawn[0] == drawn[1]:
            break
    assert drawn[0] == drawn[1]
    assert [len(one) > 3000 for one in drawn[0]] == [True] * len(PICTURES)
