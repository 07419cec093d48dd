"""A second language is one more folder of messages: Start, lessons and phones say nothing that is not in it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from dprl.messages import FOLDER
from tests.pages.conftest import ROOT

# A letter for a letter, so that no word of English is left.
LETTERS = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "абцдефгхийклмнопярстувжхузАБЦДЕФГХИЙКЛМНОПЯРСТУВЖХУЗ",
)
STRING = re.compile(r'"[^"]*"')
KEPT = re.compile(r"\{[^}]*\}|<[^>]*>")  # fields, and signs of HTML
# What only says what a message says: no sentence stands in these.
SILENT = (
    "dprl/lessons/*.py",
    "pages/lessons/*.py",
    "pages/shared/lessons/*.py",
    "pages/room/*.py",
)
SENTENCE = re.compile(r"[A-Za-z]{2,},? [A-Za-z]{2,} [A-Za-z]")
# Messages are read by whoever imports dprl, so their folder is set before.
RUN = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

spec = spec_from_file_location("dprl.messages", "dprl/messages/__init__.py")
messages = sys.modules["dprl.messages"] = module_from_spec(spec)
spec.loader.exec_module(messages)
messages.FOLDER = Path(sys.argv[1])
sys.exit(pytest.main(["-q", "-n0", "-p", "no:cacheprovider", "tests/pages/language.py"]))
"""


def spoken(text: str) -> str:
    """A file of messages in a language that nobody speaks."""
    lines = text.splitlines()
    return "\n".join(line if line.startswith("#") else STRING.sub(_turned, line) for line in lines)


def _turned(found: re.Match[str]) -> str:
    kept = KEPT.findall(found[0])
    parts = [part.translate(LETTERS) for part in KEPT.split(found[0])]
    return "".join(part + sign for part, sign in zip(parts, [*kept, ""], strict=True))


def test_a_language_that_nobody_speaks_says_other_words_in_the_same_places() -> None:
    assert spoken('# Aa\n[page]\nnext = "Next {n}<br>of"') == '# Aa\n[page]\nnext = "Нехт {n}<br>оф"'
    for file in FOLDER.iterdir():
        text = file.read_text("utf-8")
        assert len(str(tomllib.loads(spoken(text)))) == len(str(tomllib.loads(text)))


@pytest.mark.parametrize("files", SILENT)
def test_no_sentence_stands_beside_the_messages(files: str) -> None:
    found = [
        f"{file.name}: {text}" for file in ROOT.glob(files) for text in texts(file) if SENTENCE.search(text)
    ]
    assert found == []


def texts(file: Path) -> Iterator[str]:
    """All strings of a script, but docstrings and what fields of links are for, which nobody is told."""
    nodes = [*ast.walk(ast.parse(file.read_text("utf-8")))]
    prose: set[ast.AST] = {node.value for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Field":
            prose |= {*node.args}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            yield node.value


@pytest.mark.thorough
def test_what_there_is_to_read_is_from_the_files_of_a_language(tmp_path: Path) -> None:
    for file in FOLDER.iterdir():
        (tmp_path / file.name).write_text(spoken(file.read_text("utf-8")), "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:]
