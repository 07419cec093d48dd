"""The notebooks of docs/tutorials/ run, from the first cell to the last, and are stored without what they print."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.problems import first

ROOT = Path(__file__).parent.parent
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
    printed = ""
    for number, cell in enumerate(cells(notebook, "code")):
        worth = run_cell("".join(cell["source"]), f"{notebook.name}, code cell {number}", names)
        said = capsys.readouterr().out
        assert len(said) + max(map(len, texts(worth))) <= MOST, number
        assert (cell["outputs"], cell["execution_count"]) == ([], None)
        printed += said
    if notebook.stem == "ten-minutes":
        its_examples_learn(names, printed)
    if notebook.stem == "paper-figure":
        its_paper_settings_are_flat(names, tmp_path)


def texts(worth: Any) -> list[str]:
    """What a notebook may show of the worth of a cell: its repr, and what stands in its HTML."""
    html = getattr(worth, "_repr_html_", lambda: None)()
    return ["" if worth is None else repr(worth), re.sub(r"<[^<>]*>", "", html or "")]


def run_cell(source: str, name: str, names: dict[str, Any]) -> Any:
    """What the last line of a cell is worth, which a notebook shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    return (
        eval(compile(ast.Expression(last.value), name, "eval"), names) if isinstance(last, ast.Expr) else None
    )


def its_paper_settings_are_flat(names: dict[str, Any], folder: Path) -> None:
    """What its text says of each comparison, and what it leaves behind."""
    lost = names["lost"]
    assert all(lost(trace) > 0.95 for trace in names["flat"].traces.values())
    assert lost(names["many"]) > 0.5
    none, central, local = (lost(trace) for trace in names["shown"].traces.values())
    assert none < 0.1 < central < 0.6 < 0.95 < local
    assert (folder / "trust.html").stat().st_size > 1000
    assert len((folder / "trust.csv").read_text("utf-8").splitlines()) > 10


def its_examples_learn(names: dict[str, Any], printed: str) -> None:
    """The offline run goes from nothing learned to nearly nothing lost, within the rows that are shown; of a run that
    has learned nothing that is said, of another it is not."""
    learned = names["learned"]
    lost = learned.values.mean(axis=0)[-6:] / learned.summary()["v_star"]
    assert lost[0] > 0.5
    assert lost[-1] < 0.01
    assert (np.diff(lost) <= 0).all()
    rows = [line for line in printed.splitlines() if " lost" in line]
    offline = [line for line in rows if "trajectories: " in line]
    assert [line.endswith(", nothing learned yet") for line in offline] == list(lost > 0.5)
    online = [line.split() for line in rows if line not in offline]
    assert [line[0] for line in online] == ["none", "central", "shuffle", "local"]
    shares = [float(line[1].rstrip("%")) / 100 for line in online]
    assert shares == sorted(shares)
    assert shares[-1] < 0.5
    assert not any(line[-1] == "yet" for line in online)
