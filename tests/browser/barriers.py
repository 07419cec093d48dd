"""What keeps somebody from reading or using a page, as axe-core finds it."""

from __future__ import annotations

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

LEVELS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa")
# Streamlit's own: the colours of its code, which scrolls and takes no focus.
STREAMLITS = [["[data-testid=stCode]"]]
SERIOUS = """([levels, exclude]) => axe.run({exclude}, {runOnly: levels, resultTypes: ['violations']}).then(found =>
    found.violations.filter(rule => ['serious', 'critical'].includes(rule.impact)).flatMap(rule =>
        rule.nodes.map(node => [rule.id, node.html, node.any.map(each => each.message).join('; ')].join(': '))))"""


def barriers(page: Page) -> list[str]:
    """Rules of WCAG 2.1 AA that are broken, by which elements."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(SERIOUS, [LEVELS, STREAMLITS])
    return found
