"""The address bar: the link in it, and the link to the current view."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, unquote, unquote_plus, urlencode, urlsplit, urlunsplit

import streamlit as st

from dprl.fields import shown
from dprl.links import NAME, last
from dprl.runs.database import StoreError
from dprl.sitemap import PAGES
from pages.shared.results.data import store

Query = dict[str, list[str]]
SAY = "say"  # a sentence from the person who shares a view to those who open the link
STORY = "story"  # marks an address that the slider of the home page wrote below its story
VERSION = "v"  # no content by itself
MOST_LETTERS = 160
SHORT = "s"  # the key of a short link
NOTHING = "No part of this link could be used"
TRACKERS = re.compile(r"utm_\w+|[a-z]*clid")  # keys that mail programs and social networks add to a link
SAFE = re.compile(r"[\w .~:,/*%+-]*", re.ASCII)  # the signs of an encoded value, with a space for +


class Given(Query):
    """A link as a page reads it: with keys in upper or lower case, and a record of those that the page has read."""

    def __init__(self, query: Query) -> None:
        super().__init__(query)
        self.asked: set[str] = set()

    def _key(self, key: object) -> Any:
        self.asked.add(str(key))
        if VERSION == key or super().__contains__(key):
            return key
        folded = (one for one in self if one.lower() == str(key).lower() and one != VERSION)
        return next(folded, key)

    def __contains__(self, key: object) -> bool:
        return super().__contains__(self._key(key))

    def __getitem__(self, key: str) -> list[str]:
        return super().__getitem__(self._key(key))

    def get(self, key: str, default: Any = None) -> Any:
        """Return the values of a key in upper or lower case."""
        return super().get(self._key(key), default)

    def unused(self) -> str:
        """Return a sentence if the page has read none of the link's keys, else an empty text."""
        known = {key.lower() for key in self.asked | {STORY, VERSION}}
        keys = [key for key in self if not TRACKERS.fullmatch(key)]
        unknown = [key for key in keys if key.lower() not in known]
        if not unknown or any(key.lower() in known and key != VERSION for key in keys):
            return ""
        return f"{NOTHING}: this page has no parameter named {' or '.join(map(shown, unknown[:3]))}."


def restored(query: Query) -> Query:
    """Return a query without the marks of HTML (`&amp;`) and without a second percent encoding."""
    found: Query = {}
    for key, values in query.items():
        plain = unquote(key)
        if "=" in plain:  # the signs between keys and values were encoded, too
            text = plain + "".join(f"={value}" for value in values if value)
            inner = restored(parse_qs(text, keep_blank_values=True))
        else:
            inner = {plain: [unquote_plus(one) if _encoded_twice(one) else one for one in values]}
        for name, some in inner.items():
            found.setdefault(name.removeprefix("amp;"), []).extend(some)
    return found


def _encoded_twice(value: str) -> bool:
    """Return whether a value is still encoded. Escaped `%` and `~` do not count, because links have them in texts."""
    return bool(SAFE.fullmatch(value) and re.search(r"%(?!25|7E)[0-9A-F]{2}|%7E\w+\.", value, re.IGNORECASE))


def without_its_end(query: Query, problems: list[str]) -> Query:
    """Return a query without the punctuation that followed the link in a text, which is added to `problems`."""
    if not query:
        return query
    *_, (key, values) = query.items()
    text = key.lower() == SAY or values[-1].rpartition("~")[2].startswith(f"{NAME}.")
    whole = values[-1].rstrip(".,;)")
    end = values[-1][len(whole) :]
    if text or not end or values[-1].count("(") >= values[-1].count(")") > 0:
        return query
    problems.append(f"The link ended in {shown(end)}, which was ignored.")
    return {**query, key: [*values[:-1], whole]}


def query_of(items: Iterable[tuple[str, str]]) -> str:
    """Write query parameters for a link, without the question mark. Only signs that need an escape have one, because
    people read links."""
    return urlencode([*items], safe="~:,/*")


def read_query(files: Collection[str]) -> tuple[Query, str]:
    """Read the query of the address bar, restored to its form before it was copied, and a name by which to remember it.

    files: the digests of known files. A link's name changes when a file that it refers to becomes known.
    """
    given = {key: st.query_params.get_all(key) for key in st.query_params}
    return restored(given), _name(given, files)


def here() -> list[tuple[str, str]]:
    """Return the query parameters of the address bar."""
    return [(key, value) for key in st.query_params for value in st.query_params.get_all(key)]


def write(items: Iterable[tuple[str, str]], files: Collection[str]) -> str:
    """Write query parameters into the address bar; return the name that `read_query` gives them."""
    st.query_params.from_dict(_grouped(items))
    return name_of(items, files)


def name_of(items: Iterable[tuple[str, str]], files: Collection[str]) -> str:
    """Return the name that `read_query` gives to query parameters."""
    return _name(_grouped(items), files)


def _grouped(items: Iterable[tuple[str, str]]) -> Query:
    grouped: Query = {}
    for key, value in items:
        grouped.setdefault(key, []).append(value)
    return grouped


def whole_address(query: str) -> str:
    """Return the whole address of this page with a query, as far as the server knows its own."""
    here = urlsplit(st.context.url or "")
    return urlunsplit((here.scheme, here.netloc, here.path, query, ""))


def sentence_of(given: Mapping[str, Sequence[str]], problems: list[str]) -> str:
    """Return the message that comes with a link, "" for none; a problem is added if it is too long."""
    text = one_line(last(given, SAY) or "")
    if len(text) > MOST_LETTERS:
        problems.append(
            f"{SAY}: the sentence has {len(text)} letters; give at most {MOST_LETTERS}. The rest was cut off."
        )
    return text[:MOST_LETTERS].rstrip()


def saying(sentence: str) -> list[tuple[str, str]]:
    """Return the query parameter from which `sentence_of` reads this sentence; none if there is no sentence."""
    return [(SAY, sentence)] if sentence else []


def one_line(text: str) -> str:
    """Clean a sentence for storage: printable signs on one line."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def lengthened(given: Query, page_shown: str, problems: list[str]) -> Query:
    """Return the query of a link that may be a short one, `s=` and letters, with its other parameters; a sentence is
    added to `problems` if the letters stand for nothing. A short link to another page leads there."""
    if SHORT not in given:
        return given
    text = given[SHORT][-1]
    besides = {key: values for key, values in given.items() if key != SHORT}
    try:
        page, query = store().links.lengthen(text)
    except StoreError as error:
        problems.append(str(error))
        return besides
    if page != page_shown:
        if page not in PAGES:
            problems.append(f"s: {shown(text)} leads to a page that this version does not have.")
            return besides
        st.switch_page(PAGES[page].file, query_params=[(SHORT, text)])
    return parse_qs(query, keep_blank_values=True) | besides


def _name(query: Query, files: Collection[str]) -> str:
    text = repr(sorted(query.items()))
    return " ".join([text, *sorted(file for file in files if file in text)])
