"""One name for each thing: no text of the pages has another one, and what is named is explained."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WHERE = (
    "pages",
    "dprl/sentences",
    "dprl/figures",
    "dprl/lessons",
    "dprl/claims",
    "dprl/rooms",
    "dprl/landscape",
)
# What is not said, and what is said for it.
BANNED = {
    r"least noise|noise is the least|the least that proves": "calibrated noise",
    r"plans? anew|plans each|replans?": "policy updates",
    r"^in all$|regret in all|costs? in all": "cumulative",
    r"flat since": "stops growing after",
    r"(non-?private|its) twin": "the same seed without privacy",
    r"tenfolds?\b": "decade",
    r"(printed|proved|practical) bonus|constants as printed|printed constants": "paper constants, anytime bonus",
    r"^trusted agent|jdp \(trusted|central model": "Central (JDP)",
    r"^nobody trusted|^trusted shuffler": "Local (LDP), Shuffle (SDP)",
    r"slope of the papers": "reference slope",
}


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of every string of a module that may be shown: not its docstrings, nor a lone key."""
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if id(node) not in docs and " " in node.value:
            yield node.lineno, node.value


def wrong(source: str) -> list[tuple[int, str]]:
    """Line and better name of each text that has one that is not used."""
    return [
        (line, better)
        for line, text in texts(source)
        for banned, better in BANNED.items()
        if re.search(banned, text, re.IGNORECASE)
    ]


@pytest.mark.parametrize("where", WHERE)
def test_each_thing_has_one_name(where: str) -> None:
    files = sorted((ROOT / where).rglob("*.py"))
    found = {str(f.relative_to(ROOT)): wrong(f.read_text(encoding="utf-8")) for f in files}
    assert len(files) > 1
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "text",
    [
        "Learner plans anew",
        "flat since 10⁶",
        "its non-private twin",
        "the last tenfold of users",
        "Regret in all",
    ],
)
def test_a_banned_name_is_found(text: str) -> None:
    assert wrong(f'label = f"{text}{{x}}"')
    assert wrong(f'"""{text} in a docstring."""') == []
