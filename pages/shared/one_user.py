"""One user who follows what a run has learned, drawn, and the counts that fill meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dprl.assets import module_with_imports
from dprl.mdp import TabularMDP
from dprl.research.one_user import best_content, content
from dprl.simulation import SeedTrace
from pages.shared.layout.browser import component
from pages.shared.results.data import ENTRY_BYTES, SizedCache, cache_of

BYTES = 4 * 2**20  # of what is shown, kept for all visitors together

_one_user = component("one_user", js=module_with_imports("one_user.js", "story_parts.js"))


def one_user(trace: SeedTrace, mdp: TabularMDP) -> None:
    """Draw one user of one seed."""
    key = f"{trace.spec.to_json()}#{trace.seed}#{trace.episodes[-1]}"
    _drawn(key, lambda: content(mdp, trace))


def of_best(key: str, mdp: TabularMDP) -> None:
    """Draw users who follow the best policy, and counts that fill at the mean rate. key: names the environment."""
    _drawn(key, lambda: best_content(mdp))


def _drawn(key: str, make: Callable[[], dict[str, Any]]) -> None:
    kept: SizedCache[dict[str, Any]] = cache_of("one_user", BYTES)
    drawing = kept.cached(key, lambda _: make(), lambda made: ENTRY_BYTES + len(repr(made)))
    _one_user(data={"id": key} | drawing, key="one_user")
