"""What a tab has on the server goes when the tab has gone, and nobody works with it."""

from __future__ import annotations

from functools import partial

import pytest

from pages.data import own as module
from pages.data.own import Belongings


def test_it_ends_when_its_tab_has_gone_for_a_while_and_nobody_works_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, here, busy = [0.0], {"one", "two"}, [True]
    ended: list[str] = []
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    all_of_them = Belongings()
    for session in ("one", "two"):
        monkeypatch.setattr(module, "session_id", partial(str, session))
        all_of_them.add(session, partial(ended.append, session), lambda: busy[0])

    def look(time: float) -> list[str]:
        now[0] = time
        all_of_them.look(here.__contains__, 45.0)
        return ended

    assert look(100.0) == []
    here.discard("one")
    assert look(140.0) == []  # a page that is loaded anew
    assert look(150.0) == []  # a release is being made
    busy[0] = False
    assert look(151.0) == ["one"]
    assert look(300.0) == ["one"]
    all_of_them.end("two")
    all_of_them.end("two")
    assert ended == ["one", "two"]
