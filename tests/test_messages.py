"""Sentences under charts: whole templates, each of which the program fills."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dprl.messages import fields_of, messages

ROOT = Path(__file__).parents[1]
SENTENCES = ROOT / "dprl/sentences"
# Which file says what a table has.
SAID_BY = {
    "regret": "regret", "cost": "price", "policy": "policy", "counts": "noise", "data": "offline", "doubts": "doubts",
    "promise": "promise", "landscape": "landscape", "linear": "linear", "attack": "attack",
    "claims": "claims", "seeds": "seeds",
}  # fmt: skip
UPLOADS = ("uploads", "verdict")  # each said by the file of the same name


TABLES = [("charts", table) for table in SAID_BY] + [("uploads", table) for table in UPLOADS]


def test_each_table_is_of_a_file() -> None:
    assert list(messages("charts")) == list(SAID_BY)
    assert list(messages("uploads")) == list(UPLOADS)


@pytest.mark.parametrize(("part", "table"), TABLES)
def test_a_template_is_a_sentence_or_a_phrase_and_no_half_of_one(part: str, table: str) -> None:
    source = (SENTENCES / f"{SAID_BY.get(table, table)}.py").read_text("utf-8")
    assert f'messages("{part}")["{table}"]' in source
    for name, template in messages(part)[table].items():
        assert template == template.strip()
        # whole sentences end with a stop; phrases, which stand in lists or in fields, have none
        assert not re.search(r"[,:;]$", template), name
        if template.endswith("."):
            assert re.match(r"[A-Z{*]", template), name
        assert all(re.fullmatch(r"[a-z]+", field) for field in fields_of(template)), name
    stems = {re.split(r"_", name)[0] for name in messages(part)[table]}
    assert all(stem in source for stem in stems)  # nothing is left over


WHOLE = re.compile(r"\s?[A-Z*{].*[.?!:]\s?|[^a-z]*", re.DOTALL)  # a sentence, or no words
PROSE = re.compile(r"[A-Za-z]{2}.* | .*[A-Za-z]{2}", re.DOTALL)
MARKUP = re.compile(r"<[a-z]|[a-z]=\"|^\.st-|:material/\{")
NO_SENTENCE = {"SELECT {} FROM {} WHERE unit = ?", "frame-ancestors {}", "top {}"}  # SQL, a header, a place
COMPUTED = ("cards", "refusals")  # said by what computes, each table by one file or two


@pytest.mark.parametrize("part", COMPUTED)
def test_what_computes_says_whole_templates_and_has_no_others(part: str) -> None:
    files = [file.read_text("utf-8") for file in (ROOT / "dprl").rglob("*.py")]
    source = "".join(
        text for text in files if f'messages("{part}")' in text or "privacy.guarantee import" in text
    )
    for table, templates in messages(part).items():
        assert f'"{table}"' in source
        for name, template in templates.items():
            assert template == template.strip() or name == "comma", name
            assert not re.search(r"[,:;]$", template), name
            assert all(re.search(rf"[\"'_]{stem}[\"'_]", source) for stem in name.split("_")), name


# what only stands behind a sentence
HALF = re.compile(r"[,;:.)] .*[\w{].*| (?![A-Z].*[.?!]$)\(?.*[\w{].*", re.DOTALL)


def text_of(node: ast.AST) -> str:
    """A string, with {} for what is filled in; "" of anything else."""
    match node:
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part) or "{}" for part in parts)
        case ast.BinOp(left=one, op=ast.Add(), right=other):
            return text_of(one) + text_of(other)
        case ast.AugAssign(op=ast.Add(), value=more):
            return text_of(more)
        case ast.Constant(value=str(text)):
            return text
    return ""


def chosen(node: ast.AST) -> bool:
    """Whether words are chosen that are no whole sentence."""
    match node:
        case (
            ast.IfExp(body=one, orelse=other)
            | ast.BinOp(left=one, op=ast.Mult(), right=other)
            | ast.BoolOp(op=ast.And(), values=[one, other])
        ):
            return any(chosen(o) or not WHOLE.fullmatch(text_of(o)) for o in (one, other))
    return False


def glued(source: str) -> Iterator[str]:
    """Sentences into which a function puts words that it chooses, there or under a name before, or adds half a one."""
    for function in ast.walk(ast.parse(source)):
        nodes = [*ast.walk(function)] if isinstance(function, ast.FunctionDef) else []
        assigned = [n.targets for n in nodes if isinstance(n, ast.Assign) and chosen(n.value)]
        names = {name.id for targets in assigned for name in targets if isinstance(name, ast.Name)}
        for node in nodes:
            text, parts = text_of(node), [getattr(n, "value", n) for n in ast.iter_child_nodes(node)]
            put_in = any(chosen(p) or (isinstance(p, ast.Name) and p.id in names) for p in parts)
            added = isinstance(node, ast.AugAssign) and not re.match(r"\s?[A-Z*{]", text)
            if (put_in or added) and PROSE.search(text) and not MARKUP.search(text):
                yield text


def trailing(source: str) -> Iterator[str]:
    """Halves that a function returns, for others to put behind what they say."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Return):
            for text in map(text_of, returned(node.value)):
                if HALF.fullmatch(text) and not MARKUP.search(text):
                    yield text


def returned(node: ast.expr | None) -> Iterator[ast.AST]:
    """What a function may return, of what it chooses between."""
    match node:
        case ast.IfExp(body=one, orelse=other) | ast.BoolOp(values=[one, other]):
            yield from returned(one)
            yield from returned(other)
        case ast.AST():
            yield node


@pytest.mark.parametrize("source", [
    "return f'It {\"falls\" if x else \"grows\"} there.'", "way = 'falls' if x else 'grows'; return f'It {way} there.'",
    "said += ' and so on.'", "return 'It grows' + (' there' if x else '')", "return 'It grows' + ' there' * x",
])  # fmt: skip
def test_halves_are_found(source: str) -> None:
    assert [*glued(f"def f(x, said):\n    {source}")]


@pytest.mark.parametrize(
    "source", ["return f' ({x})' if x else ''", "return ', 5 more'", "return x and '. So it is.'"]
)
def test_what_stands_behind_a_sentence_is_found(source: str) -> None:
    assert [*trailing(f"def f(x):\n    {source}")]


@pytest.mark.parametrize("files", ["dprl/**/*.py", "pages/**/*.py", "website/*.py"])
def test_no_sentence_is_glued_from_halves(files: str) -> None:
    for file in ROOT.glob(files):
        source = file.read_text("utf-8")
        assert {*glued(source), *trailing(source)} <= NO_SENTENCE, file
