"""What a visitor sees of a page in a real browser, and what it takes along."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect

from dprl.simulation import RunSpec
from dprl.sitemap import PAGES
from pages.shared.visitor import links
from pages.shared.visitor.address import query_of
from tests.browser.conftest import idle

CHART = "[data-testid=stMain] .js-plotly-plot"
TITLE = f"{CHART} .gtitle"
CURVE = f"{CHART} .scatterlayer path.js-line"
COMPUTED = 60_000  # ms for small runs to be computed on a busy machine
SHORT = RunSpec(environment_params={"S": 3, "H": 3}, epsilon=50.0, episodes=20_000, seeds=2)  # a moment

LEVELS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa")
# Streamlit's own: the colours of its code, which scrolls and takes no focus.
STREAMLITS = [["[data-testid=stCode]"]]
SERIOUS = """([levels, exclude]) => axe.run({exclude}, {runOnly: levels, resultTypes: ['violations']}).then(found =>
    found.violations.filter(rule => ['serious', 'critical'].includes(rule.impact)).flatMap(rule =>
        rule.nodes.map(node => [rule.id, node.html, node.any.map(each => each.message).join('; ')].join(': '))))"""


def compared(*specs: RunSpec) -> str:
    """The link to Explore with these runs."""
    return f"explore?{query_of(links.encode([links.Curve(spec) for spec in specs], links.View()))}"


def barriers(page: Page) -> list[str]:
    """Rules of WCAG 2.1 AA that are broken, by which elements, as axe-core finds it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(SERIOUS, [LEVELS, STREAMLITS])
    return found


def fits(page: Page) -> bool:
    """Nothing sticks out to the right, and nothing keeps anybody from reading or using what is there."""
    assert barriers(page) == []
    return bool(
        page.evaluate(
            "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
            ".every(e => e.scrollWidth <= window.innerWidth)"
        )
    )


def finished(page: Page) -> Page:
    """The page with all its runs done, at rest."""
    expect(page.locator(".st-key-status_going")).to_have_count(0, timeout=COMPUTED)
    idle(page)
    return page


def turn_to(page: Page, path: str) -> None:
    """To another page by the navigation on top, through its section."""
    found = PAGES[path]
    if found.section:
        page.get_by_test_id("stTopNavSection").filter(has_text=found.section).click()
    link = "stTopNavDropdownLink" if found.section else "stTopNavLink"
    page.get_by_test_id(link).get_by_text(found.name, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(found.heading or found.name)


def copied(page: Page) -> str:
    """The link that a press copies, without the server's address."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    url: str = page.evaluate("navigator.clipboard.readText()")
    return url.split("/", 3)[3]


def box_of(of: Locator) -> FloatRect:
    """Where it is on the page. A chart that is put away meanwhile, to be drawn again, has no size."""
    read = (
        "e => { const { x, y, width, height } = e.getBoundingClientRect(); return { x, y, width, height }; }"
    )
    for _ in range(20):
        of.wait_for()
        found: FloatRect = of.evaluate(read)
        if found["height"]:
            break
    return found


def uncovered(of: Locator) -> bool:
    """Whether nothing lies over its middle."""
    return bool(
        of.evaluate(
            "e => { const r = e.getBoundingClientRect(); "
            "return e.contains(document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2)); }"
        )
    )


@contextmanager
def alone(
    browser: Browser, file: Path, fragment: str = "", width: int = 1280, scheme: str = "light", **how: Any
) -> Iterator[Page]:
    """A page from disk, without a network: it asks for nothing outside its folder, and nothing goes wrong."""
    context = browser.new_context(
        offline=True,
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
        **how,
    )
    page, asked, wrong = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"{file.as_uri()}{fragment}")
    yield page
    assert [url for url in asked if not url.startswith((file.parent.as_uri(), "data:", "blob:"))] == []
    assert wrong == []
    context.close()
