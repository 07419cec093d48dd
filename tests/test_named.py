"""Tests that a document names, as the table of planted faults in CONTRIBUTING.md does, are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"((?:\w+/)*test_\w+\.py)::(test_\w+)")


def missing(text: str) -> list[str]:
    """Which of the tests that are named there are not; their paths begin at the project or at tests/."""
    found = []
    for path, name in NAMED.findall(text):
        files = [file for file in (ROOT / path, ROOT / "tests" / path) if file.exists()]
        if not any(f"def {name}(" in file.read_text(encoding="utf-8") for file in files):
            found.append(f"{path}::{name}")
    return found


def test_every_test_that_is_named_is_there() -> None:
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "docs/proofs.toml"]
    texts = {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}
    for name in ("CONTRIBUTING.md", "docs/proofs.toml"):
        assert len(NAMED.findall(texts[name])) > 10
    assert {name: gone for name, text in texts.items() if (gone := missing(text))} == {}


def test_one_that_is_gone_is_noticed() -> None:
    here = "tests/test_named.py::test_every_test_that_is_named"
    assert missing(f"`{here}_is_there` and `test_named.py::test_one_that_is_gone_is_noticed`") == []
    assert missing(f"`{here}`, `no/{'test_nothing.py'}::test_at_all`") == [
        here,
        "no/test_nothing.py::test_at_all",
    ]
