"""What a page keeps of a picture, packed, so that much can be kept in little memory."""

from __future__ import annotations

import pickle
import zlib
from typing import Any

import pandas as pd
from plotly.basedatatypes import BaseFigure

from dprl.figures.style import Picture


class Settled(BaseFigure):
    """A figure as the dictionary that it comes to."""

    def __init__(self, made: dict[str, Any]) -> None:
        self._made = made

    def to_dict(self) -> dict[str, Any]:
        """The dictionary: Streamlit asks for it more than once."""
        return self._made


class Shown:
    """A picture that is not changed any more; alt, see, figure, table: as in Picture.

    It holds the dictionary of its figure, in a tenth of the memory of a figure with all its objects. That is read in
    half a millisecond, whenever it is asked for; to have the figure make it takes half of all that Home does.
    """

    def __init__(self, picture: Picture) -> None:
        self.alt, self.see = picture.alt, picture.see
        self._figure, self._table = _packed(picture.figure.to_dict()), _packed(picture.table)

    @property
    def figure(self) -> Settled:
        """The figure; nobody else has this one."""
        return Settled(_unpacked(self._figure))

    @property
    def table(self) -> pd.DataFrame:
        """The numbers drawn."""
        table: pd.DataFrame = _unpacked(self._table)
        return table

    @property
    def nbytes(self) -> int:
        """What it takes in memory, but for a few names."""
        return len(self._figure) + len(self._table) + 4 * (len(self.alt) + len(self.see))


def settled(picture: Picture | Shown) -> Settled:
    """Its figure for a page; one that is not kept is not packed."""
    return picture.figure if isinstance(picture, Shown) else Settled(picture.figure.to_dict())


def _packed(value: Any) -> bytes:
    return zlib.compress(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), 1)


def _unpacked(packed: bytes) -> Any:
    return pickle.loads(zlib.decompress(packed))
