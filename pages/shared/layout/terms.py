"""Escape texts for pages, and explain each technical term where it first occurs.

A term is a Markdown link to nowhere whose title is its meaning, so no visitor's text is read as HTML. A script shows
the title to mouse, keyboard and touch users alike.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from html import escape as html_escape

from dprl.messages.glossary import TERMS
from pages.shared.visitor.address import one_line
from pages.shared.visitor.state import session

# Links, signs and code are left as they are.
_PASSED = r"!?\[[^\]]*\]\((?:\"[^\"]*\"|[^\")])*\)|`[^`]*`|:material/\w+:|https?://\S+|<[^>]*>"
TERM = "#term"  # the address of every term's link


@cache
def _pattern(page: str | None) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """Return a pattern with a group for each term on a page, and the names of these terms."""
    names = tuple(t.term for t in TERMS.values() if t.said and (not t.only or page in t.only))
    return re.compile("|".join([_PASSED, *(f"({TERMS[name].said})" for name in names)])), names


@lru_cache(maxsize=1024)
def _terms(page: str | None, text: str) -> tuple[tuple[int, int, str], ...]:
    """Find the terms in a text, with their positions and names. Results are cached, because the search is slow."""
    pattern, names = _pattern(page)
    found = pattern.finditer(text)
    return tuple((*one.span(), names[one.lastindex - 1]) for one in found if one.lastindex is not None)


def explained(text: str, html: bool = False) -> str:
    """Return Markdown (or our own HTML) in which the first mention of each term on the page shows its meaning."""
    s = session()
    parts, done = [], 0
    for begin, end, name in _terms(s.page, text):
        if name not in s.explained:
            s.explained[name] = s.drawing
            word, meaning = text[begin:end], TERMS[name].definition
            if html:
                link = f'<a href="{TERM}" title="{html_escape(meaning)}">{word}</a>'
            else:
                link = f'[{word}]({TERM} "{meaning}")'
            parts += [text[done:begin], link]
            done = end
    return "".join([*parts, text[done:]])


def meanings(*names: str) -> str:
    """List the meanings of terms, one per line, for the help of a widget or a caption."""
    return "  \n".join(f"**{name}:** {TERMS[name].definition}" for name in names)


# The signs that begin Markdown, Streamlit's directives (:red[...], :material/...:), LaTeX and HTML.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-!|~$:&^@\"'/])")
# Signs that have a meaning only at the beginning of a line, where they underline a heading or number a list. Elsewhere
# they are not escaped, because screen readers would read the escapes aloud.
_OPENING = re.compile(r"^(\d*)([=.])")
# Texts that become links by themselves, even if their signs are escaped: www.x, x://y, x@y.
_AUTOLINK = re.compile(r"www\.|://|@\w", re.IGNORECASE)


def escape(text: str) -> str:
    """Escape a text for Markdown, so that it is shown as written and never interpreted."""
    return _OPENING.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", unlinked(one_line(text))))


def unlinked(text: str) -> str:
    """Insert an invisible character wherever Markdown would make a link from plain text."""
    return _AUTOLINK.sub(lambda match: match.group()[0] + "\u2060" + match.group()[1:], text)
