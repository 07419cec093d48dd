"""One user who follows what a run has learned, drawn, and the counts that fill meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dprl.assets import module_with_imports
from pages.shared.layout.browser import component
from pages.shared.results.data import ENTRY_BYTES, SizedCache, cache_of

BYTES = 4 * 2**20  # of what is shown, kept for all visitors together

_one_user = component("one_user", js=module_with_imports("one_user.js", "story_parts.js"))


def one_user(key: str, make: Callable[[], dict[str, Any]]) -> None:
    """Draw one user. make: gives what is drawn, once for each key."""
    kept: SizedCache[dict[str, Any]] = cache_of("one_user", BYTES)
    drawing = kept.cached(key, lambda _: make(), lambda made: ENTRY_BYTES + len(repr(made)))
    _one_user(data={"id": key} | drawing, key="one_user")
