"""Everything that can be downloaded, on every page: pressed, and its file opened."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Visits
from tests.browser.seen import alone, finished, idle
from tests.problems import first

EXPLORE = "explore?v=1&c={}~K.20000~seeds.2~eps.50&c=priv.none&tab=data"
SWEEP = (
    "tradeoffs?v=1&b=envp.S.3~envp.H.3~K.20000~seeds.2&m=none&m=central&x=epsilon&at=1,10&show=regret&share=1"
)

# Where there is something to download, and which files.
PAGES = {
    EXPLORE.format("env.custom"): {
        "regret.csv", "regret.parquet", "cite.bib", "spec.json", "example.json", "environment.json",
    },
    SWEEP: {"sweep.csv", "sweep.json", "cite.bib", "sweep.html"},
    "offline?tab=data": {"gap.csv", "gap.parquet", "cite.bib", "gap.html", "spec.json"},
}  # fmt: skip


def saved(page: Page, press: Locator) -> tuple[str, bytes]:
    """Name and content of the file that comes when something is pressed."""
    with page.expect_download(timeout=20_000) as download:
        press.click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def opened(name: str, content: bytes, browser: Browser, tmp_path: Path) -> None:
    """Opens a file as whoever downloaded it would."""
    kind = name.rpartition(".")[2]
    if kind == "csv":
        table(pd.read_csv(io.BytesIO(content)))
    elif kind == "parquet":
        table(pd.read_parquet(io.BytesIO(content)))
    elif kind == "json":
        assert json.loads(content)
    elif kind == "bib":
        assert content.decode("ascii").count("\n@") >= 2  # the program, and a paper at least
    else:
        assert kind == "html"
        rendered(content, browser, tmp_path)


def table(rows: pd.DataFrame) -> None:
    """A table of regrets, or gaps, none missing."""
    assert len(rows) >= 4
    axis, measure = ("n", "gap") if "gap" in rows else ("episode", "regret")
    assert {"seed", axis, measure} <= set(rows.columns)
    assert (rows[measure] >= 0).all()


def rendered(content: bytes, browser: Browser, tmp_path: Path) -> None:
    """A page that shows its chart without a network."""
    file = tmp_path / "page.html"
    file.write_bytes(content)
    with alone(browser, file) as page:
        expect(page.locator(".js-plotly-plot .legend").first).to_be_visible()
        assert page.locator(".js-plotly-plot .legend .traces").count() >= 2  # of curves


@pytest.mark.thorough
@pytest.mark.parametrize("path", first(PAGES), ids=["explore", "trade-offs", "offline"])
def test_every_download_gives_a_file_that_opens(
    visit: Visits, browser: Browser, tmp_path: Path, path: str
) -> None:
    page = finished(visit(path))
    if path == SWEEP:
        page.get_by_text("About this chart", exact=True).click()
        page.get_by_role("tab", name="Files").click()
        idle(page)
    buttons = page.get_by_test_id("stDownloadButton").get_by_role("button")
    names = set()
    for i in range(buttons.count()):
        name, content = saved(page, buttons.nth(i))
        opened(name, content, browser, tmp_path)
        names.add(name)
    assert names == PAGES[path]
    if path == SWEEP:
        page.get_by_role("tab", name="Numbers").click()
        idle(page)
    page.evaluate("delete window.showSaveFilePicker")  # which nobody can answer here
    rows = page.get_by_test_id("stDataFrame")
    rows.evaluate("one => dprlTest.bring(one)")
    rows.hover()
    idle(
        page
    )  # its tools slide in: who presses where they were scrolls the table from below the mouse, and they go
    name, content = saved(page, page.get_by_role("button", name="Download as CSV"))
    assert not pd.read_csv(io.BytesIO(content)).empty
