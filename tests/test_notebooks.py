"""The notebooks of docs/ run, from the first cell to the last, and are stored without what they print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "docs").glob("*.ipynb"))


def cells(notebook: Path, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(notebook.read_text("utf-8"))["cells"] if cell["cell_type"] == kind]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # what it writes
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells(notebook, "code")):
        exec(compile("".join(cell["source"]), f"{notebook.name}, code cell {number}", "exec"), names)
        assert (cell["outputs"], cell["execution_count"]) == ([], None)


def test_readme_leads_to_each() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(NOTEBOOKS) == 2
    assert all(f"(docs/{notebook.name})" in readme for notebook in NOTEBOOKS)
