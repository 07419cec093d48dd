"""How tests are shared between processes: a file stays in one, and so does the browser suite, which has one app and one
browser."""

from __future__ import annotations

from pathlib import Path

import pytest

BROWSER = Path(__file__).parent / "browser"


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        group = "browser" if item.path.is_relative_to(BROWSER) else item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group(group))
