"""A chart to take along: its words and numbers, and that nobody's words run in it."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np

from dprl.figures import regret
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import MOST_ROWS, chart_page, markup

EPISODES = np.unique(np.geomspace(1, 10**9, 150).astype(np.int64))
HOSTILE = "</script><script>alert(1)</script> **a** <!-- & \u2028 \\"


def curve(label: str) -> Series:
    rows = np.array([1.0, 1.2, 1.4])[:, None] * np.sqrt(EPISODES.astype(float))
    mean = rows.mean(0)
    return Series(label, CurveStyle("central", 1.0), EPISODES, rows, mean, 0.9 * mean, 1.1 * mean)


class Tags(HTMLParser):
    scripts = 0
    said = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.scripts += tag == "script"

    def handle_data(self, data: str) -> None:
        self.said += data if "Plotly" not in data else ""


def test_words_of_a_visitor_stay_words() -> None:
    picture = regret.comparison([curve(HOSTILE)], see="Some **words \\*here\\***.")
    page = chart_page(HOSTILE, HOSTILE, picture, HOSTILE)
    parser = Tags()
    parser.feed(page)
    assert parser.scripts == 4  # Plotly and its settings, the chart, and ours
    assert parser.said.count(HOSTILE) >= 4  # title, heading, what all share, footer; and in the numbers
    assert "Some <strong>words *here*</strong>." in page
    assert "default-src 'none'" in page
    assert markup("a \\*b\\* **<i>** 2*3 \\") == "a *b* <strong>&lt;i&gt;</strong> 2*3 \\"


def test_the_numbers_are_those_of_the_chart() -> None:
    picture = regret.comparison([curve("a")])
    page = chart_page("t", "", picture, "")
    assert len(picture.table) < MOST_ROWS
    assert page.count("<tr") == len(picture.table) + 1
    assert "<td>1 billion</td>" in page or "<td>1000000000</td>" in page
