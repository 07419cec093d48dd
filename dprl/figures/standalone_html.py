"""Charts as HTML files to download: one page with Plotly inside, which needs no server and no network."""

from __future__ import annotations

import re
from html import escape

from dprl.assets import plain, web_source
from dprl.figures import style
from dprl.figures.picture import Picture
from dprl.words import human

MOST_ROWS = 200  # of the table below the chart; the downloaded numbers are complete


def chart_page(title: str, about: str, picture: Picture, footer: str, more: str = "") -> str:
    """Return the page as HTML.

    Args:
        title, about: at the top of the page; `about` describes the data.
        picture: in the light theme.
        footer: at the end of the page, and below an image saved from the chart.
        more: HTML below the chart.
    """
    config = style.config() | {"responsive": True}  # Plotly would write a footer into a script unescaped
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
        # Last, so that placeholders are not searched for in these texts.
        .replace("{see}", markup(picture.see))
        .replace("{more}", more)
        .replace("{numbers}", numbers)
        .replace("{script}", plain(web_source("sign_picture.js")))
        .replace("{chart}", picture.figure.to_html(config, full_html=False))
    )


def markup(sentence: str) -> str:
    """Convert a Markdown sentence to HTML: bold words and escaped characters."""
    parts, bold = [], False
    for sign, letter, text in re.findall(r"(\*\*)|\\(.)|([^\\*]+|\*|\\)", sentence):
        if sign:
            parts.append("</strong>" if bold else "<strong>")
            bold = not bold
        else:
            parts.append(escape(letter or text))
    return "".join(parts) + ("</strong>" if bold else "")
