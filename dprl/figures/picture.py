"""Pictures and sketches for pages, and charts as HTML files to download."""

from __future__ import annotations

import base64
import pickle
import re
import zlib
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from dprl.assets import classic, page_of
from dprl.figures import style
from dprl.words import human


@dataclass(frozen=True)
class Picture:
    """A figure with the text that a page shows around it."""

    figure: go.Figure
    alt: str  # about the kind of picture, independent of the data, so that a live figure keeps its identity
    see: str  # one sentence about this figure's data (Markdown)
    table: pd.DataFrame  # the numbers that the figure shows

    def __repr__(self) -> str:
        return f"Picture: {self.alt} {self.see}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Show the figure in a notebook."""
        return self.figure._repr_mimebundle_(include, exclude)


class FigureDict(BaseFigure):
    """A Plotly figure that already is a dictionary."""

    def __init__(self, made: dict[str, Any]) -> None:
        self._made = made

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as a dictionary, which is stored because Streamlit needs it more than once."""
        return self._made


class PackedPicture:
    """A finished picture, compressed for the cache; alt, see, figure and table are as in `Picture`.

    The figure's dictionary needs a tenth of the memory of a Plotly figure and is read in half a millisecond. Building
    it each time would account for half of the home page's time.
    """

    def __init__(self, picture: Picture) -> None:
        self.alt, self.see = picture.alt, picture.see
        made = picture.figure.to_dict(), picture.table
        self._packed = [zlib.compress(pickle.dumps(one, pickle.HIGHEST_PROTOCOL), 1) for one in made]

    @property
    def figure(self) -> FigureDict:
        """The figure, unpacked at each access."""
        return FigureDict(pickle.loads(zlib.decompress(self._packed[0])))

    @property
    def table(self) -> pd.DataFrame:
        """The numbers that the figure shows, unpacked at each access."""
        table: pd.DataFrame = pickle.loads(zlib.decompress(self._packed[1]))
        return table

    @property
    def nbytes(self) -> int:
        """Return the approximate size of the picture in memory, in bytes."""
        return sum(map(len, self._packed)) + 4 * (len(self.alt) + len(self.see))


def for_page(picture: Picture | PackedPicture) -> FigureDict:
    """Return a picture's figure for a page; an unpacked picture is converted directly."""
    return FigureDict(picture.figure.to_dict())


@dataclass(frozen=True)
class Sketch:
    """A small drawing without axes: the content of an SVG of `width` x `height`, with its alt text."""

    inside: str
    width: int
    height: int
    alt: str

    @property
    def svg(self) -> str:
        """The whole SVG document."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" font-family="Segoe UI, Roboto, Helvetica, Arial, '
            f'sans-serif">{self.inside}</svg>'
        )

    @cached_property
    def uri(self) -> str:
        """The SVG as a data URI, for a page that shows it as an image."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg.encode()).decode()


MOST_ROWS = 200  # of the table below the chart; the downloaded numbers are complete


def chart_page(title: str, about: str, picture: Picture, footer: str) -> str:
    """Return a chart as an HTML page that needs no network. `about` describes its data. Saved images show `footer`."""
    config = style.config() | {"responsive": True}  # Plotly would write a footer into a script unescaped
    numbers = picture.table.to_html(index=False, border=0, na_rep="", max_rows=MOST_ROWS, float_format=human)
    colors = style.LIGHT
    return page_of(
        "standalone.html",
        ink=colors.ink,
        muted=colors.muted,
        paper=colors.background,
        title=escape(title),
        about=escape(about),
        alt=escape(picture.alt),
        footer=escape(footer),
        see=markup(picture.see),
        numbers=numbers,
        script=classic("sign_picture.js"),
        chart=picture.figure.to_html(config, full_html=False),
    )


def markup(sentence: str) -> str:
    """Convert a Markdown sentence with bold words and escaped characters to HTML."""
    bold = re.sub(r"(?<!\\)\*\*(.+?)(?<!\\)\*\*", r"<strong>\1</strong>", escape(sentence))
    return re.sub(r"\\(.)", r"\1", bold)
