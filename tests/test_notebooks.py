"""The notebooks of docs/tutorials/ run, from the first cell to the last, and are stored without what they print."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.problems import ROOT, first

MOST = 2000  # characters of text that a cell puts out
NOTEBOOKS = sorted((ROOT / "docs/tutorials").glob("*.ipynb"))


def cells(notebook: Path, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(notebook.read_text("utf-8"))["cells"] if cell["cell_type"] == kind]


@pytest.mark.parametrize(
    "notebook",
    first(sorted(NOTEBOOKS, key=lambda path: path.stem != "ten-minutes")),
    ids=lambda path: path.stem,
)
def test_a_notebook_runs(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # what it writes
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells(notebook, "code")):
        worth = run_cell("".join(cell["source"]), f"{notebook.name}, code cell {number}", names)
        said = capsys.readouterr().out
        assert len(said) + max(map(len, texts(worth))) <= MOST, number
        assert (cell["outputs"], cell["execution_count"]) == ([], None)


def texts(worth: Any) -> list[str]:
    """What a notebook may show of the worth of a cell: its repr, and what stands in its HTML."""
    html = getattr(worth, "_repr_html_", lambda: None)()
    return ["" if worth is None else repr(worth), re.sub(r"<[^<>]*>", "", html or "")]


def run_cell(source: str, name: str, names: dict[str, Any]) -> Any:
    """What the last line of a cell is worth, which a notebook shows."""
    tree = ast.parse(source)
    last: Any = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else ast.Expr(ast.Constant(None))
    exec(compile(tree, name, "exec"), names)
    return eval(compile(ast.fix_missing_locations(ast.Expression(last.value)), name, "eval"), names)
