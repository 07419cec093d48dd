"""Export tables whose text a spreadsheet cannot mistake for formulas.

A name may come from a stranger's link or file, and a spreadsheet would run a state named `=cmd|...` when it opens the
table. An apostrophe in front makes it plain text (OWASP, "CSV Injection").
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# A single sign is not a formula; the hard instances name their states by signs.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠].|[\t\n]", re.DOTALL)


def csv(table: pd.DataFrame) -> str:
    """Return the table as CSV without its index, with formulas escaped."""
    return escape_formulas(table).to_csv(index=False)


def escape_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """Put an apostrophe before text in the cells and the header that a spreadsheet would read as a formula."""
    table = table.rename(columns=_text)
    for name in (name for name, kind in table.dtypes.items() if kind.kind == "O"):
        changed = {value: text for value in table[name].unique() if (text := _text(value)) is not value}
        if changed:
            table[name] = table[name].replace(changed)
    return table


def _text(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    # pandas does not quote a carriage return, which would begin a new row
    text = value.replace("\r\n", "\n").replace("\r", "\n")
    text = f"'{text}" if formula(text) else text
    return value if text == value else text


def formula(text: str) -> bool:
    """Return whether a spreadsheet would read a text as a formula."""
    try:
        float(text)
    except ValueError:
        return bool(_FORMULA.match(text))
    return False
