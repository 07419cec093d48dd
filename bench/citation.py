"""Write CITATION.cff with `python -m bench.citation`: the version, and the papers of dprl/theory/papers.toml."""

from __future__ import annotations

import re
from pathlib import Path

from dprl.theory.papers import PAPERS, Paper
from dprl.version import VERSION

FILE = Path(__file__).parents[1] / "CITATION.cff"


def reference(paper: Paper) -> str:
    """Return one paper as YAML text, with quoted strings."""
    kind = "conference-paper" if paper.venue else "article"
    lines = [f"  - type: {kind}", f"    title: {quoted(paper.title)}", "    authors:"]
    lines += [
        f"      - {{family-names: {quoted(family)}, given-names: {quoted(given)}}}"
        for given, family in paper.authors
    ]
    lines += [f"    year: {paper.year}"]
    lines += [f"    collection-title: {quoted(paper.venue)}"] * bool(paper.venue)
    lines += [f"    journal: {quoted(paper.journal)}"] * bool(paper.journal)
    return "\n".join([*lines, f"    url: {quoted(paper.address)}"])


def quoted(text: str) -> str:
    """Return a string in the quotes of YAML."""
    return "'" + text.replace("'", "''") + "'"


def written(before: str) -> str:
    """Return the new content of the file: its old beginning with the new version, and the papers."""
    head = before.partition("references:\n")[0]
    head = re.sub(r"^version: .*$", f"version: {VERSION}", head, flags=re.M)
    return f"{head}references:\n" + "\n".join(map(reference, PAPERS.values())) + "\n"


if __name__ == "__main__":
    FILE.write_text(written(FILE.read_text("utf-8")), "utf-8")
