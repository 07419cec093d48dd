"""What CI runs of the thorough tests: those of parts that have changed since all passed."""

from __future__ import annotations

import re
import runpy
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CI = runpy.run_path(str(ROOT / ".ci" / "changed.py"))
PARTS: dict[str, tuple[str, ...]] = CI["PARTS"]
THOROUGH = re.compile(r"mark\.thorough\b|\bfirst\(")


def test_whatever_is_thorough_belongs_to_a_part() -> None:
    ours = {"tests/problems.py", Path(__file__).relative_to(ROOT).as_posix()}
    files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("*.py")
        if THOROUGH.search(path.read_text(encoding="utf-8"))
    } - ours
    assert len(files) > 50
    assert [file for file in sorted(files) if not any(file.startswith(part) for part in PARTS)] == []
    assert all((ROOT / path).exists() for part, looked_at in PARTS.items() for path in (part, *looked_at))


def test_a_part_is_named_where_it_differs_from_the_commit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def git(*command: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        ran = subprocess.run(
            ["git", *who, *command], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return ran.stdout.strip()

    for path in ("tests/jobs", "tests/privacy", "dprl/jobs", "dprl/privacy"):
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "a.py").write_text("")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "first")
    first = git("rev-parse", "HEAD")
    changed = CI["changed"]
    monkeypatch.setitem(changed.__globals__, "ROOT", tmp_path)
    assert changed(first) == []
    (tmp_path / "dprl/jobs/a.py").write_text("x = 1")
    git("commit", "--all", "--quiet", "--message", "second")
    of_all = [
        "tests/test_cli.py",
        "tests/test_documents.py",
        "tests/test_notebooks.py",
        "tests/test_plugins.py",
    ]
    assert changed(first) == ["tests/faults", "tests/jobs", *of_all]
    assert changed("0" * 40) == list(PARTS)  # not in this clone
