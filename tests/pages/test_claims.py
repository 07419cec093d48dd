"""The page Claims: what it opens with, links, running a claim again, and that the command line says the same."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dprl.__main__ as cli
from bench import bundled as bench
from dprl.claims import CLAIMS, Claim, regret
from dprl.metrics import VERDICTS
from dprl.runs.store import Store
from dprl.simulation import RunSpec
from pages.shared.results import bundled, evidence
from pages.shared.text import escape
from tests.pages.conftest import Visit, Work, charts, go, marked, press, words
from tests.problems import first

PAGE = "claims"
SMALL = RunSpec(environment_params={"S": 3, "H": 4}, episodes=10**9, seeds=3)


@pytest.fixture
def small(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Claim]:
    """Two claims and no other: one on a small problem, and the one that is asked instead of run. What comes with the
    program is of them."""
    claim = replace(CLAIMS["jdp-additive"], settings=(regret.flattens(SMALL), regret.goes_on(SMALL)))
    kept = {"jdp-additive": claim, "one-draw": CLAIMS["one-draw"]}
    for key in list(CLAIMS):
        monkeypatch.delitem(CLAIMS, key)
    for key, one in kept.items():
        monkeypatch.setitem(CLAIMS, key, one)
    shutil.copytree(bundled.DIRECTORY, tmp_path / "assets")
    monkeypatch.setattr(bundled, "DIRECTORY", tmp_path / "assets")
    bundled.path_of("claims").write_text(json.dumps(bench.claims()), encoding="utf-8")
    evidence.bundled.cache_clear()
    yield claim
    evidence.bundled.cache_clear()


def command_line(tmp_path: Path, key: str) -> dict[str, Any]:
    assert cli.main(["reproduce", key, "--out", str(tmp_path / "out")]) == 0
    found: dict[str, Any] = json.loads((tmp_path / "out" / f"{key}.json").read_text(encoding="utf-8"))
    return found


def test_all_claims_are_listed_with_their_verdicts_and_ask_for_nothing(visit: Visit, store: Store) -> None:
    app = visit(PAGE)
    said = marked(app)
    assert len(CLAIMS) == 10
    for claim in CLAIMS.values():
        assert escape(claim.source) in said
    assert said.count("It holds ") + said.count("Of ") >= 10
    assert "Computed with dprl" in said
    assert store.activity().seeds_queued == 0


@pytest.mark.parametrize("key", first(CLAIMS, lambda key: CLAIMS[key].settings[0].draw is None))
def test_every_claim_opens_finished(visit: Visit, store: Store, key: str) -> None:
    app = visit(PAGE, claim=key)
    said = words(app)
    assert CLAIMS[key].title in said
    assert any(f"**{verdict}**" in said for verdict in VERDICTS)
    drawn = [json.loads(chart.spec)["layout"] for chart in charts(app)]
    assert len(drawn) >= (2 if CLAIMS[key].settings[0].draw else 1)
    for layout in drawn:
        assert all(part["title"]["text"] for part in (layout, layout["xaxis"], layout["yaxis"]))
    assert store.activity().seeds_queued == 0


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("one-draw", {"95% interval over users"}),
        ("jdp-additive", {"95% interval over seeds"}),
    ],
)
def test_a_chart_names_what_its_intervals_are_over(visit: Visit, key: str, said: set[str]) -> None:
    titles = [json.loads(chart.spec)["layout"]["title"]["text"] for chart in charts(visit(PAGE, claim=key))]
    found = {re.sub("<.*?>", "|", title).split("|")[2] for title in titles if "claimed" in title}
    assert found == said


def test_a_claim_is_a_link(visit: Visit) -> None:
    app = visit(PAGE)
    press(app, "open_mistakes")
    assert app.query_params["claim"] == "mistakes"
    app.selectbox[0].set_value("3").run()
    assert app.query_params["at"] == "3"
    same = visit(PAGE, claim="mistakes", at="3")
    assert [c.spec for c in charts(same)] == [c.spec for c in charts(app)]
    app.button(key="all_claims").click().run()
    assert "claim" not in app.query_params


@pytest.mark.parametrize(("key", "at"), [("mistakes", "5"), ("lower-bound", "1"), ("shuffle-between", "6")])
def test_a_line_over_budgets_is_that_of_no_single_one(visit: Visit, key: str, at: str) -> None:
    found = json.loads(charts(visit(PAGE, claim=key, at=at))[-1].spec)
    assert found["layout"]["xaxis"]["title"]["text"] == "1/ε"
    assert not any("ε =" in trace.get("name", "") for trace in found["data"])


def test_a_claim_is_computed_again_and_the_command_line_agrees(
    visit: Visit, work: Work, small: Claim, tmp_path: Path, store: Store
) -> None:
    app = visit(PAGE, claim=small.key)
    before = words(app)
    assert "Of 2 settings it holds in 1 and holds as an upper bound in 1." in before
    press(app, "again")
    assert "0 of 6 seeds finished" in words(app)
    assert work() == 6
    app.run()
    assert "Computed again here, the same numbers: **Of 2 settings it holds in 1" in words(app)
    found = command_line(tmp_path, small.key)
    said = words(app)
    assert found["summary"] in said
    for setting in found["settings"]:
        assert f"**{setting['verdict']}**" in said
    assert [s["verdict"] for s in found["settings"]] == ["holds", "holds as an upper bound"]


def test_what_is_asked_again_needs_no_run(visit: Visit, small: Claim, tmp_path: Path) -> None:
    app = visit(PAGE, claim="one-draw")
    press(app, "again")
    assert "Computed again here, the same numbers: **It holds in both settings.**" in words(app)
    assert command_line(tmp_path, "one-draw")["verdict"] == "holds"


def test_computing_again_can_be_cancelled(visit: Visit, small: Claim, store: Store) -> None:
    app = visit(PAGE, claim=small.key)
    app.button(key="again").click().run()
    assert store.activity().seeds_queued == 6
    go(app, "runs")
    assert "Runs of Claims" in words(app)
    go(app, PAGE)
    press(app, "cancel")
    assert store.activity().seeds_queued == 0
    assert app.button(key="again").label == "Run again"


def test_other_numbers_than_those_that_came_along_are_said(
    visit: Visit, work: Work, small: Claim, tmp_path: Path
) -> None:
    kept = bundled.asset("claims")
    for run in kept["runs"]:
        if run["spec"]["privacy"] == "central":  # as if privacy had cost more and more
            run["values"] = [[v + at for v, at in zip(row, run["at"], strict=True)] for row in run["values"]]
    bundled.path_of("claims").write_text(json.dumps(kept), encoding="utf-8")
    app = visit(PAGE, claim=small.key)
    assert "**does not hold here**" in words(app)
    app.button(key="again").click().run()
    work()
    app.run()
    assert "Computed again here, other numbers: **Of 2 settings it holds in 1" in words(app)
