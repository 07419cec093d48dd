"""Handing on what is seen: a short link with its picture, pressed and opened as two people would."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

from tests.browser.conftest import Visits
from tests.browser.going import SHORT, compared

Idle = Callable[[Any], None]


def test_a_short_link_is_made_and_opened(visit: Visits, idle: Idle) -> None:
    page = visit(f"{compared(SHORT)}&tab=guarantee", width=390)
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Make a short link").click()
    picture = page.get_by_alt_text("QR picture of the short link")
    expect(picture).to_be_visible()
    (letters,) = re.findall(r"/explore\?s=([B-Z]{8})$", str(picture.get_attribute("alt")))
    other = visit(f"?s={letters}")  # typed by hand, without the page
    expect(other).to_have_url(re.compile(f"/explore\\?s={letters}$"))
    expect(other.get_by_role("tab", name="Guarantee")).to_have_attribute("aria-selected", "true")
    expect(other.locator(".st-key-chips")).to_contain_text("50")
