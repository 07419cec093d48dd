"""The papers in papers.toml, as lines for pages and as BibTeX entries."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ACCENTS = {"\u0301": r"\'", "\u0308": r"\"", "\u0300": r"\`", "\u0302": r"\^", "\u0303": r"\~"}


@dataclass(frozen=True)
class Paper:
    """One paper; papers.toml explains each attribute."""

    key: str
    authors: tuple[tuple[str, str], ...]
    title: str
    year: int
    address: str
    venue: str = ""
    journal: str = ""
    short: str = ""
    tex: str = ""
    named: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    known_for: str = ""

    @property
    def line(self) -> str:
        """Return the reference to the paper as one line: authors, title, venue and year, and its main result."""
        families = ", ".join(family for _, family in self.authors)
        where = f"{self.venue} {self.year}".strip()
        known_for = f", {self.known_for}" if self.known_for else ""
        return f"{families}: {self.short or self.title} ({where}){known_for}"

    @property
    def bibtex(self) -> str:
        """Return the paper's BibTeX entry, in ASCII."""
        kind = "inproceedings" if self.venue else "article" if self.journal else "misc"
        fields = {
            "author": " and ".join(f"{tex(family)}, {tex(given)}" for given, family in self.authors),
            "title": f"{{{self.tex or tex(self.title)}}}",  # braces keep capitals
            "booktitle": tex(self.venue),
            "journal": tex(self.journal),
            "year": str(self.year),
        }
        server, _, name = self.address.partition("arxiv.org/abs/")
        fields |= {"eprint": name, "archiveprefix": "arXiv"} if name else {"url": server}
        return entry(kind, self.key, fields)


PAPERS = {
    row["key"]: Paper(
        **row
        | {"authors": tuple(map(tuple, row["authors"]))}
        | {name: tuple(row.get(name, ())) for name in ("named", "lists")}
    )
    for row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["paper"]
}


def listed(name: str) -> dict[str, str]:
    """Return the papers in one of the dashboard's lists ("online" or "offline"), as a line for each and its address."""
    return {paper.line: paper.address for paper in PAPERS.values() if name in paper.lists}


def papers_in(source: str) -> tuple[Paper, ...]:
    """Return the papers that a `source` text mentions, in the order of their first mention."""
    places = {
        paper: found.start()
        for paper in PAPERS.values()
        for name in paper.named
        if (found := re.search(rf"\b{re.escape(name)}\b", source))
    }
    return tuple(sorted(places, key=places.__getitem__))


def bibliography(sources: Iterable[tuple[str, str]], version: str) -> str:
    r"""Return a BibTeX file with entries for the program and for each paper that the sources mention.

    Args:
        sources: pairs of something to cite and its `source`; a comment for each lists the keys to \cite.
    """
    title = "{dprl: What privacy costs in reinforcement learning}"
    program = {"author": "{The dprl authors}", "title": title, "note": f"Version {version}"}
    told, entries = [r"% the program: \cite{dprl}"], {"dprl": entry("misc", "dprl", program)}
    for what, source in dict.fromkeys(sources):
        found = papers_in(source)
        entries |= {paper.key: paper.bibtex for paper in found}
        keys = ",".join(paper.key for paper in found)
        said = tex(f"{what} ({source})") if source else tex(what)
        told.append(f"% {said}: \\cite{{{keys}}}" if found else f"% {said}: no paper is known here")
    return "\n".join(told) + "\n\n" + "\n\n".join(entries.values()) + "\n"


def entry(kind: str, key: str, fields: dict[str, str]) -> str:
    """Write a BibTeX entry from the nonempty fields."""
    body = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{kind}{{{key},\n{body}}}"


def tex(text: str) -> str:
    """Convert text to LaTeX in ASCII. Characters without an equivalent are left out."""
    found = []
    for sign in unicodedata.normalize("NFC", " ".join(text.split())):
        letter, *marks = list(unicodedata.normalize("NFD", sign))
        if marks and marks[0] in ACCENTS:
            found.append(f"{{{ACCENTS[marks[0]]}{letter}}}")
        elif sign in "&%$#_{}":
            found.append(f"\\{sign}")
        elif letter.isascii():
            found.append(letter)
    return "".join(found)
