"""What leaves the program as a table is no formula, and its numbers are numbers."""

from __future__ import annotations

import ast
import io

import numpy as np
import pandas as pd
import pytest

from dprl import tables
from tests.test_layers import FILES, ROOT

FORMULAS = [
    *(f"{before}=1+1" for before in ("", "\t", "\r", "\n", "  ")),
    *("=cmd|' /C calc'!A0", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1:A2)", "＝1+1", "=a,b", '="quoted"'),
]
HARMLESS = ["start", "+", "-", "@", "-1.5", "+2", "-1e-07", "−3", "to 0: =A1", "'=A1", "", "a=b"]


def read(table: pd.DataFrame) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(tables.csv(table)), keep_default_na=False)


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_would_be_a_formula_stays_text_and_can_be_read_back(text: str) -> None:
    table = pd.DataFrame({"state": ["start", text], "regret": [1.0, -2.0], text: ["a", "b"]})
    found = read(table)
    told = "'" + text.replace("\r", "\n")
    assert found["state"].tolist() == ["start", told]
    assert found.columns.tolist() == ["state", "regret", told]
    assert table["state"].tolist() == ["start", text]  # the table itself is as it was


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_is_as_it_was(text: str) -> None:
    table = pd.DataFrame({"state": ["start", text]})
    assert read(table)["state"].tolist() == ["start", text]


def test_no_text_begins_a_row_of_its_own() -> None:
    assert read(pd.DataFrame({"state": ["a\r=1+1", "b\r\n=1"]}))["state"].tolist() == ["a\n=1+1", "b\n=1"]


def test_numbers_stay_numbers() -> None:
    table = pd.DataFrame(
        {
            "state": ["=A1", "b", "c"],
            "integer": [-1, 0, 10**15],
            "real": [-1.5, np.inf, -1e-300],
            "mixed": np.array([-1, -2.5, "=A1"], object),
            "missing": [-1.0, np.nan, None],
            "truth": [True, False, True],
        }
    )
    found = pd.read_csv(io.StringIO(tables.csv(table)))
    same = ["integer", "real", "missing", "truth"]
    pd.testing.assert_frame_equal(found[same], table[same])
    assert found["mixed"].tolist() == ["-1", "-2.5", "'=A1"]


def test_nothing_else_in_the_program_writes_csv() -> None:
    # the second makes of a table that it is given, in memory, the file that it would be
    writers = [ROOT / "dprl/tables.py", ROOT / "dprl/simulation/uploads/spec.py"]
    for file in {*FILES} - {*writers}:
        source = file.read_text("utf-8")
        named = ast.walk(ast.parse(source)) if "to_csv" in source else ()
        assert "to_csv" not in {node.attr for node in named if isinstance(node, ast.Attribute)}, file
