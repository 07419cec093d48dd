"""How tests are spread over processes."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file to each process; all that need a browser to one, which starts it and the app once, while the others go
    on with the rest: two browsers, two apps and their workers at once would make each other wait.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "tests/browser" if nodeid.startswith("tests/browser/") else super()._split_scope(nodeid)

    return Scheduling(config, log)
