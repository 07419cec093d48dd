"""What a visitor reads: every string of a page as it stands, and what of it is against the rules of language.

tests/pages/conftest.py looks at each page after each run, so what is held is held in every state that a test reaches.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from html import unescape
from typing import Any, NamedTuple

from streamlit.proto.Block_pb2 import Block

from dprl.glossary import TERMS, avoided

MOST_WORDS, LONG, OPENING = 25, 20, 60
_FOLDED = ("expander", "popover", "dialog")
_PROSE = (
    "markdown",
    "caption",
    "title",
    "header",
    "subheader",
    "info",
    "warning",
    "success",
    "error",
    "html",
)
_LABELS = ("label", "help", "placeholder", "title", "icon_label")
_LINK = re.compile(r"!?\[((?:\\.|[^\]\\])*)\]\((?:[^()\"]|\"(?:\\.|[^\"\\])*\"|\([^()]*\))*\)")
# What ends a passage: a line of its own, an item, a cell, a sign between parts, a head that stands before its text.
_PASSAGES = re.compile(r"\n\s*\n|<br>|\n(?=\s*(?:[-*|#]|\d+\.) )| \| | · |  \n|(?<=:\*\*) ")


class Said(NamedTuple):
    """One string. kind: of the element, with the attribute where it is not its text; folded: opened by a press."""

    kind: str
    text: str
    folded: bool


def _walk(node: Any, folded: bool) -> Iterator[tuple[Any, bool]]:
    """Blocks and elements from top to bottom, each with whether it is folded away."""
    for child in getattr(node, "children", {}).values():
        yield child, folded
        if hasattr(child, "children"):
            yield from _walk(child, folded or child.type in _FOLDED)


def strings(app: Any) -> Iterator[Said]:
    """Every string of a page: its main part, its settings and its notices."""
    for part in (app.main, app.sidebar, app._tree.children.get(2)):
        for node, folded in _walk(part, False) if part is not None else ():
            for kind, text in _of(node):
                if text and text.strip():
                    yield Said(kind, text, folded)


def _of(node: Any) -> Iterator[tuple[str, str]]:
    kind = str(node.type)
    proto = node.proto
    if hasattr(node, "children"):
        inner = getattr(proto, proto.WhichOneof("type") or "", proto) if isinstance(proto, Block) else proto
        for name in ("label", "title"):
            if isinstance(text := getattr(inner, name, None), str):
                yield f"{kind} {name}", text
        return
    if kind == "html":
        yield from _of_html(proto.body)
    elif kind == "plotly_chart":
        yield "chart alt", proto.alt
        yield from _of_figure(json.loads(proto.spec))
    elif kind in ("arrow_data_frame", "dataframe", "table"):
        yield from (("column", str(name)) for name in node.value.columns)
        for column in json.loads(getattr(proto, "columns", "") or "{}").values():
            yield from (
                (f"column {at}", str(column[at])) for at in ("label", "help") if (column or {}).get(at)
            )
    else:
        if isinstance(body := getattr(proto, "body", None), str):
            yield kind, body
        if kind == "progress":
            yield kind, proto.text
        for name in _LABELS:
            if isinstance(text := getattr(proto, name, None), str):
                yield f"{kind} {name}", text
        for option in getattr(proto, "options", ()):
            yield f"{kind} option", option if isinstance(option, str) else option.content


def _of_html(body: str) -> Iterator[tuple[str, str]]:
    body = re.sub(r"<(style|script|svg).*?</\1>", " ", body, flags=re.DOTALL)
    for name, text in re.findall(r"\s(alt|aria-label)=\"([^\"]*)\"", body):
        yield f"html {name}", unescape(text)
    for text in re.split(r"</?(?:p|div|dt|dd|dl|li|ul|h\d|td|tr|th|br|section|figcaption)[^>]*>", body):
        yield "html", unescape(re.sub(r"<[^>]*>", "", text))


def _of_figure(figure: dict[str, Any]) -> Iterator[tuple[str, str]]:
    layout = figure.get("layout", {})
    for key, value in layout.items():
        if key == "title" or (key.startswith(("xaxis", "yaxis", "legend")) and isinstance(value, dict)):
            title = value if key == "title" else value.get("title", {})
            yield (
                f"chart {key.rstrip('0123456789')}",
                title.get("text", "") if isinstance(title, dict) else title,
            )
    for note in layout.get("annotations", ()):
        yield "chart annotation", note.get("text", "")
    for trace in figure.get("data", ()):
        if trace.get("showlegend") is not False:
            yield "chart legend", trace.get("name") or ""
        if isinstance(trace.get("hovertemplate"), str):
            yield "chart hover", re.sub(r"%\{[^}]*\}|<extra>.*?</extra>", "0", trace["hovertemplate"])
    for menu in layout.get("updatemenus", ()):
        for button in menu.get("buttons", ()):
            yield "chart button", button.get("label", "")


@lru_cache(maxsize=50_000)
def passages(text: str) -> tuple[str, ...]:
    """A text's paragraphs, items and cells as they are read: without signs of Markdown, addresses and code."""
    text = _LINK.sub(r"\1", text)
    text = re.sub(r"`[^`]*`", "Code", text)
    text = re.sub(r":material/\w+:", " ", text)
    found = []
    for one in _PASSAGES.split(text):
        bare = re.sub(r"^\s*(?:[-*]|\d+\.|#+) |\*\*|(?<!\\)\*|</?[a-z]+[^>]*>", " ", one)
        bare = " ".join(re.sub(r"\\|\N{WORD JOINER}", "", bare).split())
        # What a link says and may say: keys, which stay.
        bare = re.sub(r"give (?:one of|all, or some of) .*", "give one of these.", bare)
        bare = re.sub(r"\b[a-z_.]+: .* is not allowed; ", "Key: this is not allowed; ", bare)
        if re.search(r"\w", bare):
            found.append(re.sub(r" (?=[.,;:?!)])", "", bare))
    return tuple(found)


@lru_cache(maxsize=50_000)
def sentences(text: str) -> tuple[str, ...]:
    """What of a text stands between two ends of a sentence."""
    return tuple(
        one
        for passage in passages(text)
        for one in re.split(r'(?<=[.?!:])\s+(?=["“(]?[A-ZΑ-Ωα-ω0-9]|[a-z_.]+: )', passage)
    )


def length(sentence: str) -> int:
    """In words; a number with its sign is one, and so is a formula's symbol."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


@lru_cache(maxsize=50_000)
def wrong(text: str) -> tuple[str, ...]:
    """What of a text is against the rules: names that are not used, sentences with too many words."""
    names = [f"{found}: say {term}: {one}" for one in passages(text) for found, term in avoided(one)]
    long = [f"{length(one)} words: {one}" for one in sentences(text) if length(one) > MOST_WORDS]
    return (*names, *long)


# What looks like a symbol and is none: seconds, Student's t, the article, what a hover puts in, formulas set apart.
_NO_SYMBOL = re.compile(
    r"\$\$.*?\$\$|(?<=\d )s\b|\bt (?=tests?\b|interval)|(?<![\w^])[aAI](?= [a-z])|[Kε]0\b"
)
_SYMBOL = re.compile(r"(?<![\w'’.\-])([A-Za-zΑ-Ωα-ω][₀-₉ₐ-ₜ\d]?)(?![\w'’])")
KNOWN = {part.strip("*~ ") for term in TERMS.values() for part in term.symbol.split(",")}
# Symbols that a page defines by itself: what has to stand on it.
DEFINED_HERE = {
    "C": ("the law without privacy is users = C", "C: "),
    "w": ("the law without privacy is users = C",),
    "b": ("the law without privacy is users = C",),
    "x": ("grew like Kˣ", "growth like Kˣ"),
    "t": ("users t",),
    "B": ("B: ",),  # bounds of theory, named as in the chart
    "D": ("D: ",),
    "η": ("Growth η of a block",),
    "κ": ("is the smallest [eigenvalue]",),
}


def undefined(texts: Iterable[str]) -> set[str]:
    """Symbols in what a page says that neither the glossary nor the page itself defines."""
    whole = [*texts]
    found = {
        symbol
        for text in whole
        for passage in passages(text)
        for symbol in _SYMBOL.findall(_NO_SYMBOL.sub(" ", passage))
    }
    page = "\n".join(whole)
    return {one for one in found - KNOWN if not any(said in page for said in DEFINED_HERE.get(one, ()))}


def opening(app: Any, first: str = "plotly_chart") -> int:
    """How many words of prose stand before the first chart of a page (or what comes first in its place), or before
    the first card of a list to choose from; of all that it says where it has neither."""
    words = 0
    for node, folded in _walk(app.main, False):
        if node.type == first or (node.type == "button" and (node.key or "").startswith("open_")):
            break
        if not folded and node.type in _PROSE:
            words += sum(length(one) for _, text in _of(node) for one in passages(text))
    return words


_right: set[tuple[str, int]] = set()  # parts that were found right, by their type and a hash of what was sent


def read(app: Any) -> None:
    """Asserts that what a page says keeps to the rules. Most of it stood on a page before, and is not taken apart."""
    for part in (app.main, app.sidebar, app._tree.children.get(2)):
        for node, _ in _walk(part, False) if part is not None else ():
            seen = str(node.type), hash(getattr(node.proto, "SerializeToString", bytes)())
            if seen not in _right:
                found = {one for _, text in _of(node) if text for one in wrong(text)}
                assert not found, "\n".join(sorted(found))
                _right.add(seen)
