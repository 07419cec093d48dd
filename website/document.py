"""Build a page of the site, with text, a slider, charts and tables in one HTML file."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from dprl.assets import page_of, web_source
from dprl.figures import style
from dprl.figures.picture import Picture, markup
from dprl.player.page import DRAWN_NOTICES, hash_of, listed, packed, packed_plotly, script
from dprl.version import VERSION

STORY = ("story_parts.js", "story_scenes.js", "story.js")
SCRIPTS = ("parts.js", "player_parts.js", "site_guess.js", "site.js")
STOPS = "The slider stops only at values that we computed. "


@dataclass(frozen=True)
class Slider:
    """The slider on a page."""

    label: str  # the name of its quantity
    words: tuple[str, ...]  # a label for each stop
    at: int  # the initial stop


@dataclass(frozen=True)
class Plot:
    """A chart on a page.

    Attributes:
        draw: returns the picture, given the slider's stop (0 if there is no slider) and whether it is dark.
        turned: whether the slider changes the picture.
        guessed: the number of the question whose prediction by the reader is drawn as a line.
    """

    draw: Callable[[int, bool], Picture]
    turned: bool = False
    guessed: int | None = None


@dataclass(frozen=True)
class Guess:
    """The controls for predicting an answer, with a `Verdict` in the answer below them."""

    content: Mapping[str, Any]  # from `guess_of`


@dataclass(frozen=True)
class Verdict:
    """The place on a page that shows how far the reader's prediction was off."""


@dataclass(frozen=True)
class Numbers:
    """A table whose rows depend on the slider."""

    columns: tuple[str, ...]
    cells: Callable[[int], list[list[str]]]  # returns the rows at a stop of the slider


@dataclass(frozen=True)
class Story:
    """The story that readers see first unless they follow a link. A page has at most one."""

    content: Mapping[str, Any]  # from `pages.home.state`


Block = str | Slider | Plot | Numbers | Guess | Verdict | Story


@dataclass(frozen=True)
class Document:
    """The content of a page."""

    title: str
    about: str  # a sentence below the title, or ""
    blocks: Sequence[Block]  # in order; strings are HTML


def html_of(page: Document, nav: str) -> str:
    """Return the page as HTML, with the links to other pages in `nav` (see `links_to`)."""
    slider = next((block for block in page.blocks if isinstance(block, Slider)), None)
    stops = range(len(slider.words) if slider else 1)
    plots = [block for block in page.blocks if isinstance(block, Plot)]
    tables = [block for block in page.blocks if isinstance(block, Numbers)]
    guesses = [block for block in page.blocks if isinstance(block, Guess)]
    story = next((block.content for block in page.blocks if isinstance(block, Story)), None)
    content = {
        "story": story
        and {"data": story, "look": web_source("story.css"), "shape": web_source("story.html")},
        "slider": slider and vars(slider),
        "plots": [_plot(plot, stops) for plot in plots],
        "tables": [[table.cells(place) for place in stops] for table in tables],
        "guesses": [guess.content for guess in guesses],
        "config": {
            name: style.config(dark=name == "dark") | {"responsive": True} for name in ("light", "dark")
        },
        "ink": {"light": style.LIGHT.ink, "dark": style.DARK.ink},
    }
    notices = DRAWN_NOTICES if plots else DRAWN_NOTICES[:1]
    scripts = (*SCRIPTS, *STORY) if story else SCRIPTS
    data = json.dumps(content, ensure_ascii=False, default=plainly, separators=(",", ":"))
    code = script(scripts, "open")
    number: defaultdict[type, Iterator[int]] = defaultdict(itertools.count)  # counts blocks of each kind
    return page_of(
        "site.html",
        title=escape(page.title),
        about=f'<p class="about">{escape(page.about)}</p>' if page.about else "",
        nav=nav,
        footer=f"dprl {VERSION}. {STOPS if slider else ''}The page sends no requests.",
        notices=listed(notices),
        style=web_source("player.css") + web_source("site.css"),
        hash=hash_of(code),
        blocks="\n".join(_placed(block, next(number[type(block)])) for block in page.blocks),
        content=packed(data.encode()),
        plotly=packed_plotly() if plots else packed(b""),
        script=code,
    )


def links_to(pages: Sequence[tuple[str, str]], here: str) -> str:
    """Return the links between the pages as HTML. `here` is the file that contains them."""
    current = {here: ' aria-current="page"'}
    items = (f'<a href="{escape(file)}"{current.get(file, "")}>{escape(name)}</a>' for file, name in pages)
    return f'<nav aria-label="Pages">{" ".join(items)}</nav>'


def paragraph(text: str) -> str:
    """Return a paragraph as HTML, from Markdown sentences whose only markup is bold."""
    return f"<p>{markup(text)}</p>"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of plain texts as HTML."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'
        for first, *cells in rows
    )
    return f'<div class="numbers" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


SHAPES: dict[type, str] = {
    Story: '<div id="story"></div>',
    Slider: '<div id="controls"></div>',
    Guess: '<div class="guess" id="guess-{}"></div>',
    Verdict: '<p class="verdict" id="verdict-{}" role="status"></p>',
    Plot: '<figure id="plot-{}"><div class="plot"></div><figcaption></figcaption></figure>',
}


def _placed(block: Block, number: int) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, Numbers):
        return SHAPES[type(block)].format(number)
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in block.columns)
    return (
        f'<div class="numbers" tabindex="0" role="region" aria-label="Numbers"><table id="table-{number}">'
        f"<thead><tr>{heads}</tr></thead><tbody></tbody></table></div>"
    )


def _plot(plot: Plot, stops: Sequence[int]) -> dict[str, object]:
    pictures = {
        theme: [
            {"figure": picture.figure.to_plotly_json(), "see": markup(picture.see), "alt": picture.alt}
            for place in (stops if plot.turned else [0])
            for picture in (plot.draw(place, theme == "dark"),)
        ]
        for theme in ("light", "dark")
    }
    return {"turned": plot.turned, "guessed": plot.guessed, **pictures}


def plainly(value: Any) -> Any:
    """Convert an array to a list for JSON, with None for NaN, which JSON does not allow. Plotly shows None as a gap."""
    if isinstance(value, np.ndarray):
        return [None if isinstance(v, float) and not np.isfinite(v) else v for v in value.tolist()]
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a page's JSON cannot contain a {type(value).__name__}")
