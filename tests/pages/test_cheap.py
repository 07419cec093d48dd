"""What one use of a page takes of the server: a crowd waits for it (docs/how-to/deploying.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.elements.lib.mutable_popover_container import PopoverContainer
from streamlit.testing.v1.element_tree import Block

from dprl.simulation import OfflineSpec, RunSpec
from pages.shared.controls.widgets import FOLD
from pages.shared.results.data import SizedCache
from tests.pages.conftest import FOLDS, Visit, always

MOST = {"explore": 105, "offline": 105}  # elements, each of which is made, hashed and sent at every use


def elements(block: Block) -> int:
    """All that is below a part of a page."""
    return sum(1 + (elements(one) if isinstance(one, Block) else 0) for one in block.children.values())


@pytest.mark.parametrize("page", MOST)
def test_a_use_sends_few_elements_and_makes_few_specs(
    visit: Visit, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = visit(page)
    for name in FOLDS:
        app.session_state[f"{FOLD}{name}"] = False
    monkeypatch.setattr(PopoverContainer, "open", always(False))
    made: list[Any] = []
    for kind in (RunSpec, OfflineSpec):

        def counted(spec: Any, check: Callable[[Any], None] = kind.__post_init__) -> None:
            made.append(spec)
            check(spec)

        monkeypatch.setattr(kind, "__post_init__", counted)
    app.run()
    assert 0 < elements(app._tree) <= MOST[page]
    assert 0 < len(made) <= 5


def test_what_is_kept_twice_takes_room_once_and_the_least_recently_used_goes() -> None:
    kept = SizedCache(100)
    kept.put("a", None, "first", 40)
    for _ in range(5):
        kept.put("b", "1", "second", 40)
    assert kept.get("a") == (None, "first")
    kept.put("c", None, "third", 40)
    assert [kept.get(key) is not None for key in "abc"] == [True, False, True]
    kept.put("d", None, "larger than all that may be kept", 400)
    assert [kept.get(key) is not None for key in "acd"] == [False, False, True]
