"""How tests are spread over processes, and what no test need wait for."""

from __future__ import annotations

import gc
import os
import shutil
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from dprl.simulation.uploads import kept, ledger
from tests import problems
from tests.exact_draws import pytest_fixture_setup, pytest_runtest_protocol

__all__ = ["pytest_fixture_setup", "pytest_runtest_protocol"]  # hooks

# No test is timed, as on a busy machine any of them may take long; and all runs try the same.
hypothesis.settings.register_profile("dprl", deadline=None, derandomize=True)
hypothesis.settings.load_profile("dprl")

# What thousands of tests and the libraries hold stays: a look through all of it for garbage finds none, and takes long.
gc.set_threshold(50_000, 10, 10)


# Whose noise is calibrated again and again, and whose kernels are compiled.
ACCOUNTED = ("tests/contract/", "tests/golden/", "tests/privacy/", "tests/pages/test_bundled.py")


# Where tests keep their stores, if there is such a place and room in it: on a disk a store takes ten times as long to
# begin as in memory, as it waits for what it has written to be safe, and each page and job begins with one.
MEMORY, ROOM = Path("/dev/shm"), 2 * 10**9


def pytest_configure(config: pytest.Config) -> None:
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    problems.QUICK = config.option.markexpr == "not thorough"


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file to each process; to one all that need a browser, which starts once; to one all that calibrate noise."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = str(super()._split_scope(nodeid))
            if file.startswith("tests/browser/"):
                return "tests/browser"
            return "tests/privacy" if file.startswith(ACCOUNTED) else file

    return Scheduling(config, log)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where what is kept of uploads stands, of each test its own. Compiled code stays where it is."""
    for module in (kept, ledger):
        monkeypatch.setattr(module, "home", lambda: tmp_path / "home")
    return tmp_path / "home"
