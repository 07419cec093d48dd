"""Each page opens, answers its main control with a chart, and its link opens the same chart for others.

tests/browser/test_leading.py does this for Room.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from dprl.sitemap import PAGES
from tests.browser.conftest import Visits
from tests.browser.seen import CHART, COMPUTED, copied, finished

SMALL = "envp.S.3~envp.H.3"
TRADEOFFS = f"v=1&b={SMALL}~K.20000~seeds.2&m=none&m=central&x=epsilon&at=1,10&show=price"
ATTACK = "v=1&b=env.random~envp.S.2~envp.A.2~envp.H.2~K.1000~priv.local"
# For each page: a link to something small, the role of its main control, and its name.
MAIN = {
    "": ("", "slider", "Privacy budget"),
    "explore": (f"v=1&c={SMALL}~K.100000~seeds.2~eps.50&c=priv.none", "button", "Run"),
    "tradeoffs": (TRADEOFFS, "button", "Run"),
    "users": ("", "textbox", "Budget ε"),
    "offline": ("", "tab", "Policy"),
    "lessons": ("lesson=trust&step=2", "button", "I don't know"),
    "papers": ("", "button", "Theorem 5.2"),
    "attack": (ATTACK, "radio", "One reward differs"),
    "runs": ("", "link", "Home"),
}


def test_every_page_is_opened() -> None:
    assert MAIN.keys() | {"room", "data"} == PAGES.keys()  # which have files of their own


@pytest.mark.parametrize("path", MAIN)
def test_a_page_answers_with_a_chart_and_its_link_opens_the_same(visit: Visits, path: str) -> None:
    query, role, name = MAIN[path]
    page = visit(f"{path}?{query}" if query else path)
    control = page.get_by_role(role, name=re.compile(name)).first  # type: ignore[arg-type]
    if role == "slider":
        control.press("ArrowRight")
    elif role == "textbox":
        control.fill("2")
        control.press("Enter")
    elif role == "radio":  # covered by its label
        page.get_by_test_id("stMain").get_by_text(name, exact=True).first.click()
    else:
        control.click()
    finished(page)
    expect(page.locator(CHART).first).to_be_visible(timeout=COMPUTED)
    other = finished(visit(copied(page)))
    shown = page.locator(f"{CHART} .gtitle").all_text_contents()
    expect(other.locator(f"{CHART} .gtitle")).to_have_text(shown)
