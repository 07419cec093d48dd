"""A CSV file of an owner's, as a table: its size, its heading, and what is said where it is none."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Sequence
from typing import BinaryIO, NoReturn

import numpy as np
import pandas as pd

from dprl.fields import SpecError, shown
from dprl.mdp.tabular import Array
from dprl.words import size as bytes_in_words

NAME = "data"
COLUMNS = ("episode", "step", "state", "action", "reward", "next_state")
MOST_BYTES = 200_000_000
HEADING_BYTES = 10_000
WHOLE = re.compile(r"\A(-?[0-9]+)\.0+\Z")  # as tables write whole numbers in a column that has an empty cell


def parsed(texts: list[str]) -> Array:
    """Numbers; NaN for what is none."""
    return np.asarray(pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce"), dtype=float)


def check_size(file: BinaryIO) -> None:
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    if size > MOST_BYTES:
        row = file.read(MOST_BYTES).count(b"\n") + 1
        refuse(
            row,
            COLUMNS[0],
            f"the file has {bytes_in_words(size)} and is read to here; give at most {bytes_in_words(MOST_BYTES)}.",
        )


def heading(file: BinaryIO, needed: Sequence[str] = COLUMNS) -> list[str]:
    """The names of the columns, those that are not needed as a number. Raises SpecError where one that is needed is
    not there once."""
    with contextlib.suppress(UnicodeDecodeError):
        begun = file.read(HEADING_BYTES).decode("utf-8-sig", "replace")
    lines = csv.reader(io.StringIO(begun, newline=""))
    try:
        names = [name.strip() for name in next(lines, [])]
        below = next(lines, [])
    except csv.Error:
        names, below = [], []
    wanted = f"the heading is {','.join(needed)}, in any order"
    if not any(names):
        refuse(1, needed[0], f"the file is empty or has no heading; {wanted}.")
    if "�" in begun.partition("\n")[0] or "\0" in begun:
        undecodable(file, names)
    for mark, word in ((";", "semicolons"), ("\t", "tabs")):
        if len(names) == 1 and mark in names[0]:
            refuse(1, needed[0], f"columns are separated by {word}; save the file with commas.")
    for name in needed:
        if name not in names:
            refuse(1, name, f"this column is missing; {wanted}, or has the names that `columns` declares.")
        if names.count(name) != 1:
            refuse(1, name, f"this column stands twice; {wanted}.")
    if len(below) > len(names):
        refuse(2, names[-1], "there are more fields than the heading has; give as many in each row.")
    return [name if name in needed else f"column {i + 1}" for i, name in enumerate(names)]


def undecodable(file: BinaryIO, names: list[str]) -> NoReturn:
    """Where the text is not UTF-8."""
    file.seek(0)
    for number, line in enumerate(file, 1):
        try:
            if b"\0" in line:
                raise UnicodeDecodeError("utf-8", line, line.index(b"\0"), 1, "")
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            field = min(line[: error.start].count(b","), len(names) - 1)
            column = names[field] if number > 1 else COLUMNS[0]
            refuse(number, column, "this is not text in UTF-8; save the file as CSV with that encoding.")
    refuse(1, COLUMNS[0], "this is not text in UTF-8; save the file as CSV with that encoding.")


def unreadable(said: str, names: list[str]) -> NoReturn:
    """What the parser found wrong. Raises MemoryError where it had too little."""
    if "out of memory" in said:
        raise MemoryError
    if found := re.search(r"Expected \d+ fields in line (\d+)", said):
        refuse(
            int(found[1]), names[-1], "there are more fields than the heading has; give as many in each row."
        )
    found = re.search(r"row (\d+)", said)
    refuse(
        int(found[1]) + 1 if found else 2,
        names[0],
        "a quotation mark is not closed in or below this row; close it.",
    )


def not_finite(text: str) -> str:
    """Of a reward that is no number."""
    return f"{shown(text)} is not a finite number; give one, such as 0.5."


def refuse(row: int, column: str, sentence: str) -> NoReturn:
    raise SpecError(NAME, f"row {row:,}, column {column}: {sentence}")
