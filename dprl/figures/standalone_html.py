"""A chart to take along: one page as Plotly writes it, which needs no server and no network."""

from __future__ import annotations

import re
from html import escape

from dprl.assets import plain, web_source
from dprl.figures import style
from dprl.figures.picture import Picture
from dprl.words import human

MOST_ROWS = 200  # of the numbers below the chart; a file of numbers has all


def chart_page(title: str, about: str, picture: Picture, footer: str, more: str = "") -> str:
    """Return the page as HTML.

    Args:
        title, about: at its top; about: what all that is shown shares.
        picture: for a light page.
        footer: at its end, and below a picture of the chart that is saved.
        more: HTML below the chart.
    """
    config = style.config() | {"responsive": True}  # Plotly would put a footer into a script as it is
    numbers = picture.table.to_html(index=False, border=0, na_rep="", max_rows=MOST_ROWS, float_format=human)
    colors = style.LIGHT
    return (
        web_source("standalone.html")
        .replace("{ink}", colors.ink)
        .replace("{muted}", colors.muted)
        .replace("{paper}", colors.background)
        .replace("{title}", escape(title))
        .replace("{about}", escape(about))
        .replace("{alt}", escape(picture.alt))
        .replace("{footer}", escape(footer))
        # Last, for what they hold is not to be searched.
        .replace("{see}", markup(picture.see))
        .replace("{more}", more)
        .replace("{numbers}", numbers)
        .replace("{script}", plain(web_source("sign_picture.js")))
        .replace("{chart}", picture.figure.to_html(config, full_html=False))
    )


def markup(sentence: str) -> str:
    """Convert a sentence of Markdown to HTML: bold words, and characters that were disarmed."""
    parts, bold = [], False
    for sign, letter, text in re.findall(r"(\*\*)|\\(.)|([^\\*]+|\*|\\)", sentence):
        if sign:
            parts.append("</strong>" if bold else "<strong>")
            bold = not bold
        else:
            parts.append(escape(letter or text))
    return "".join(parts) + ("</strong>" if bold else "")
