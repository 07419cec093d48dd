"""Pages without a server have Plotly's script without charts that they do not draw, and draw what all of it draws."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page
from plotly.offline import get_plotlyjs

from dprl.player.plotly import CHARTS, UnknownFormError, only, plotly

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
