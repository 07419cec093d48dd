"""Read the link in the address bar, and write the link to the current view.

A link may lock settings, which are then shown but cannot be changed. Locks do not keep anything secret.

    lock=all             every setting, and Run
    lock=epsilon,seeds   only these settings
    lock=all,-epsilon    all settings except this one; Run stays open, so that it can be tried
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, unquote, unquote_plus, urlencode, urlsplit

import streamlit as st

from dprl.fields import shown
from dprl.links import NAME, last
from dprl.messages import filled, messages
from dprl.runs.database import StoreError
from dprl.sitemap import PAGES
from pages.shared.results.data import store

Query = dict[str, list[str]]
SAY = "say"  # a message from the person who shares a link
STORY = "story"  # marks an address that the slider of the home page wrote below its story
VERSION = "v"  # does not count as content of a link
MOST_LETTERS = 160
SHORT = "s"  # the key of a short link
LOCK = "lock"
ALL = "all"
# The names of the settings: fields of a spec, with their parameters, and further settings of pages.
NAMES = (
    "environment", "algorithm", "structure", "privacy", "epsilon", "rho", "delta", "calibration", "mechanism",
    "reports", "contribution", "episodes", "n", "behaviour", "rewards", "bonus", "schedule", "seeds", "root_seed",
    "beta", "compare", "against", "run",
)  # fmt: skip
RUN = "run"
EVERYTHING = frozenset(NAMES)
Locked = frozenset[str]
NOTHING = "No part of this link could be used"
TRACKERS = re.compile(r"utm_\w+|[a-z]*clid")  # keys that mail programs and social networks add to a link
SAFE = re.compile(r"[\w .~:,/*%+-]*", re.ASCII)  # the characters of an encoded value, with a space for +


class Given(Query):
    """A link that ignores the case of keys and records which keys the page has read."""

    def __init__(self, query: Query) -> None:
        super().__init__(query)
        self.asked = {STORY, VERSION}

    def get(self, key: str, default: Any = None) -> Any:
        """Return the values of a key, and ignore the key's case."""
        self.asked.add(key.lower())
        folded = (one for one in self if one.lower() == key.lower() and VERSION not in (one, key))
        return super().get(key if key in self else next(folded, key), default)

    def unused(self) -> str:
        """Return a sentence if the page has read none of the link's keys, otherwise ""."""
        keys = [key for key in self if not TRACKERS.fullmatch(key)]
        unknown = [key for key in keys if key.lower() not in self.asked]
        if not unknown or any(key.lower() in self.asked and key != VERSION for key in keys):
            return ""
        return f"{NOTHING}: this page has no parameter named {' or '.join(map(shown, unknown[:3]))}."


def restored(query: Query) -> Query:
    """Return a query without HTML escapes (`&amp;`) and without a second percent encoding."""
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
    """Return whether a value is still encoded. Escaped `%` and `~` do not count, because texts contain them."""
    return bool(SAFE.fullmatch(value) and re.search(r"%(?!25|7E)[0-9A-F]{2}|%7E\w+\.", value, re.IGNORECASE))


def without_its_end(query: Query, problems: list[str]) -> Query:
    """Remove the punctuation that followed the link in a text, and report it in `problems`."""
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
    """Write query parameters for a link, without the question mark. Few characters are escaped, for readability."""
    return urlencode([*items], safe="~:,/*")


def here() -> list[tuple[str, str]]:
    """Return the query parameters of the address bar."""
    return [(key, value) for key in st.query_params for value in st.query_params.get_all(key)]


def grouped(items: Iterable[tuple[str, str]]) -> Query:
    """Return query parameters as a mapping from each key to all of its values."""
    query: Query = {}
    for key, value in items:
        query.setdefault(key, []).append(value)
    return query


def name_of(query: Query, files: Collection[str]) -> str:
    """Return a name for a query. The name changes once the digest of a file in it becomes known."""
    text = repr(sorted(query.items()))
    return " ".join([text, *sorted(file for file in files if file in text)])


def whole_address(query: str) -> str:
    """Return the whole address of this page with a query, as far as the server knows its own address."""
    return urlsplit(st.context.url or "")._replace(query=query, fragment="").geturl()


def sentence_of(given: Mapping[str, Sequence[str]], problems: list[str]) -> str:
    """Return the message that comes with a link, or "". If it is too long, shorten it and report that in `problems`."""
    text = one_line(last(given, SAY) or "")
    if len(text) > MOST_LETTERS:
        said = messages("pages")["share"]["say"]
        problems.append(filled(said, letters=len(text), most=MOST_LETTERS))
    return text[:MOST_LETTERS].rstrip()


def saying(sentence: str) -> list[tuple[str, str]]:
    """Return the query parameter for a sentence, which `sentence_of` reads, or none if the sentence is empty."""
    return [(SAY, sentence)] if sentence else []


def one_line(text: str) -> str:
    """Return the printable characters of a text on one line."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def lengthened(given: Query, page_shown: str, problems: list[str]) -> Query:
    """Expand a short link, which consists of `s=` and letters, and keep its other parameters. Go to another page if the
    link belongs there. Report unknown letters in `problems`."""
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


def read_locks(given: Mapping[str, Sequence[str]], problems: list[str]) -> Locked:
    """Return the locked settings of a link, and report unknown names in `problems`."""
    text = last(given, LOCK)
    if text is None:
        return frozenset()
    parts = [part.strip().lower() for part in text.split(",")]
    opened = {part[1:] for part in parts if part.startswith("-")}
    named = {part for part in parts if not part.startswith("-")}
    unknown = sorted((opened | named - {ALL}) - EVERYTHING)
    if unknown:
        allowed = f"all, or some of {', '.join(NAMES)}, or all followed by exceptions, each with a - in front"
        problems.append(f"lock: {shown(unknown[0]) or 'nothing'} is not allowed; give {allowed}.")
    if ALL in named:
        return EVERYTHING - opened - ({RUN} if opened & EVERYTHING else set())
    return frozenset(named & EVERYTHING - opened)


def write_locks(locked: Collection[str]) -> list[tuple[str, str]]:
    """Return the query parameter for locked settings, which `read_locks` reads, or none if nothing is locked."""
    names = [name for name in NAMES if name in locked]
    besides = [f"-{name}" for name in NAMES if name not in locked and name != RUN]
    if EVERYTHING <= set(names):
        names = [ALL]
    elif RUN not in names and 0 < len(besides) < len(names):
        names = [ALL, *besides]
    return [(LOCK, ",".join(names))] if names else []


def locked_in_words(locked: Collection[str]) -> str:
    left = [name for name in NAMES if name not in locked and name != RUN]
    named = [name for name in NAMES if name in locked]
    few = f"all settings but {', '.join(left)}" if len(left) < len(named) else ", ".join(named)
    return few if left else "the settings"
