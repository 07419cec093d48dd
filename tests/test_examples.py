"""Each example of the documents is a test: what each block of code is looked at by, and which are left out and why."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import test_documents as documents
from tests.test_layers import ROOT

RECIPE = "docs/how-to/adding-an-algorithm.md"
# What of the recipe is run, by a word in it: the test that does, word for word.
RUN = {
    "# my_package/simple.py": "tests/test_plugins.py",
    'algorithm="simple"': "tests/test_plugins.py",
    "check_algorithm(": "tests/test_plugins.py",
    "# my_package/ring.py": "tests/test_plugins.py",
    "check_environment(": "tests/test_plugins.py",
    "# my_package/reports.py": "tests/test_plugins.py",
    "# my_package/sums.py": "tests/test_plugins.py",
    "check_mechanism(": "tests/test_plugins.py",
    'mechanism="reports"': "tests/test_plugins.py",
    "# pages/bandits/record.py": "tests/pages/test_comparison.py",
    "# pages/bandits/page.py": "tests/pages/test_comparison.py",
    "# pages/bandits/bundled.py": "tests/pages/test_comparison.py",
    "# dprl/figures/endings.py": "tests/figures/test_charts.py",
}
# Python that no test runs.
LEFT_OUT = {"dask_kubernetes": "needs Kubernetes", "dask_jobqueue": "needs Slurm"}
CODE = ("python", "sh", "toml", "json", "diff")
# Formulas and what is printed, a drawing, and what Sphinx reads: `make docs` fails where it cannot.
NO_CODE = ("text", "", "{toctree}", "{eval-rst}", "{raw}", "{include}")
# Programs of others that shell commands call, which are not looked at.
OTHERS = ("npx", "dask", ".venv/bin/pre-commit")


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """(language, code) of each fenced block of a page, in items of lists, too."""
    lines = iter(page.read_text("utf-8").splitlines())
    for line in lines:
        if fence := re.fullmatch(r"( *)(`{3,})(.*)", line):
            code = []
            for inner in lines:
                if inner.strip() == fence[2]:
                    break
                code.append(inner.removeprefix(fence[1]))
            yield fence[3].strip(), "\n".join(code) + "\n"


BLOCKS = [
    (documents.name(page), language, code)
    for page in documents.PAGES
    if page.suffix == ".md"  # tests/test_notebooks.py runs the others
    for language, code in blocks(page)
]


def of(language: str) -> list[Any]:
    found = [(page, code) for page, named, code in BLOCKS if named == language]
    return [pytest.param(page, code, id=f"{page}-{number}") for number, (page, code) in enumerate(found)]


def test_each_block_is_of_a_language_that_is_looked_at() -> None:
    count = Counter(language.partition(" ")[0] for _, language, _ in BLOCKS)
    assert set(count) <= {*CODE, *NO_CODE}, count
    assert count["python"] > 25
    assert count["sh"] > 25


def test_each_python_block_is_run_or_named_with_a_reason() -> None:
    run = Counter(str(example.values[0]) for example in documents.EXAMPLES)
    marks = Counter[str]()
    for page, language, code in BLOCKS:
        if language != "python":
            continue
        compile(code, page, "exec")
        by = [word for word in RUN if page == RECIPE and word in code]
        out = [word for word in LEFT_OUT if word in code]
        consoles = ">>> " in code
        assert len(by) + len(out) + (code in run) + consoles == 1, (page, code)
        marks.update(by + out)
    assert marks == Counter([*RUN, *LEFT_OUT])
    for word, test in RUN.items():
        assert "adding-an-algorithm.md" in (ROOT / test).read_text("utf-8"), word


TARGETS = set(re.findall(r"^([a-z-]+)(?: [a-z-]+)*:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


@pytest.mark.parametrize(("page", "code"), of("sh"))
def test_a_shell_command_names_what_there_is(page: str, code: str) -> None:
    """Flags of `dprl` are looked at in test_documents.py."""
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line.partition(" #")[0])
        while words and re.match(r"[A-Z_]+=", words[0]):
            words = words[1:]
        if words[:2] == ["python", "-m"]:
            words = words[2:]
        if not words or words[0] in ("dprl", *OTHERS):
            continue
        program, given = words[0], words[1:]
        if program == "make":
            assert given[0] in TARGETS, line
        elif program == "pip":
            extras = re.findall(r"(?:dprl|\.)\[([\w,]+)\]", line)
            assert all(name in EXTRAS for found in extras for name in found.split(",")), line
        elif program.startswith("bench."):
            path = ROOT / program.replace(".", "/")
            assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), line
        else:
            assert program == "pytest", line
        for path in re.findall(r"tests/[\w/]+(?:\.py)?", line):
            assert (ROOT / path).exists(), line


@pytest.mark.parametrize(("page", "code"), [*of("toml"), *of("json")])
def test_data_can_be_read(page: str, code: str) -> None:
    if code.lstrip().startswith("{"):
        json.loads(code)
    else:
        tomllib.loads(code)


@pytest.mark.parametrize(("page", "code"), of("diff"))
def test_what_a_change_is_put_beside_is_there(page: str, code: str) -> None:
    """Lines that a diff takes away or leaves as they are stand in the sources."""
    files = [file for folder in ("dprl", "pages") for file in (ROOT / folder).rglob("*.py")]
    sources = {line.strip() for file in files for line in file.read_text("utf-8").splitlines()}
    for line in code.splitlines():
        text = line[1:].strip()
        if line[:1] in ("-", " ") and text not in ("", "...") and not text.startswith("# "):
            start = text.partition("...")[0]
            assert any(source.startswith(start) for source in sources), line
