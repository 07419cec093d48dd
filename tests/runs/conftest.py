from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dprl.runs.store import Store
from tests.runs import disk as disks
from tests.runs import fake


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite"


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> disks.Disk:
    """The disk of stores; ask for it before `store`."""
    return disks.install(monkeypatch)


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store(path, fake.NAME)
    yield store
    store.close()
