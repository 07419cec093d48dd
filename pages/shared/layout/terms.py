"""A hover on each term: what a word means, where it stands first in what is visible of a page.

A term is a link of Markdown to nowhere whose title is its meaning, so no text of a visitor's is read as HTML. A script
shows the title to a mouse, a keyboard and a finger alike.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from html import escape

from pages.shared.layout.reading import OF_DATA_SETS, OF_LINEAR_MODELS, WORDS
from pages.shared.visitor.state import session

# How sentences name what the glossary explains; a sign that Markdown would read may be escaped.
SAID = {
    "Episode": r"\b[Ee]pisodes?\b",
    "Regret": r"\b[Rr]egret\b",
    "Price of privacy": r"\b[Pp]rice of (?:joint |local )?privacy\b",
    "ε (epsilon), δ (delta)": "[εδ]",
    "ε (epsilon)": "ε",
    "δ (delta)": "δ",
    "ρ (rho)": "ρ",
    "JDP": r"\bJDP\b|\b[Tt]rusted agent\b|\b[Jj]oint privacy\b",
    "SDP": r"\bSDP\b|\b[Tt]rusted shuffler\b",
    "LDP": r"\bLDP\b|\b[Nn]obody trusted\b|\b[Ll]ocal privacy\b",
    "Mechanism": r"\b[Mm]echanisms?\b",
    "Claimed and proved": r"\b[Cc]laimed\b|\b[Pp]rove[sd]\b",
    "Released counts": r"\b[Rr]eleased counts?\b|\bnoisy counts?\b",
    "Noise bound E": r"\b[Nn]oise bound\b",
    "Calibrated noise": r"\b[Cc]alibrated noise\b",
    "Exploration noise": r"\b[Ee]xploration noise\b",
    "Paper constants, anytime bonus": r"\b[Pp]aper constants\b|\b[Aa]nytime bonus\b",
    "Bonus": r"\b[Bb]onus\b",
    "Same seed without privacy": r"\bsame (?:seed|run) without privacy\b",
    "Decade": r"\bdecades?\b",
    "V*": r"\bV\\?\*(?![*\w])",
    "v*": r"\bv\\?\*(?![*\w])",
    "Trajectory": r"\b[Tt]rajector(?:y|ies)\b",
    "Behaviour policy": r"\b[Bb]ehaviour policy\b",
    "Curator": r"\b[Cc]urator\b",
    "Gap": r"\b[Gg]aps?\b",
    "Pessimism": r"\b[Pp]essimis(?:m|tic)\b",
    "Low estimate V~": r"\b[Ll]ow estimate\b",
    "Coverage d^μ": r"\bd\^μ",
    "Features": r"\b[Ff]eatures\b",
    "Weights wₕ": r"\b[Ww]eights\b",
    "Regression": r"\b[Rr]egression\b",
    "Region": r"\b[Rr]egions?\b",
    "Eigenvalue": r"\b[Ee]igenvalues?\b",
    "Ridge": r"\b[Rr]idge\b",
}
ALL = OF_DATA_SETS | OF_LINEAR_MODELS | WORDS
OF_PAGES = {"offline": OF_DATA_SETS, "linear": OF_LINEAR_MODELS}  # what a word means there goes first
ONLY = {  # everyday words elsewhere
    "ε (epsilon), δ (delta)": ("offline",),
    "Gap": ("offline", "tradeoffs"),
    "Features": ("linear", "lessons"),
    "Weights wₕ": ("linear", "lessons"),
    "Region": ("linear",),
}
# Links, signs and code are left as they are.
_PASSED = r"!?\[[^\]]*\]\((?:\"[^\"]*\"|[^\")])*\)|`[^`]*`|:material/\w+:|https?://\S+|<[^>]*>"
TERM = "#term"  # the address of each


def glossary(page: str | None) -> dict[str, str]:
    """What the words of a page mean, by their name."""
    known = ALL | OF_PAGES.get(page or "", {})
    return {name: meaning for name, meaning in known.items() if page in ONLY.get(name, (page,))}


@cache
def _pattern(page: str | None) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """What finds the terms of a page, a group for each, and their names."""
    known = glossary(page)
    names = tuple(name for name in SAID if name in known)
    return re.compile("|".join([_PASSED, *(f"({SAID[name]})" for name in names)])), names


@lru_cache(maxsize=1024)
def _terms(page: str | None, text: str) -> tuple[tuple[int, int, str], ...]:
    """Where a text has terms, each with its name: to look for all of them takes a microsecond a letter."""
    pattern, names = _pattern(page)
    found = pattern.finditer(text)
    return tuple((*one.span(), names[one.lastindex - 1]) for one in found if one.lastindex is not None)


def explained(text: str, html: bool = False) -> str:
    """Markdown (or HTML of our own) in which each term has its meaning, that none above it on the page has."""
    s = session()
    parts, done = [], 0
    for begin, end, name in _terms(s.page, text):
        if name not in s.explained:
            s.explained[name] = s.drawing
            parts += [text[done:begin], linked(text[begin:end], glossary(s.page)[name], html)]
            done = end
    return "".join([*parts, text[done:]])


def linked(word: str, meaning: str, html: bool = False) -> str:
    """A word with its meaning."""
    if html:
        return f'<a href="{TERM}" title="{escape(meaning)}">{word}</a>'
    return f'[{word}]({TERM} "{meaning}")'


def forget(explained: dict[str, str], part: str) -> None:
    """A part of the page is drawn again, and explains its own words again."""
    for name in [name for name, where in explained.items() if where == part]:
        del explained[name]
