"""Runs lists whatever this visitor asked for, in whichever name."""

from __future__ import annotations

import pytest

from dprl.runs.store import Store
from dprl.simulation import RunSpec
from dprl.sitemap import PAGES, Page
from dprl.words import plural
from tests.pages.conftest import Visit, go, press, words
from tests.pages.test_floods import OTHERS

RUNS = "runs"
SMALL = RunSpec(environment_params={"S": 3, "H": 3}, episodes=10**4, seeds=2)


# What a page asks for by its link, in each of its names; in the others it asks when something is pressed.
ASKED = {
    "sweep": OTHERS["tradeoffs"],
    "offline": OTHERS["offline"],
    "attack": OTHERS["attack"],
}


@pytest.mark.parametrize(
    ("page", "group"),
    [pytest.param(page, group, id=group) for page in PAGES.values() for group in page.groups],
)
def test_runs_in_every_name_are_listed_cancelled_and_cleared(
    visit: Visit, store: Store, page: Page, group: str
) -> None:
    app = visit(page.folder, **ASKED.get(group, {}))
    name = f"{app.session_state['session'].visitor}:{group}"
    if group not in ASKED:
        store.ask(SMALL, name, None)
    waiting = store.activity().runs_waiting
    assert waiting >= 1
    go(app, RUNS)
    assert f"**{page.groups[group]}**: {plural(waiting, 'run')}" in words(app)
    assert "Citations (BibTeX)" in [button.proto.label for button in app.get("download_button")]
    assert f"Go to {page.name}" in [link.proto.label for link in app.get("page_link")]
    press(app, f"cancel_{group}")
    assert store.activity().seeds_queued == 0
    press(app, "clear")
    assert f"**{page.groups[group]}**" not in words(app)
    assert store.runs(name) == []
