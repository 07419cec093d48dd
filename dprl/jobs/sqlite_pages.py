"""Rows as they stand on the pages of an SQLite file, whatever has become of the trees above them.

After the file format of SQLite (sqlite.org/fileformat2.html, sections 1.6 and 2.1). What is read may be damaged, or a
row that was deleted and whose page is free: whoever asks has to check it.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = 4096  # bytes; the default, of which all stores are
# The first byte of a page with rows. Of a table only leaves have them; of an index, which a table WITHOUT ROWID is, the
# pages above have some, too.
_TABLE, _INDEX, _ABOVE = 0x0D, 0x0A, 0x02
_INDEXED = (PAGE - 12) * 64 // 255 - 23
_WHOLE = {_TABLE: PAGE - 35, _INDEX: _INDEXED, _ABOVE: _INDEXED}  # bytes of a row that fit on its page
_LEAST = (PAGE - 12) * 32 // 255 - 23

Row = tuple[int | None, list[Any]]  # the row's id, None in an index, and its columns


def rows_on_pages(path: Path, wal: dict[int, bytes]) -> Iterator[Row]:
    """All rows; wal: newer pages by their number, from 1."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:

        def page(number: int) -> bytes:
            return wal.get(number) or data[(number - 1) * PAGE : number * PAGE]

        for number in range(1, max([len(data) // PAGE, *wal]) + 1):
            yield from _on(page(number), 100 if number == 1 else 0, page, len(data) + PAGE * len(wal))


def _on(data: bytes, at: int, page: Any, most: int) -> Iterator[Row]:
    kind = data[at] if len(data) == PAGE else 0
    if kind not in _WHOLE:
        return
    header, child = (
        (12, 4) if kind == _ABOVE else (8, 0)
    )  # above, the number of a page below is before each row
    for i in range(int.from_bytes(data[at + 3 : at + 5])):
        place = at + header + 2 * i
        start = int.from_bytes(data[place : place + 2]) + child
        try:
            size, start = _number(data, start)
            row, start = _number(data, start) if kind == _TABLE else (None, start)
            if size > most:  # its pages would follow each other in a circle
                continue
            yield row, _columns(_payload(data, start, size, _WHOLE[kind], page))
        except (IndexError, ValueError, UnicodeDecodeError):
            continue


def _payload(data: bytes, start: int, size: int, whole: int, page: Any) -> bytes:
    """A row of so many bytes: the first on its page, the rest on a chain of others."""
    if size <= whole:
        return data[start : start + size]
    here = _LEAST + (size - _LEAST) % (PAGE - 4)
    here = here if here <= whole else _LEAST
    parts, left = [data[start : start + here]], size - here
    following = int.from_bytes(data[start + here : start + here + 4])
    while left > 0:
        more = page(following) if following else b""
        if len(more) < PAGE:
            raise ValueError
        parts.append(more[4 : 4 + left])
        left -= len(parts[-1])
        following = int.from_bytes(more[:4])
    return b"".join(parts)


def _columns(record: bytes) -> list[Any]:
    end, at = _number(record, 0)
    kinds = []
    while at < end:
        kind, at = _number(record, at)
        kinds.append(kind)
    found: list[Any] = []
    for kind in kinds:
        size = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind] if kind < 10 else (kind - 12) // 2
        data = record[at : at + size]
        if len(data) != size:
            raise ValueError
        at += size
        found.append(_column_value(kind, data))
    return found


def _column_value(kind: int, data: bytes) -> Any:
    """A column, by its serial type."""
    match kind:
        case 0:
            return None
        case 7:
            return struct.unpack(">d", data)[0]
        case 8 | 9:
            return kind - 8
        case _ if kind < 8:
            return int.from_bytes(data, signed=True)
    return data if kind % 2 == 0 else data.decode()


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A variable-length integer, and where it ends."""
    value = 0
    for i in range(8):
        byte = data[at + i]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + i + 1
    return value << 8 | data[at + 8], at + 9
