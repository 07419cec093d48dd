"""The page Landscape: what it says at once, its links, its order, and the way to a run."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from dprl.landscape import PROBLEMS, rows
from dprl.runs.store import Store
from dprl.sentences.landscape import about_fewest, about_spread, how_many
from pages.landscape import views, words
from pages.landscape.state import SORTS, LandscapePageState, Seen, bundled_landscape, encode
from tests.pages.conftest import Visit, charts, widget
from tests.pages.conftest import words as told

PAGE = "landscape"
OTHER = Seen("linear-mixture", 10**9, "paper", "regret", "year", "yes", "ucrl-vtr:local")


def seen_of(app: AppTest) -> Seen:
    found: Seen = app.session_state["session"].part(LandscapePageState).seen
    return found


def test_the_first_visit_shows_all_and_waits_for_nothing(visit: Visit, store: Store) -> None:
    app = visit(PAGE)
    said = told(app)
    assert "With a trusted curator, " in said
    assert "the fewest users." in said
    assert "**Proved:** (1, 10⁻⁶)-" in said
    assert len(charts(app)) == 3
    drawn = app.dataframe[0]
    assert len(drawn.value) == len(rows(bundled_landscape(), "clinic", 10**12))
    assert b"\xc3\x9710" in drawn.proto.arrow_data.styler.display_values  # as sentences have them: 2.9×10⁹
    assert store.activity().seeds_queued == 0


@pytest.mark.parametrize("by", SORTS)
def test_the_table_is_sorted_either_way_and_what_is_not_known_comes_last(by: str) -> None:
    found = rows(bundled_landscape(), "linear-mixture", 10**9)
    key = views.ORDER[by]
    for down in ("no", "yes"):
        values = [key(row) for row in views.ordered(found, Seen(sort=by, down=down))]
        known = [value for value in values if value == value]
        assert known == sorted(known, reverse=down == "yes")
        assert values[: len(known)] == known
        assert len(values) == len(found)


def test_controls_change_what_is_seen_and_the_address(visit: Visit) -> None:
    app = visit(PAGE)
    for label, value in (("Environment", "linear-mixture"), ("Users K", str(10**6)), ("Sort by", "regret")):
        widget(app, "selectbox", label).select(value).run()
    assert seen_of(app) == Seen(problem="linear-mixture", K=10**6, sort="regret")
    assert dict(app.query_params) == {"v": "1", "problem": "linear-mixture", "K": "1e6", "sort": "regret"}
    found = list(app.dataframe[0].value["regret (median)"].dropna())
    assert found == sorted(found)


def test_a_cell_leads_to_its_run_in_explore(visit: Visit) -> None:
    seen = replace(OTHER, constants="default")
    app = visit(PAGE, **dict(encode(seen)))
    (link,) = [one for one in app.get("page_link") if "Online" in one.proto.label]
    query = parse_qs(link.proto.query_string)
    (other,) = visit("explore", c=query["c"]).session_state["session"].explore.curves
    row = next(r for r in rows(bundled_landscape(), seen.problem, seen.K) if r.entry.key.startswith(seen.of))
    assert other.spec == row.entry.spec(PROBLEMS[seen.problem], seen.K)


def test_a_learner_that_cannot_be_run_says_why_and_leads_nowhere(visit: Visit) -> None:
    app = visit(PAGE, of="ucrl-vtr:central")
    assert "not run: clinic has none of the known features" in told(app)
    assert not [one for one in app.get("page_link") if "Online" in one.proto.label]


def test_a_learner_looks_alike_in_every_panel_and_on_every_problem() -> None:
    dashes: dict[str, set[str]] = {}
    for problem in PROBLEMS:
        for row in rows(bundled_landscape(), problem, 10**9):
            if not row.cell.why:
                dashes.setdefault(row.entry.learner, set()).add(views.learner_style(row).dash)
    assert all(len(own) == 1 for own in dashes.values())


def test_panels_have_one_axis_and_names_beside_the_ends_of_lines(visit: Visit) -> None:
    app = visit(PAGE, problem="linear-mixture")
    specs = [json.loads(chart.spec) for chart in charts(app)]
    assert len({tuple(spec["layout"]["yaxis"]["range"]) for spec in specs}) == 1
    named = [{note["text"] for note in spec["layout"]["annotations"]} for spec in specs]
    assert {"UCRL-VTR", "DP-UCBVI", "no privacy"} <= named[0]
    assert "UCRL-VTR" not in named[1]


def test_the_sentence_names_who_needs_the_fewest_and_says_where_nobody_does() -> None:
    inf, nan = float("inf"), float("nan")
    found = {
        "with a trusted curator": [
            ("A", 2e6, 1.9e6, 2.2e6),
            ("B", 2.3e6, 2.1e6, 2.4e6),
            ("C", 5e6, 4e6, 6e6),
        ],
        "with no trusted party": [("A", inf, inf, inf), ("B", nan, nan, nan)],
        "with a trusted shuffler": [("A", nan, nan, nan)],
    }
    assert about_fewest(found, 1e15) == (
        "With a trusted curator, A and B need the fewest users. "
        "With no trusted party, no algorithm has learned within 10¹⁵ users. "
        "With a trusted shuffler, no algorithm was run."
    )
    assert how_many(found) == "Fewest users needed: 2 million with a trusted curator."
    assert about_spread({"with a trusted curator": [1.0, 30.0], "with no trusted party": [7.0]}, 1e9) == (
        "After 1 billion users, the worst algorithm has lost more than the best: "
        "30 times with a trusted curator."
    )
    assert "clinic" in words.shared_words(Seen()).lower()
