"""Pages to take along: what their sliders stop at, what they say there, and that nobody's words run in them."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np

from dprl.figures import regret, standalone_html
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
from dprl.words import human

EPISODES = np.unique(np.geomspace(1, 10**9, 150).astype(np.int64))
HOSTILE = "</script><script>alert(1)</script> **a** <!-- & \u2028 \\"


def curve(label: str, episodes: Any = EPISODES, model: str = "central") -> Series:
    rows = np.array([1.0, 1.2, 1.4])[:, None] * np.sqrt(np.asarray(episodes, float))
    mean = rows.mean(0)
    return Series(label, CurveStyle(model, 1.0), episodes, rows, mean, 0.9 * mean, 1.1 * mean)


def content(page: str) -> dict[str, Any]:
    """What the page's script reads."""
    (text,) = re.findall(r'<script type="application/json" id="content">(.*?)</script>', page, re.DOTALL)
    found: dict[str, Any] = json.loads(text)
    return found


def compared(curves: list[Series], budgets: list[str]) -> str:
    return standalone_html.comparison_page(
        HOSTILE,
        HOSTILE,
        curves,
        budgets,
        lambda some: regret.comparison(some, see="Some **words \\*here\\***."),
        x="After",
        columns=["regret", "95% interval", "seeds"],
        footer=HOSTILE,
    )


def test_a_slider_stops_where_every_curve_has_a_point() -> None:
    other = np.unique(np.concatenate([EPISODES[::2], [7, 10**9]]))
    stops = standalone_html.episodes([EPISODES, other])
    assert set(stops) <= set(EPISODES) & set(other)
    assert standalone_html.MOST_STOPS - 5 <= len(stops) <= standalone_html.MOST_STOPS
    assert stops[-1] == 10**9
    assert (np.diff(stops) > 0).all()
    assert list(standalone_html.episodes([np.array([1, 2]), np.array([3, 4])])) == [
        1,
        2,
        3,
        4,
    ]  # nothing in common


def test_what_stands_at_a_stop_is_what_was_computed_there() -> None:
    curves = [curve("a"), curve("b", EPISODES[::2], "local")]
    k = int(EPISODES[1])  # of the first one only
    at = np.flatnonzero(EPISODES == k)[0]
    first, second = standalone_html.at_stop(curves, k)
    assert first == [
        "a",
        human(curves[0].center[at]),
        f"{human(curves[0].low[at])} to {human(curves[0].high[at])}",
        "3",
    ]
    assert second == ["b", standalone_html.NOWHERE, "", ""]


def test_each_place_of_the_sliders_has_its_picture_and_its_numbers() -> None:
    curves = [curve("none", model="none"), curve("one"), curve("ten")]
    found = content(compared(curves, ["", "ε = 1", "ε = 10"]))
    shown, after = found["sliders"]
    assert shown["words"] == ["all", "ε = 1", "ε = 10"]
    assert len(found["charts"][0]["pictures"]) == 3
    assert len(found["cells"]) == 3 * len(after["stops"])
    last = found["cells"][2 * len(after["stops"]) - 1]  # of the second group
    assert [row[0] for row in last] == ["none", "one"]
    assert last == standalone_html.at_stop(curves[:2], after["stops"][-1])
    (alone,) = [
        s for s in content(compared(curves[:2], ["", "ε = 1"]))["sliders"] if s["label"] == "Curves shown"
    ]
    assert not alone["shown"]


def test_words_of_a_visitor_stay_words() -> None:
    class Tags(HTMLParser):
        scripts = 0

        def handle_starttag(self, tag: str, attrs: Any) -> None:
            self.scripts += tag == "script"

    page = compared([curve(HOSTILE)], [""])
    parser = Tags()
    parser.feed(page)
    assert parser.scripts == 3  # what is shown, Plotly, and ours
    assert content(page)["cells"][0][0][0] == HOSTILE
    assert content(page)["charts"][0]["pictures"][0]["see"] == "Some <strong>words *here*</strong>."
    assert standalone_html.markup("a \\*b\\* **<i>** 2*3 \\") == "a *b* <strong>&lt;i&gt;</strong> 2*3 \\"
    assert "default-src 'none'" in page
