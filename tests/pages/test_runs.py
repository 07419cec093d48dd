"""Runs lists whatever this visitor asked for, in whichever name: no page can ask in one that is not listed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dprl.runs.store import Store
from dprl.simulation import RunSpec
from dprl.sitemap import PAGES, Page, RunGroup
from dprl.words import plural
from tests.pages.conftest import Visit, go, press, words
from tests.pages.test_floods import OTHERS

ROOT = Path(__file__).parents[2]
RUNS = "runs"
SMALL = RunSpec(environment_params={"S": 3, "H": 3}, episodes=10**4, seeds=2)


def named(source: str) -> Iterator[tuple[int, str]]:
    """Lines that put together a name out of the visitor's, and how."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            parts = node.values
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [node.left, node.right]
        else:
            continue
        inside = [part.value if isinstance(part, ast.FormattedValue) else part for part in parts]
        if any(isinstance(part, ast.Attribute) and part.attr == "visitor" for part in inside):
            yield node.lineno, ast.unparse(node)


def test_names_are_made_in_one_place_whose_list_is_what_runs_shows() -> None:
    found = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "pages").rglob("*.py")
        for _ in named(file.read_text(encoding="utf-8"))
    }
    assert found == {"pages/shared/visitor/owners.py"}


def test_every_name_is_one_of_its_own() -> None:
    groups = [group for page in PAGES.values() for group in page.groups]
    assert len({group.key for group in groups}) == len({group.title for group in groups}) == len(groups) >= 6


# What a page asks for by its link, in each of its names; in the others it asks when something is pressed.
ASKED = {
    "sweep": OTHERS["tradeoffs"],
    "offline": OTHERS["offline"],
    "attack": OTHERS["attack"],
}


@pytest.mark.parametrize(
    ("page", "group"),
    [pytest.param(page, group, id=group.key) for page in PAGES.values() for group in page.groups],
)
def test_runs_in_every_name_are_listed_cancelled_and_cleared(
    visit: Visit, store: Store, page: Page, group: RunGroup
) -> None:
    app = visit(page.folder, **ASKED.get(group.key, {}))
    name = f"{app.session_state['session'].visitor}:{group.key}"
    if group.key not in ASKED:
        store.ask(SMALL, name, None)
    waiting = store.activity().runs_waiting
    assert waiting >= 1
    go(app, RUNS)
    assert f"**{group.title}**: {plural(waiting, 'run')}" in words(app)
    assert "Citations (BibTeX)" in [button.proto.label for button in app.get("download_button")]
    assert f"Go to {page.name}" in [link.proto.label for link in app.get("page_link")]
    press(app, f"cancel_{group.key}")
    assert store.activity().seeds_queued == 0
    press(app, "clear")
    assert f"**{group.title}**" not in words(app)
    assert store.runs(name) == []
