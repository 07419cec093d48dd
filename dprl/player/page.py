"""The HTML page: one file with everything that it needs, compressed."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from html import escape

from dprl.assets import classic, page_of, web_source
from dprl.engine.module import ENGINE
from dprl.player.content import PlayedCurve, Shown, content
from dprl.player.plotly import plotly

MOST_BYTES = 3_000_000  # of a page; a larger page offers fewer numbers of users
# Characters of base85 with a meaning in HTML, and their replacements.
PLAIN = str.maketrans("<>&", ",./")
ALONE = "each with only its own number of users, because more would make the page too large"
SCRIPTS = (
    "parts.js",
    "player_parts.js",
    "player_words.js",
    "player_sentence.js",
    "player_link.js",
    "player_pool.js",
    "player_chart.js",
    "player_below.js",
    "player_close.js",
    "player.js",
)
WORKER = ("engine.js", "player_pack.js", "player_worker.js")
DRAWN_NOTICES = (
    "dprl, under the MIT licence.",
    "Plotly.js, copyright Plotly, Inc., under the MIT licence, with the parts that its own notices name.",
)
NOTICES = (
    *DRAWN_NOTICES,
    "musl, copyright 2005-2020 Rich Felker and others, and wasi-libc, under the MIT licence.",
    "Arm's optimized routines, copyright 2017-2018 Arm Limited, under the MIT licence.",
    "Parts of numba's runtime, copyright Anaconda, Inc. and others, under the BSD 2-clause licence.",
)


def player_page(
    title: str, about: str, curves: Sequence[PlayedCurve], shown: Shown, *, footer: str, nav: str = ""
) -> str:
    """Return the page as one HTML text that needs no network. The one to eight curves must have runs that a browser can
    simulate (see `replay.unplayable`). A page above MOST_BYTES offers only each run's own number of users. `about`
    describes the settings that all curves share; `nav` is HTML with links to other pages."""
    whole = _page(title, about, packed(content(curves, shown)), footer, nav)
    if len(whole) <= MOST_BYTES:
        return whole
    own = [replace(c, replays={c.spec.episodes: c.replays[c.spec.episodes]}) for c in curves]
    return _page(title, f"{about} · {ALONE}", packed(content(own, shown)), footer, nav)


def _page(title: str, about: str, runs: str, footer: str, nav: str) -> str:
    texts = {"title": escape(title), "about": escape(about), "footer": escape(footer), "nav": nav}
    return page_of("player.html", **texts, **_fixed(), runs=runs)


def listed(notices: Sequence[str]) -> str:
    """Return copyright notices as a list in HTML."""
    return f"<ul>{''.join(f'<li>{escape(notice)}</li>' for notice in notices)}</ul>"


def script(modules: Sequence[str] = SCRIPTS, begin: str = "start") -> str:
    """Join JavaScript modules into one script, which calls the function `begin`."""
    return f'(() => {{\n"use strict";\n{classic("sign_picture.js")}{classic(*modules)}{begin}();\n}})();\n'


def hash_of(text: str) -> str:
    """Return the SHA-256 hash by which the page's security policy allows this script, and no other, to run."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def packed(data: bytes) -> str:
    """Compress bytes with gzip and encode them in base85; the first digit is the number of padding bytes."""
    small = gzip.compress(data, 9, mtime=0)
    return f"{-len(small) % 4}{base64.b85encode(small, pad=True).decode('ascii').translate(PLAIN)}"


@cache
def _fixed() -> dict[str, str]:
    """Return the parts that all pages share. They are cached, because compressing them takes a second."""
    whole = script()
    return {
        "notices": listed(NOTICES),
        "style": web_source("player.css"),
        "script": whole,
        "hash": hash_of(whole),
        "engine": packed(ENGINE.read_bytes()),
        "worker": packed(classic(*WORKER).encode()),
        "plotly": packed_plotly(),
    }


@cache
def packed_plotly() -> str:
    """Return Plotly's reduced script as compressed text; compressing it takes a second."""
    return packed(plotly().encode())
