"""The page Papers: what it opens with, links, and that the command line says the same."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

import dprl.__main__ as cli
from bench import bundled as bench
from dprl.assets import ASSETS
from dprl.papers import CLAIMS, Claim, regret
from dprl.papers.items import all_items, papers, related
from dprl.runs.store import Store
from dprl.simulation import RunSpec
from pages.papers import views
from pages.shared.layout.terms import escape
from pages.shared.results import data
from pages.shared.visitor import links
from tests.pages.conftest import Visit, Work, charts, marked, press, words
from tests.problems import first

PAGE = "papers"
SMALL = RunSpec(environment_params={"S": 3, "H": 4}, episodes=10**9, seeds=3)


ADDITIVE = "online/theorem-5-2"


@pytest.fixture
def small(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Claim]:
    """One experiment on a small problem. What comes with the program is of it, and of all others as they are."""
    claim = replace(CLAIMS["jdp-additive"], settings=(regret.flattens(SMALL), regret.goes_on(SMALL)))
    known = data.bundled_papers().evidence
    monkeypatch.setitem(CLAIMS, "jdp-additive", claim)
    shutil.copytree(ASSETS, tmp_path / "assets")
    monkeypatch.setattr(data, "ASSETS", tmp_path / "assets")
    data.path_of("papers").write_text(json.dumps(bench.papers(known)), encoding="utf-8")
    forget()
    yield claim
    forget()


def forget() -> None:
    data.bundled_papers.cache_clear()
    views.verdicts.cache_clear()


def command_line(tmp_path: Path, key: str) -> dict[str, Any]:
    assert cli.main(["reproduce", key, "--out", str(tmp_path / "out")]) == 0
    found: dict[str, Any] = json.loads((tmp_path / "out" / f"{key}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", [*papers(), "related"])
def test_all_rows_are_listed_with_their_verdicts_and_ask_for_nothing(
    visit: Visit, store: Store, name: str
) -> None:
    app = visit(PAGE, paper=name)
    said = marked(app)
    if name == "related":
        assert all(escape(work.name) in said for work in related())
        assert all(work.source in said for work in related())
    else:
        assert all(app.button(key=f"open_{item.address}") for item in papers()[name].items)
        assert said.count("**Not tested.**") == sum(
            item.verdict == "not tested" for item in papers()[name].items
        )
    assert "Computed with dprl" in said
    assert len(charts(app)) == 2
    assert store.activity().seeds_queued == 0


# A row of each experiment, and one that no experiment decides.
ROWS = list({item.experiment: item.address for item in all_items().values()}.values())


@pytest.mark.parametrize("address", first(ROWS))
def test_every_row_opens_finished(visit: Visit, store: Store, address: str) -> None:
    app, item = visit(PAGE, item=address), all_items()[address]
    said = words(app)
    assert item.name in said
    drawn = [json.loads(chart.spec)["layout"] for chart in charts(app)]
    if item.claim is None:
        assert item.why.partition(":")[0][:20] in said
        assert not drawn
    else:
        assert f"dprl reproduce {item.experiment}" in app.code[-1].value
        assert len(drawn) >= (2 if item.claim.settings[item.places[0]].draw else 1)
    for layout in drawn:
        assert all(part["title"]["text"] for part in (layout, layout["xaxis"], layout["yaxis"]))
    assert store.activity().seeds_queued == 0


def test_replay_opens_exactly_the_runs_of_the_setting(visit: Visit) -> None:
    app = visit(PAGE, item=ADDITIVE, at="2")
    (link,) = (one for one in app.get("page_link") if "Open these runs" in one.proto.label)
    asked = parse_qs(link.proto.query_string)
    shown = links.decode(asked)
    assert [curve.spec for curve in shown.curves] == list(CLAIMS["jdp-additive"].settings[1].specs)
    assert shown.view.measure == "extra"  # the claim is about the privacy cost
    assert asked["say"] == ["These settings come from Theorem 5.2, setting 2."]


def test_a_press_on_a_cell_opens_its_row(visit: Visit) -> None:
    app = visit(PAGE)
    bars = json.loads(charts(app)[0].spec)["data"]
    (bar,) = (one for one in bars if one["name"].endswith("disputed"))
    assert bar["customdata"] == [a for a, item in all_items().items() if item.verdict == "disputed"]
    assert sorted(cell for one in bars for cell in one["customdata"]) == sorted(all_items())


def test_a_row_is_a_link(visit: Visit) -> None:
    app = visit(PAGE, paper="pac")
    press(app, "open_pac/theorem-3")
    assert app.query_params["item"] == "pac/theorem-3"
    app.selectbox[0].set_value("3").run()
    assert app.query_params["at"] == "3"
    same = visit(PAGE, item="pac/theorem-3", at="3")
    assert [c.spec for c in charts(same)] == [c.spec for c in charts(app)]
    app.button(key="all_items").click().run()
    assert "item" not in app.query_params
    assert app.query_params["paper"] == "pac"


def test_the_command_line_gives_the_verdicts_of_the_page(
    visit: Visit, work: Work, small: Claim, tmp_path: Path, store: Store
) -> None:
    said = words(visit(PAGE, item=ADDITIVE))
    assert "Out of 2 settings, the claim holds in 1 and holds as an upper bound in 1." in said
    for spec in small.runs:
        store.ask(spec, "somebody")
    assert work() == 6
    found = command_line(tmp_path, small.key)
    assert found["summary"] in said
    for setting in found["settings"]:
        assert f"**{setting['verdict']}**" in said
    assert [s["verdict"] for s in found["settings"]] == ["holds", "holds as an upper bound"]
    assert command_line(tmp_path, "one-draw")["verdict"] == "holds"
