"""Tables as they leave the program: what a spreadsheet would take for a formula stays text.

A name may come from a stranger (a link, or a file with an environment), and `=cmd|...` as the name of a state would be
run by the spreadsheet that opens it. OWASP, "CSV Injection": an apostrophe before it makes it text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# A sign alone begins no formula, and is the name of a state of the hard instances.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠].|[\t\n]", re.DOTALL)


def csv(table: pd.DataFrame) -> str:
    """Return the table as CSV without its index, harmless."""
    return escape_formulas(table).to_csv(index=False)


def escape_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """Put an apostrophe before each text, in the table's cells and head, that a spreadsheet would read as a formula.
    Numbers stay as they are, also negative ones and those written as text."""
    table = table.rename(columns=_text)
    for name in (name for name, kind in table.dtypes.items() if kind.kind == "O"):
        changed = {value: text for value in table[name].unique() if (text := _text(value)) is not value}
        if changed:
            table[name] = table[name].replace(changed)
    return table


def _text(value: Any) -> Any:
    """Return a cell unchanged, unless its text has to change."""
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n").replace(
        "\r", "\n"
    )  # pandas does not quote it, and it would begin a row
    text = f"'{text}" if formula(text) else text
    return value if text == value else text


def formula(text: str) -> bool:
    """Whether a spreadsheet would take it for a formula."""
    return bool(_FORMULA.match(text)) and not _number(text)


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
