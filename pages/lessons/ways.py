"""The way from a lesson to a view of another page."""

from __future__ import annotations

from dprl.lessons import Attempt
from pages.linear import link as linear
from pages.offline import link as offline
from pages.shared.visitor import links
from pages.shared.visitor.links import Curve, View

Query = list[tuple[str, str]]


def way(attempt: Attempt) -> tuple[str, Query]:
    """The page, and the query that opens the very view."""
    page = f"pages/{attempt.page}/page.py"
    if attempt.page == "offline":
        return page, offline.encode(attempt.specs, offline.OfflineView(**attempt.view))
    if attempt.page == "linear":
        return page, linear.encode(attempt.specs, linear.LinearView(**attempt.view))
    return page, links.encode([Curve(spec) for spec in attempt.specs], View(**attempt.view))
