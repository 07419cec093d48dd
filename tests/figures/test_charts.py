"""What all charts are held to, what a page keeps of them, and what one to take along holds."""

from __future__ import annotations

import gc
import re
import tracemalloc
import weakref
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any, NamedTuple

import numpy as np
import pytest

from dprl.figures import attack, lessons, papers, regret, style
from dprl.figures import users as needed
from dprl.figures.lines import SEEN, Series
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import MOST_ROWS, PackedPicture, Picture, chart_page, markup
from dprl.messages import messages
from dprl.metrics.attack import histogram
from tests.figures import captioned, test_tradeoff
from tests.figures.captioned import comparison, heatmaps
from tests.figures.conftest import four_in_a_row
from tests.figures.eyes import contrast
from tests.figures.test_regret import curve

CHAIN = four_in_a_row()
SHARES = np.linspace(0, 1, 21)
BAND = "95% t interval of the mean over seeds"
EPISODES = "Episodes (one user each by default)"
LOST = "Regret (reward lost)"


def series(scale: float) -> Series:
    return curve("a <i>run</i>", scale=scale, v_star=3.4)


class Case(NamedTuple):
    """A chart: what draws it at a scale of its data; its title, and the titles of its axes."""

    draw: Callable[..., Picture]
    title: str
    x: str
    y: str
    band: str = ""


def compared(view: regret.Measure) -> Callable[..., Picture]:
    return lambda scale, **how: captioned.comparison([series(scale)], view=view, **how)


def frontier(scale: float, **how: Any) -> Picture:
    return test_tradeoff.drawn(test_tradeoff.curve(center=scale * 1e5 / test_tradeoff.X), **how)


CASES = {
    "regret": Case(compared("cumulative"), "Regret so far", EPISODES, LOST, BAND),
    "average regret": Case(
        compared("per-episode"), "Average regret per episode so far", EPISODES, "Regret per episode (reward)", BAND
    ),
    "extra regret": Case(
        compared("extra"), "Extra regret compared with no privacy", EPISODES, "Extra regret (reward lost)", BAND
    ),
    "mistakes": Case(
        lambda scale, **how: regret.mistakes_over_alpha([series(scale)], **how),
        "Episodes more than α suboptimal", "α (reward an episode falls short of V*)", "Episodes", BAND,
    ),
    "frontier": Case(frontier, "Privacy cost", "Privacy budget ε", "Extra regret (reward lost)", BAND),
    "users needed": Case(
        lambda scale, **how: needed.users_needed(
            [needed.UsersRow("a <i>run</i>", CurveStyle("local"), 1e7 * scale, 9e6, 1.1e8)],
            title="Users it takes", most=1e15, see="", **how,
        ),
        "Users it takes", "Users (episodes), logarithmic", "",
    ),
    "users by trust": Case(
        lambda scale, **how: needed.users_by_trust(
            [needed.UsersCurve("local", "Local", True, np.array([0.1, 10.0]), scale * np.array([1e9, 1e7]), 2.0)],
            (1e6, 1.0), see="", **how,
        ),
        needed.TITLE, needed.X_TITLE, "Users needed", "possible error of a line",
    ),
    "home": Case(
        lambda scale, **how: captioned.trust(
            {1.0: test_tradeoff.costs(scale)}, epsilon=1.0, v_star=test_tradeoff.V_STAR, **how
        ),
        "Average reward lost per episode so far, at ε = 1", "Users so far (one episode each)", "Share of V* lost",
        BAND,
    ),
    "gap": Case(
        lambda scale, **how: regret.gaps_over_n([series(scale)], **how),
        "Distance from the best policy", regret.X_TITLE, "Suboptimality v* − v<sup>π</sup> (reward)",
        "95% t interval of the mean over data sets",
    ),
    "claim": Case(
        lambda scale, **how: papers.measured_curves("Gaps", EPISODES, LOST, [series(scale)], **how),
        "Gaps", EPISODES, LOST, BAND,
    ),
    "scores": Case(
        lambda scale, **how: attack.score_histograms(SHARES, np.full(20, int(scale)), np.ones(20, int), **how),
        "The attacker's score", "Score: ln of the likelihood ratio of the first episode", "Trials",
    ),
    "errors": Case(
        lambda scale, **how: attack.error_curves((SHARES, SHARES ** (1 / scale)), (SHARES, SHARES), **how),
        "The best test to tell the episodes apart", "Wrongly says “first episode”", "Correctly says “first episode”",
    ),
    "a class": Case(
        lambda scale, **how: lessons.shares_of_yes(
            messages("room")["result"], [lessons.KnownShare("local", "Local", 1.0, scale / 10, 0.0, 0.9)], **how
        ),
        "Estimate of the class's answers", "Answered yes, with a 95% interval", "",
    ),
    "counts": Case(
        lambda scale, **how: captioned.heatmaps(
            scale * CHAIN.true, CHAIN.noisy, when="after 10 episodes", step=2, **CHAIN.labels, **how
        ),
        "Visits at step 2", "", "Action",
    ),
    "values": Case(
        lambda scale, **how: captioned.values(
            scale * CHAIN.optimal_Q[..., 1], CHAIN.optimal_Q[..., 1], state_labels=CHAIN.labels["state_labels"], **how
        ),
        "Value of a state, V", "", "State",
    ),
}  # fmt: skip
every = pytest.mark.parametrize("name", CASES)


@every
def test_a_chart_says_what_it_shows_in_which_units_and_names_the_uncertainty(name: str) -> None:
    case = CASES[name]
    figure = case.draw(1.0, dark=False).figure
    layout = figure.layout
    assert layout.title.text.partition("<br>")[0] == case.title
    assert (layout.xaxis.title.text or "", layout.yaxis.title.text or "") == (case.x, case.y)
    entries = figure.data if layout.showlegend is not False else ()
    legend = [trace.name for trace in entries if trace.showlegend is not False]
    assert all(re.search("[A-Za-z]{2}", entry or "") for entry in legend)
    assert case.band in ("", *(entry.removesuffix(f"<br>{SEEN}") for entry in legend))
    assert "<i>run" not in repr([t.name for t in figure.data] + [t.hovertemplate for t in figure.data])


@every
@pytest.mark.parametrize("dark", [False, True])
def test_what_stands_in_the_legend_stands_out_from_its_page_and_theory_alone_is_dotted_in_its_colour(
    name: str, dark: bool
) -> None:
    figure, theme = CASES[name].draw(1.0, dark=dark).figure, style.theme(dark)
    assert figure.layout.font.color == theme.ink
    for trace in (trace for trace in figure.data if trace.type == "scatter"):
        for color in (trace.line.color, trace.marker.color) if trace.showlegend is not False else ():
            if isinstance(color, str) and color.startswith("#"):
                assert contrast(color, theme.background) >= 3, trace.name
        if trace.line.dash == style.BOUND_DASH:
            assert trace.fill is None
            assert "interval" not in trace.name
        else:
            assert trace.line.color != theme.roles["bound"]


@every
def test_the_numbers_drawn_are_in_the_table_and_the_alt_text_stays_while_they_change(name: str) -> None:
    first, second = (CASES[name].draw(scale, dark=True) for scale in (1.0, 2.0))
    assert repr(first.figure.to_dict()) != repr(second.figure.to_dict())
    assert first.alt == second.alt
    assert re.fullmatch(r"[A-Z].{25,}\.", first.alt)
    assert len(first.table) >= 1
    assert len(first.table.columns) >= 3
    assert not first.table.equals(second.table)
    assert all(re.search("[A-Za-zε]", str(column)) for column in first.table.columns)


def test_histograms_hold_every_execution_and_are_told_apart_by_dash_too() -> None:
    drawn = histogram(*np.random.default_rng(0).normal([[0.5], [-0.5]], 1, (2, 4000)))
    picture = attack.score_histograms(*drawn, see="so")
    first, second = picture.figure.data
    assert picture.table["first episode"].sum() == picture.table["second episode"].sum() == 4000
    assert max(first.y) == drawn[1].max()
    assert (first.line.dash, second.line.dash) == ("solid", "dash")
    assert "4,000 simulated releases" in picture.figure.layout.title.text
    assert picture.see == "so"


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
