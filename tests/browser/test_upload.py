"""A file of one's own on the page Offline: given by hand, released, seen; and the sentence for a malformed one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import FilePayload, Page, expect

from dprl.simulation.uploads.model import example
from tests.browser.conftest import PHONE, Visits

Idle = Callable[[Any], None]
EXAMPLE = example().encode()


def give(page: Page, data: bytes) -> None:
    """A file from the visitor's disk."""
    file: FilePayload = {"name": "people.csv", "mimeType": "text/csv", "buffer": data}
    page.get_by_test_id("stFileUploader").last.locator("input[type=file]").set_input_files(file)


def test_a_file_is_refused_and_another_one_learned_from(visit: Visits, idle: Idle) -> None:
    page = visit("offline?v=2&t=2&tab=upload", *PHONE)
    give(page, EXAMPLE.replace(b"0,1,hall", b"0,2,hall", 1))
    expect(page.get_by_text("row 3, column step: 2 where 1 is expected")).to_be_visible()
    give(page, EXAMPLE)
    expect(page.get_by_text("20,000 trajectories", exact=True)).to_be_visible()
    page.get_by_role("textbox", name="Values of ρ to spend").fill("1, 3, 10")
    page.get_by_role("textbox", name="Values of ρ to spend").press("Enter")
    page.get_by_role("button", name="Release and learn").click()
    expect(page.get_by_text("the learned policy is worth at least")).to_be_visible()
    expect(page.get_by_text("ρ = 14")).to_be_visible()
    idle(page)
    assert page.get_by_test_id("stMain").locator(".js-plotly-plot:visible").count() == 2
    link = page.url
    assert "up=" in link
    assert not re.search(r"[0-9a-f]{32}", link)
