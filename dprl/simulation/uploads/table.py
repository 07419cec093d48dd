"""Read a data file as text, whether it is CSV, Parquet or a pandas table.

Each cell becomes text that depends on this cell alone. No type is inferred from the rest of a column, so another
person's row never changes how a label is read. A CSV record is one line, so a stray quotation mark cannot swallow
another person's row.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, cast

import numpy as np

from dprl.fields import SpecError, reject, shown
from dprl.messages import filled, messages
from dprl.words import size as bytes_in_words

if TYPE_CHECKING:
    import pandas as pd

SAID = messages("refusals")["file"]
NAME = "data"
COLUMNS = ("episode", "step", "state", "action", "reward")
MOST_BYTES = 200_000_000
MOST_ROWS = 20_000_000  # of Parquet, which is compressed; a CSV of MOST_BYTES has fewer
ROWS = 200_000  # read at once
HEADING_BYTES = 10_000
EXACT_FLOAT = 2**53  # from here on, float64 cannot distinguish all whole numbers
MOST_SHOWN = 10  # headings in an error
WHOLE = re.compile(r"\A(-?[0-9]+)\.0+\Z")  # a spreadsheet's way to write a whole number
SEPARATOR = re.compile(r'\A"?sep=."?,*\Z', re.IGNORECASE)  # a first line that Excel writes and reads
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
PARQUET = b"PAR1"
KINDS = (
    (b"\x1f\x8b", "a gzip file; unpack it first"),
    (b"PK\x03\x04", "a zip or Excel (xlsx) file; save the table in it as CSV"),
    (b"\xd0\xcf\x11\xe0", "an Excel (xls) file; save its table as CSV"),
    (b"BZh", "a bzip2 file; unpack it first"),
    (b"\xfd7zXZ", "an xz file; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file; unpack it first"),
    (b"%PDF", "a PDF file"),
)
ESCAPED = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8
EMPTY, QUOTE = SAID["empty"], SAID["quote"]

Texts = Mapping[str, Sequence[str]]  # by column, one text per row


def normal(text: str) -> str:
    """Normalise a label or name for comparison: remove outer spaces, and convert the text to Unicode form NFC."""
    return unicodedata.normalize("NFC", text.strip())


def parsed(text: str) -> float:
    """Return the number that the text represents, or NaN if it is not a number."""
    try:
        return float("nan" if "_" in text else text)
    except ValueError:
        return float("nan")


def read_pieces(file: BinaryIO | Path | pd.DataFrame, needed: Sequence[str]) -> Iterator[Texts]:
    """Yield the needed columns in pieces of ROWS rows. Each column must occur exactly once in the file.

    Raises SpecError, which names the row (the heading is row 1) and column, or the kind of file.
    """
    if hasattr(file, "columns"):
        yield from _read_frame(cast("pd.DataFrame", file), needed)
        return
    if isinstance(file, Path):
        try:
            with open(file, "rb") as opened:
                yield from read_pieces(opened, needed)
        except OSError as error:
            raise SpecError(NAME, f"the file cannot be read ({error.strerror}).") from None
        return
    size = file.seek(0, io.SEEK_END)
    if size > MOST_BYTES:
        raise reject(NAME, SAID["size"], size=bytes_in_words(size), most=bytes_in_words(MOST_BYTES))
    file.seek(0)
    begun = file.read(8)
    file.seek(0)
    for mark, kind in KINDS:
        if begun.startswith(mark):
            raise SpecError(NAME, f"this is {kind}. Give a CSV file in UTF-8, or Parquet.")
    yield from (_read_parquet if begun.startswith(PARQUET) else _read_csv)(file, needed)


def _places(names: Sequence[str], needed: Sequence[str]) -> list[int]:
    """Return the index of each needed column in the heading. Raises SpecError if one is missing or occurs twice."""
    listed = ", ".join(map(shown, names[:MOST_SHOWN])) + (", ..." if len(names) > MOST_SHOWN else "")
    for name in needed:
        if name not in names:
            refuse(1, name, filled(SAID["no_column"], headings=listed))
        if names.count(name) != 1:
            refuse(1, name, f"this column appears twice. The file has {listed}. Give each heading once.")
    return [names.index(name) for name in needed]


def _read_csv(file: BinaryIO, needed: Sequence[str]) -> Iterator[Texts]:
    with closing(_records(file, _check_heading(file, needed))) as records:
        wanted = itemgetter(*_places(next(records), needed))
        while rows := list(islice(records, ROWS)):
            yield dict(zip(needed, zip(*map(wanted, rows), strict=True), strict=True))


def _records(file: BinaryIO, before: int) -> Generator[list[str], None, None]:
    """Yield the column names and then the fields of each row, after skipping `before` lines. Missing fields at the end
    of a row are empty, and blank rows are allowed only at the end."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
    reader = csv.reader(text, strict=True)
    names, row, blank = [COLUMNS[0]], 0, 0
    try:
        for row, fields in enumerate(reader, 1):
            joined = "".join(fields)
            if not joined.isascii() and (strange := ESCAPED.search(joined)):
                raise reject(NAME, SAID["byte"], row=f"{row:,}", byte=f"{ord(strange[0]) - 0xDC00:#x}")
            if reader.line_num != row:
                refuse(row, names[0], QUOTE)
            if row == before + 1:
                names = [normal(name) for name in fields]
                yield names
            elif row > before and not joined.replace("\x1a", "").strip():  # Ctrl-Z ended files in DOS
                blank = blank or row
            elif row > before:
                if blank:
                    refuse(blank, names[0], EMPTY)
                if len(fields) > len(names):
                    refuse(row, names[-1], "this row has too many fields; give one for each heading.")
                yield fields + [""] * (len(names) - len(fields))
    except csv.Error:
        refuse(row + 1, names[0], QUOTE)
    finally:
        text.detach()


def _check_heading(file: BinaryIO, needed: Sequence[str]) -> int:
    """Return the number of lines before the heading. Raises SpecError if there is no readable heading."""
    begun = file.read(HEADING_BYTES)
    file.seek(0)
    if begun.startswith(UTF_16) or b"\0" in begun:
        kind = "UTF-16" if begun.startswith(UTF_16) or begun[1::2].count(0) > len(begun) // 4 else "not text"
        raise SpecError(NAME, f"the file is {kind}; save it as CSV in UTF-8.")
    lines = [line.decode("utf-8-sig", "replace") for line in begun.splitlines()] + ["", ""]
    before = int(bool(SEPARATOR.match(lines[0].strip())))
    heading = lines[before]
    if not heading.replace(",", "").strip():
        refuse(1 + before, needed[0], filled(SAID["no_heading"], expected=",".join(needed)))
    for mark, word in ((";", "semicolons"), ("\t", "tabs")):
        if mark in heading and "," not in heading:
            refuse(1 + before, needed[0], f"columns are separated by {word}; save the file with commas.")
    return before


def _read_frame(table: pd.DataFrame, needed: Sequence[str]) -> Iterator[Texts]:
    places = _places([normal(str(name)) for name in table.columns], needed)
    for first in range(0, len(table), ROWS):
        piece = table.iloc[first : first + ROWS]
        yield _texts(needed, [piece.iloc[:, place].tolist() for place in places], first)


def _read_parquet(file: BinaryIO, needed: Sequence[str]) -> Iterator[Texts]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise SpecError(NAME, "a Parquet file needs pyarrow; install pyarrow, or give CSV.") from None
    try:
        opened = ParquetFile(file)
        if (rows := opened.metadata.num_rows) > MOST_ROWS:
            raise SpecError(NAME, f"the file has {rows:,} rows; give at most {MOST_ROWS:,}.")
        names, first = opened.schema_arrow.names, 0
        chosen = [names[place] for place in _places([normal(name) for name in names], needed)]
        for batch in opened.iter_batches(ROWS, columns=chosen):
            yield _texts(needed, [batch.column(name).to_pylist() for name in chosen], first)
            first += batch.num_rows
    except (ArrowException, OSError, KeyError):
        raise SpecError(NAME, "this Parquet file is damaged or cut off; write it again.") from None


def _texts(needed: Sequence[str], columns: list[list[Any]], first: int) -> Texts:
    """Return the values of each column as text. `first` rows come before these values."""
    found: dict[str, list[str]] = {name: [] for name in needed}
    for (name, texts), values in zip(found.items(), columns, strict=True):
        try:
            texts.extend(map(written, values))
        except ValueError:
            wrong = f"{shown(values[len(texts)])} is not allowed; give text, a number, or true or false."
            refuse(first + len(texts) + 2, name, wrong)
    return found


def written(value: Any) -> str:
    """Return a cell's value as text: strings unchanged, whole numbers without ".0", and "" for a missing value. Raises
    ValueError for other types, and for floats too large to be told apart from their neighbours."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, float | np.floating):
        number = float(value)
        if not number.is_integer():
            return repr(number) if number == number else ""
        if abs(number) < EXACT_FLOAT:
            return str(int(number))
    raise ValueError(type(value).__name__)


def refuse(row: int, column: str, sentence: str) -> NoReturn:
    """Raise a SpecError that names the row and column of the error."""
    raise SpecError(NAME, f"row {row:,}, column {column}: {sentence}")
