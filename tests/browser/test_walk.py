"""Every control of a page is found, used by mouse and by keyboard, and does what it is there for without an error."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Visits
from tests.browser.going import SHORT_WALKS, STOPS, walked
from tests.browser.hands import Hand, Keyboard, Mouse
from tests.problems import first


@pytest.mark.thorough
@pytest.mark.parametrize(
    "hand",
    [
        pytest.param(Mouse, id="by-mouse"),
        pytest.param(Keyboard, id="by-keyboard", marks=pytest.mark.thorough),
    ],
)
@pytest.mark.parametrize("page", first(SHORT_WALKS[::-1]))
def test_everything_on_a_page_works(visit: Visits, page: str, hand: type[Hand]) -> None:
    walk = walked(visit, hand, STOPS[page])
    assert walk.faults == {}
    assert STOPS[page].used - walk.kinds_and_names == set()
