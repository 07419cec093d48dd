"""What all pages that compare runs of one kind do alike: open finished, compute, show, refuse, and write links."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from streamlit.testing.v1 import AppTest

from dprl import sitemap
from dprl.runs.store import Store
from dprl.simulation import OfflineSpec
from dprl.sitemap import GROUPS, Page, RunGroup
from pages.offline.record import OFFLINE
from pages.shared.comparison.record import ComparisonLink, ComparisonPage
from pages.shared.results import bundled
from pages.shared.visitor.views import fields_of
from tests.pages.conftest import (
    Visit,
    Work,
    charts,
    grouped,
    legend,
    press,
    sent,
    tabs,
    unbroken,
    widget,
    words,
)
from tests.problems import first

ROOT = Path(__file__).parents[2]
DATA = OfflineSpec(environment="riverswim", environment_params={"S": 3, "H": 3}, n=10**6, seeds=2)


class Alike(NamedTuple):
    """One of these pages.

    Attributes:
        specs: three small runs of two seeds each; the first without privacy.
        seen: what each tab but the first draws of them first, by its alternative text (None: nothing), and says.
        close: the tab that needs all of a run, and what is said of one that came with the program.
        chosen: other values, and the runs that these controls describe.
    """

    page: ComparisonPage[Any]
    specs: tuple[Any, ...]
    seen: dict[str, tuple[str | None, str]]
    close: tuple[str, str]
    chosen: tuple[dict[tuple[str, str], Any], tuple[Any, ...]]


ALIKE = {
    "offline": Alike(
        OFFLINE,
        (DATA.baseline(), DATA, DATA.replace(rho=0.1)),
        {
            "pessimism": (
                "Heatmaps of a data set's visits",
                "the penalty takes all that the action seems worth",
            ),
            "policy": (
                "Heatmaps of the action taken",
                "the behaviour policy takes the learned action with chance",
            ),
            "coverage": ("Heatmaps of where the trajectories", "Of all pairs on the optimal policy's way"),
            "guarantee": (None, "Proved as claimed:** ρ = 0.1 when one trajectory is replaced"),
            "data": (None, "The suboptimality of every run"),
        },
        ("pessimism", "This data set was not computed"),
        (
            {("text_input", "Values of ρ"): "0.5, 1, 2"},
            (DATA.baseline(), *(DATA.replace(rho=rho) for rho in (0.5, 1.0, 2.0))),
        ),
    ),
}
PAGES = pytest.mark.parametrize("path", ALIKE)


def query(path: str, *specs: Any, **view: Any) -> dict[str, list[str]]:
    """The link of such a page to these runs, by default to its small ones."""
    page = ALIKE[path].page
    return grouped(page.encode(specs or ALIKE[path].specs, page.view(**view)))


def named(app: Any) -> set[str]:
    """The runs in the legend, without their numbers."""
    return {name.split(": ")[-1] for name in legend(app)}


@pytest.mark.parametrize(
    ("path", "place"),
    first(
        [(path, i) for path, alike in ALIKE.items() for i in range(len(alike.page.examples))],
        lambda one: one[0],
    ),
)
def test_every_example_opens_finished(visit: Visit, store: Store, path: str, place: int) -> None:
    page = ALIKE[path].page
    app, example = visit(path), page.examples[place]
    assert set(page.titles(page.examples[0].specs)) <= named(app)
    press(app, f"example_{place}")
    assert store.activity().seeds_queued == 0
    assert app.get("progress") == []
    assert set(page.titles(example.specs)) <= named(app)
    assert app.query_params["c"] == query(path, *example.specs)["c"]
    assert (
        "Computed before" in words(app) or path == "offline"
    )  # whose settings do not describe every example


@PAGES
def test_every_tab_of_a_finished_comparison(visit: Visit, work: Work, path: str) -> None:
    alike = ALIKE[path]
    assert set(alike.seen) == set(fields_of(alike.page.view)["tab"].choices[1:])
    visit(path, **query(path))
    assert work() == 6
    for tab, (alt, said) in alike.seen.items():
        app = visit(path, **query(path, tab=tab))
        assert said in words(app), tab
        assert [chart.alt.startswith(alt or "-") for chart in charts(app)][:1] == ([True] if alt else []), tab
        for curve in (0, 2):
            visit(path, **looked_at(path, tab, curve))


def looked_at(path: str, tab: str, curve: int) -> dict[str, list[str]]:
    """The same with all else of the view not as usual, as far as that is of a close look."""
    given = {"episode": 3, "n": 500, "h": 2, "first": 1, "second": 2, "near": "off"}
    known = {name: value for name, value in given.items() if name in fields_of(ALIKE[path].page.view)}
    return query(path, tab=tab, curve=curve, **known)


@PAGES
def test_a_link_starts_what_is_missing_and_curves_grow(
    visit: Visit, work: Work, store: Store, path: str
) -> None:
    app = visit(path, **query(path))
    assert store.activity().seeds_queued == 6
    assert "3 runs" in words(app)
    assert "The first points appear in a moment" in words(app)
    work(3)
    app.run()
    assert "3 of 6 seeds finished" in words(app).replace("**", "")
    assert charts(app)
    work()
    app.run()
    assert app.get("progress") == []
    second = visit(path, **query(path))
    assert store.activity().seeds_queued == 0
    assert legend(second) == legend(app)


@PAGES
def test_a_close_look_at_what_is_bundled_computes_it(
    visit: Visit, store: Store, work: Work, path: str
) -> None:
    alike = ALIKE[path]
    tab, missing = alike.close
    first = alike.page.examples[0].specs
    app = visit(path, tab=tab)
    assert store.activity().seeds_queued == first[alike.page.most_private(first)].seeds
    app.button(key="cancel").click().run()
    assert store.activity().seeds_queued == 0
    assert missing in words(app)
    app.button(key="close_look").click().run()
    work(1)
    app.run()
    assert alike.seen[tab][1] in words(app)


@PAGES
def test_tabs_are_in_the_address(visit: Visit, path: str) -> None:
    app = visit(path)
    sent(app, tabs(app), string_value="Guarantee")
    assert app.query_params["tab"] == "guarantee"
    assert app.query_params["c"] == query(path, *ALIKE[path].page.examples[0].specs)["c"]


@PAGES
def test_run_shows_what_the_controls_say(visit: Visit, path: str) -> None:
    app = visit(path, **query(path))
    given, specs = ALIKE[path].chosen
    for (kind, label), value in given.items():
        widget(app, kind, label).set_value(value).run()
    press(app, "run")
    assert app.session_state["session"].parts[path].specs == specs


@PAGES
def test_all_of_a_view_and_all_examples_are_said_by_a_link(path: str) -> None:
    """Each attribute of the view is not as usual."""
    page = ALIKE[path].page
    other = {
        name: next(one for one in field.choices if one != field.default)
        if field.choices
        else int(field.low or 0) + 2
        for name, field in fields_of(page.view).items()
    }
    view = page.view(**other | {"curve": 1})
    for specs in (ALIKE[path].specs, *(example.specs for example in page.examples)):
        for seen in (page.view(), view):
            assert page.decode(grouped(page.encode(specs, seen))) == ComparisonLink(specs, seen)


def documented(name: str) -> str:
    """A file of the page that docs/how-to/adding-an-algorithm.md adds."""
    text = (ROOT / "docs/how-to/adding-an-algorithm.md").read_text(encoding="utf-8")
    (code,) = re.findall(rf"```python\n# pages/bandits/{name}\.py\n(.*?)```", text, re.DOTALL)
    return str(code)


def test_the_page_in_the_docs_is_one_record_and_its_own_folder(
    work: Work, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = ModuleType("pages.bandits.record")
    monkeypatch.setitem(sys.modules, "pages.bandits", ModuleType("pages.bandits"))
    monkeypatch.setitem(sys.modules, record.__name__, record)
    exec(compile(documented("record"), "pages/bandits/record.py", "exec"), vars(record))
    page: ComparisonPage[Any] = record.BANDITS
    group = RunGroup("bandits", "Comparisons of Bandits")
    monkeypatch.setitem(
        sitemap.PAGES, "bandits", Page("bandits", "Bandits", "", "casino", settings=True, groups=(group,))
    )
    monkeypatch.setitem(GROUPS, "bandits", group)
    asset = bundled.asset
    monkeypatch.setattr(bundled, "asset", lambda name: [] if name == "bandits" else asset(name))
    begin = "from pages.shared.visitor.state import session\nsession().page = 'bandits'\n"
    app = AppTest.from_string(begin + documented("page").replace("from __future__ import annotations\n", ""))
    small = tuple(spec.replace(episodes=1000, seeds=1) for spec in page.examples[0].specs)
    for key, value in grouped(page.encode(small, page.view())).items():
        app.query_params[key] = value
    app.run(timeout=60)
    unbroken(app)
    assert "The first points appear in a moment" in words(app)
    assert work() == len(small)
    app.run()
    unbroken(app)
    assert set(page.titles(small)) <= set(legend(app))
    assert app.button(key="run").label == "Run"
    app.button(key="reset").click().run()
    unbroken(app)
    assert app.session_state["session"].draft.episodes == page.examples[0].specs[1].episodes
