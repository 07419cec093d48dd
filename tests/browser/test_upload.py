"""Files: all that can be downloaded is opened, and one of your own is given, released and seen, however large."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, expect

import dprl
from dprl.environments import ENVIRONMENTS
from dprl.mdp import planning
from dprl.simulation.uploads.model import example
from tests.browser.conftest import Visits
from tests.browser.seen import alone, finished, idle
from tests.people import declared, treated, written_down
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


WORK = 120_000  # ms for what workers compute: these give way to everything else on a busy machine


def give(page: Page, data: bytes, which: int = 0, name: str = "people.csv", kind: str = "text/csv") -> None:
    """A file from the visitor's disk, given to a page at rest: one that is being drawn may put a new field there."""
    idle(page)
    file: FilePayload = {"name": name, "mimeType": kind, "buffer": data}
    page.get_by_test_id("stFileUploader").nth(which).locator("input[type=file]").set_input_files(file)
    idle(page)


def fill(page: Page, **typed: str) -> None:
    """What a visitor types; labels begin with these words."""
    for words, value in typed.items():
        page.locator(f'input[aria-label^="{words.replace("_", " ")}"]').fill(value)


def check(page: Page, budget: str) -> None:
    fill(page, Name_of_the_budget=budget, Total="1", ρ_of_this="0.1")
    page.get_by_test_id("stFormSubmitButton").get_by_role("button").click()


@pytest.mark.thorough
def test_from_a_file_to_a_policy_that_is_better_than_today(
    visit: Visits, screen: tuple[int, str], tmp_path: Path
) -> None:
    """20,000 patients: declared, checked, released and judged; they get 5.4 on average, and 6.9 at best."""
    ward = ENVIRONMENTS["random"].make(S=8, A=3, H=10, seed=3, concentration=5.0)
    states = ["well", "mild", "moderate", "severe", "acute", "chronic", "recovering", "other"]
    actions = ["watch", "treat", "operate"]
    public = json.loads(declared(ward, known=True)) | {"states": states, "actions": actions}
    heading, *rows = written_down(
        treated(ward, "mixture:0.33", 20_000, np.random.default_rng(1))
    ).splitlines()
    table = [row.split(",") for row in rows]
    named = [
        f"patient {who},{step},{states[int(s)]},{actions[int(a)]},{r},{states[int(x)]}"
        for who, step, s, a, r, x in table
    ]
    page = visit("data", *screen)
    give(page, json.dumps(public).encode(), 1, "declared.json", "application/json")
    give(page, "\n".join([heading, *named]).encode())
    check(page, f"browser {screen}")
    expect(page.get_by_text("read from people.csv: 8 states, 3 actions, 10 steps")).to_be_visible(
        timeout=WORK
    )
    expect(page.get_by_text("Noise moves each of these counts by about 28")).to_be_visible(timeout=WORK)
    expect(page.get_by_text("The release contains noisy counts of")).to_be_visible()
    page.get_by_role("button", name="Release at").click()
    expect(page.get_by_text("Spent so far:").first).to_be_visible(timeout=WORK)
    idle(page)
    expect(page.get_by_text("Better than today, if nothing hidden drove the choices.")).to_be_visible()
    table_of = page.get_by_test_id("stTable")
    expect(table_of).to_contain_text("Users' own average")
    assert table_of.evaluate("e => e.scrollWidth <= e.clientWidth")  # nothing to be found by scrolling
    with page.expect_download() as download:
        page.get_by_role("button", name="Policy (JSON)").click()
    download.value.save_as(tmp_path / "policy.json")
    with page.expect_download() as download:
        page.get_by_role("button", name="Sheet to print (HTML)").click()
    download.value.save_as(tmp_path / "sheet.html")
    printed = page.context.new_page()
    printed.goto((tmp_path / "sheet.html").as_uri())
    expect(printed.get_by_text("Better than today, if nothing hidden drove the choices.")).to_be_visible()
    assert printed.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert len(re.findall(rb"/Type\s*/Page\b", printed.pdf(prefer_css_page_size=True))) == 1  # on A4
    printed.close()
    policy = dprl.Policy.load(tmp_path / "policy.json")
    assert policy.about["held out"]["verdict"] == "better"
    assert policy.about["bound"]["worth at least"] > 5.7  # 6.2, with a standard deviation of 0.007
    acts = [[policy.act(state, step) for state in states] for step in range(10)]
    chosen = np.array([[actions.index(act or "watch") for act in row] for row in acts])
    values = planning.policy_values(ward, chosen), planning.optimum(ward).V
    worth, best = (planning.start_value(ward, V) for V in values)
    assert best - 0.1 < worth <= best


@pytest.mark.parametrize("mb", [3, pytest.param(190, marks=pytest.mark.thorough)])
def test_a_file_as_large_as_the_page_says_is_read(visit: Visits, tmp_path: Path, mb: int) -> None:
    """One column more, which is passed over, makes it large and no slower to read."""
    page = visit("data")
    uploader = page.get_by_test_id("stFileUploader").first
    expect(uploader).to_contain_text("200MB per file")
    heading, *rows = example().splitlines()[:4001]
    path = tmp_path / "people.csv"
    note = "x" * (mb * 10**6 // len(rows))
    path.write_text("\n".join([f"{heading},note", *(f"{row},{note}" for row in rows)]), encoding="utf-8")
    assert path.stat().st_size > mb * 10**6
    with page.expect_response(
        lambda answer: "upload_file" in answer.url, timeout=WORK
    ):  # when all of it is there
        uploader.locator("input[type=file]").set_input_files(path)
    idle(page)
    fill(page, States="mild, severe, critical", Actions="watch, drug, surgery", Steps_of_each="4")
    idle(page)
    check(page, "large")
    expect(page.get_by_text("1,000 trajectories", exact=True)).to_be_visible(timeout=WORK)
