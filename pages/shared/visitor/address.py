"""The address bar: the link that it holds, and the one to what is seen."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

import streamlit as st

from dprl.fields import shown
from dprl.links import last
from dprl.runs.database import StoreError
from dprl.sitemap import PAGES
from pages.shared.results.data import store

Query = dict[str, list[str]]
SAY = "say"  # what whoever shares a view says of it, in a sentence, to those who open the link
MOST_LETTERS = 160
SHORT = "s"  # the key of a short link


def query_of(items: Iterable[tuple[str, str]]) -> str:
    """Query parameters as a link carries them, without the question mark; what needs no escape has none, for people
    read it."""
    return urlencode([*items], safe="~:,/*")


def read_query(files: Collection[str]) -> tuple[Query, str]:
    """The query of the address bar, and its name to remember it by.

    files: digests of those known here. A link has another name when one that it waited for has come.
    """
    given = {key: st.query_params.get_all(key) for key in st.query_params}
    return given, _name(given, files)


def here() -> list[tuple[str, str]]:
    """The query parameters of the address bar."""
    return [(key, value) for key in st.query_params for value in st.query_params.get_all(key)]


def write(items: Iterable[tuple[str, str]], files: Collection[str]) -> str:
    """Puts query parameters into the address bar; returns the name that `read_query` gives them."""
    grouped: Query = {}
    for key, value in items:
        grouped.setdefault(key, []).append(value)
    st.query_params.from_dict(grouped)
    return _name(grouped, files)


def whole_address(query: str) -> str:
    """The whole address of this page with a query, as far as the server knows its own."""
    here = urlsplit(st.context.url or "")
    return urlunsplit((here.scheme, here.netloc, here.path, query, ""))


def on_this_computer_only() -> bool:
    """Whether other devices cannot open the address of this page."""
    return urlsplit(st.context.url or "").hostname in ("localhost", "127.0.0.1", "::1")


def sentence_of(given: Mapping[str, Sequence[str]], problems: list[str]) -> str:
    """The sentence that goes with a link, "" for none; a problem is added where it is too long."""
    text = one_line(last(given, SAY) or "")
    if len(text) > MOST_LETTERS:
        problems.append(
            f"{SAY}: the sentence has {len(text)} letters; give at most {MOST_LETTERS}. It is cut there."
        )
    return text[:MOST_LETTERS].rstrip()


def saying(sentence: str) -> list[tuple[str, str]]:
    """The query parameter that `sentence_of` reads as this; none where nothing is said."""
    return [(SAY, sentence)] if sentence else []


def one_line(text: str) -> str:
    """A sentence as it is kept: printable, on one line."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def lengthened(given: Query, page_shown: str) -> tuple[Query, str]:
    """What a link stands for that may be a short one, `s=` and letters, with what it says besides; and a sentence where
    the letters stand for nothing. A short link to another page leads there."""
    text = given.get(SHORT, [""])[-1]
    if re.fullmatch(r"[\s\d.eE+-]*", text):  # a number: Explore has a state of that name
        return given, ""
    besides = {key: values for key, values in given.items() if key != SHORT}
    try:
        page, query = store().links.lengthen(text)
    except StoreError as error:
        return besides, str(error)
    if page != page_shown:
        if page not in PAGES:
            return besides, f"s: {shown(text)} leads to a page that this version does not have."
        st.switch_page(PAGES[page].file, query_params=[(SHORT, text)])
    return parse_qs(query, keep_blank_values=True) | besides, ""


def _name(query: Query, files: Collection[str]) -> str:
    text = repr(sorted(query.items()))
    return " ".join([text, *sorted(file for file in files if file in text)])
