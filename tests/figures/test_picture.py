"""What a page keeps of a picture, and what a chart to take along holds."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from dprl.figures import regret
from dprl.figures.picture import MOST_ROWS, PackedPicture, Picture, chart_page, markup
from tests.figures.captioned import comparison, heatmaps
from tests.figures.test_regret import curve


def curves() -> Picture:
    return comparison([curve(), curve("another", "local", 3.0)], show_seeds=True)


def cells() -> Picture:
    true = np.arange(10.0 * 6 * 2).reshape(10, 6, 2)
    names = [f"s{i}" for i in range(6)]
    return heatmaps(
        true, true + 1, when="after 10 episodes", state_labels=names, action_labels=["stay", "go"]
    )


@pytest.mark.parametrize("draw", [curves, cells])
def test_it_says_the_same_in_a_third_of_the_memory(draw: Callable[[], Picture]) -> None:
    PackedPicture(draw())  # after which all is imported
    tracemalloc.start()
    picture = draw()
    gc.collect()
    whole, _ = tracemalloc.get_traced_memory()
    kept = PackedPicture(picture)
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] - whole
    tracemalloc.stop()
    assert taken < 0.3 * whole
    assert taken / 2 < kept.nbytes < 1.2 * taken
    kept.figure.to_dict()["layout"].clear()  # what one visitor's page does to it no other sees
    assert repr(kept.figure.to_dict()) == repr(picture.figure.to_dict())
    assert kept.table.equals(picture.table)
    assert (kept.alt, kept.see) == (picture.alt, picture.see)
    figure = weakref.ref(picture.figure)
    del picture
    gc.collect()
    assert figure() is None


HOSTILE = "</script><script>alert(1)</script> **a** <!-- & \u2028 \\"


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
