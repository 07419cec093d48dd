"""Walks over the pages with a sidebar, with a run going on: minutes, so for `make walk`, not `make test`.

Every control is used by mouse and by keyboard, and nothing may fail on the page, in its console or in the log.
"""

from __future__ import annotations

import pytest

from tests.browser.conftest import Visits
from tests.browser.going import SHORT_WALKS, STOPS, walked
from tests.browser.hands import Hand, Keyboard, Mouse


@pytest.mark.parametrize("hand", [Mouse, Keyboard], ids=["by-mouse", "by-keyboard"])
@pytest.mark.parametrize("page", [page for page in STOPS if page not in SHORT_WALKS])
def test_everything_on_a_page_with_a_sidebar_works(visit: Visits, page: str, hand: type[Hand]) -> None:
    walk = walked(visit, hand, STOPS[page])
    assert walk.faults == {}
    assert STOPS[page].used - walk.kinds_and_names == set()
