"""README and docs/: links lead somewhere, examples run, commands have flags that there are; and what to cite follows.

Every source names papers of the registry, and BibTeX, the pages and CITATION.cff follow from it. `make docs` builds the
site with Sphinx; nothing here needs it. The notebooks of docs/tutorials/ run, from the first cell to the last, and are
stored without what they print.
"""

from __future__ import annotations

import ast
import doctest
import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import dprl
from bench.citation import FILE, written
from dprl.__main__ import command_line, main
from dprl.lessons import LESSONS
from dprl.messages.glossary import TERMS
from dprl.papers import CLAIMS
from dprl.research.traces import SOURCES
from dprl.simulation import KINDS, AttackSpec, Spec
from dprl.theory.papers import PAPERS, bibliography
from dprl.version import VERSION
from tests.problems import first, left
from tests.test_layers import ROOT

sys.path.insert(0, str(ROOT / "docs"))
import registries

DOCS = ROOT / "docs"
README = ROOT / "README.md"
WRITTEN = sorted(
    p for kind in ("*.md", "*.ipynb") for p in DOCS.rglob(kind) if p.parent.name not in ("api", "generated")
)
PAGES = [*WRITTEN, README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def text_of(page: Path) -> str:
    """A page as Markdown; of a notebook its texts and its code."""
    text = page.read_text("utf-8")
    if page.suffix != ".ipynb":
        return text
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
    return "\n\n".join(f"```python\n{cell}\n```" if kind == "code" else cell for kind, cell in cells)


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The addresses of a page's headings, as GitHub and MyST make them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", without_code(text_of(page)), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        again = (f"{slug}-{n}" if n else slug for n in range(len(found) + 1))
        found.add(next(one for one in again if one not in found))
    return found


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_pictures_and_names_of_tests_lead_somewhere(page: Path) -> None:
    text = without_code(text_of(page))
    assert [file for file in re.findall(r"`(tests/[\w/]+\.py)", text) if not (ROOT / file).exists()] == []
    for address in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?://|mailto:", address):
            continue
        file, _, anchor = address.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), address
        assert not anchor or anchor in anchors(target), address


LONG = ("docs/how-to/bring-an-environment.md-1",)  # tests/environments look at it on a smaller problem
EXAMPLES = [
    pytest.param(
        code, id=(at := f"{name(page)}-{number}"), marks=[pytest.mark.thorough] if at in LONG else []
    )
    for page in PAGES
    if page.suffix == ".md"  # the others run as notebooks
    if page.name != "cluster.md"  # whose examples need a cluster
    if page.name != "adding-an-algorithm.md"  # tests/test_plugins.py and others run its files
    for number, code in enumerate(
        re.findall(r"^```python\n(.*?)^```", text_of(page), re.MULTILINE | re.DOTALL)
    )
]


@pytest.mark.parametrize("code", EXAMPLES)
@pytest.mark.usefixtures("home")
def test_an_example_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if "import matplotlib" in code:
        pytest.importorskip("matplotlib")
    exec(compile(code, "example", "exec"), {"__name__": "__main__"})


CONSOLES = [page for page in PAGES if page.suffix == ".md" and ">>> " in text_of(page)]


@pytest.mark.parametrize("page", CONSOLES, ids=name)
def test_a_console_prints_what_a_page_shows(page: Path) -> None:
    # the fence that ends a block is no part of what is printed
    blocks = re.findall(r"^```\w*\n(>>> .*?)^```", text_of(page), re.MULTILINE | re.DOTALL)
    shown = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name(page), None, None)
    assert shown.examples
    assert doctest.DocTestRunner().run(shown).failed == 0


def commands(page: Path) -> Iterator[list[str]]:
    for block in re.findall(r"^```sh\n(.*?)^```", text_of(page), re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").replace("python -m dprl", "dprl").splitlines():
            words = shlex.split(line.partition("#")[0])
            if words[:1] == ["dprl"]:
                yield words[1:]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_have_flags_that_there_are(page: Path) -> None:
    for words in commands(page):
        command_line().parse_args(words)  # leaves where one is unknown


# ---- what follows from the program


def test_the_reference_has_every_entry_of_the_registries() -> None:
    pages = registries.pages()
    for key in (*dprl.ALGORITHMS, *dprl.OFFLINE):
        assert f"- Key: `{key}`" in pages["algorithms"]
    for key in (*dprl.MECHANISMS, *dprl.privacy.PRIVATIZERS):
        assert f"- Key: `{key}`" in pages["mechanisms"]
    assert all(f"- Key: `{key}`" in pages["environments"] for key in dprl.ENVIRONMENTS)
    assert all(f"| `{field}` |" in pages["fields"] for field in dprl.simulation.FIELDS)
    assert all(f"| `{key}` |" in pages["claims"] for key in CLAIMS)
    assert pages["lessons"].count("/lessons?") == len(LESSONS)
    assert pages["glossary"].count("\n## ") == len(TERMS) - 1
    assert pages["sentences"].count("\n- ") == len(registries.PROOFS["sentence"])
    for part in pages:
        assert any(f"generated/{part}.md" in text_of(page) for page in WRITTEN), part


def test_a_proof_names_tests_that_there_are() -> None:
    for row in registries.PROOFS["sentence"]:
        for file, test in re.findall(r"(tests/\S+\.py)::(test_\w+)", row["follows"]):
            assert f"def {test}(" in (ROOT / file).read_text("utf-8"), row["says"]


def test_the_version_is_said_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "dprl.version.VERSION"}
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(rf"^## {re.escape(dprl.__version__)} \(\d{{4}}-\d\d-\d\d\)$", changes, re.MULTILINE)


# ---- what to cite


def entries(text: str) -> dict[str, dict[str, str]]:
    """The entries of a BibTeX file, by key, read with braces counted."""
    found = {}
    for kind, key, body in re.findall(r"^@(\w+)\{([^,]+),\n(.*?)^\}$", text, re.M | re.S):
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", body, re.M))
        for value in fields.values():
            bare = value.replace(r"\{", "").replace(r"\}", "")
            assert bare.count("{") == bare.count("}"), value
        assert len(fields) == body.count("\n")
        found[key] = {"kind": kind, **fields}
    assert len(found) == text.count("\n@")
    return found


def test_a_run_is_cited_with_its_algorithm_its_model_its_mechanism_and_the_program() -> None:
    spec = dprl.RunSpec(algorithm="dp-ucbvi", privacy="central", mechanism="gaussian-toeplitz")
    text = dprl.cite(spec)
    assert set(entries(text)) == {"dprl", "qiao2023online", "fichtenberger2023", "denisov2022"}
    free = dprl.cite(dprl.RunSpec(algorithm="ucbvi", privacy="none"))
    assert set(entries(free)) == {"dprl", "azar2017"}
    assert entries(text)["dprl"]["note"] == f"Version {VERSION}"
    assert re.search(r"^% .*\\cite\{fichtenberger2023,denisov2022\}$", text, re.M)
    assert entries(text)["qiao2023online"] == {
        "kind": "inproceedings",
        "author": "Qiao, Dan and Wang, Yu-Xiang",
        "title": "{Near-optimal differentially private reinforcement learning}",
        "booktitle": "AISTATS",
        "year": "2023",
        "eprint": "2212.04680",
        "archiveprefix": "arXiv",
    }


def test_runs_of_every_kind_are_cited_and_each_paper_once() -> None:
    online, data = dprl.RunSpec(), dprl.OfflineSpec(algorithm="dp-apvi", privacy="zcdp")
    assert set(KINDS) == set(SOURCES)
    assert dprl.cite(AttackSpec(run=online)) == dprl.cite(online) == dprl.cite(online.to_dict())
    together = entries(dprl.cite(online, data, online, data.baseline()))
    assert set(together) == {*entries(dprl.cite(online)), *entries(dprl.cite(data)), "yin2021"}
    assert {"qiao2023offline", "bun2016", "balle2018"} <= set(together)


def test_a_source_without_a_paper_is_said_and_cites_only_the_program() -> None:
    text = bibliography([("Mine", "nobody's: 100% of_an example")], VERSION)
    assert set(entries(text)) == {"dprl"}
    assert r"% Mine (nobody's: 100\% of\_an example): no paper is known here" in text


def test_each_entry_is_ascii_and_whole() -> None:
    for paper in PAPERS.values():
        found = entries("\n" + paper.bibtex)[paper.key]
        assert paper.bibtex.isascii()
        assert found["author"].count(" and ") == len(paper.authors) - 1
        assert "eprint" in found or found["url"] == paper.address


def test_citation_cff_has_the_papers_and_the_version() -> None:
    text = FILE.read_text("utf-8")
    assert text == written(text), "run python -m bench.citation"
    read = yaml.safe_load(text)
    assert read["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "license", "abstract"} <= set(read)
    assert str(read["version"]) == VERSION == dprl.__version__
    for one, paper in zip(read["references"], PAPERS.values(), strict=True):
        names = tuple((author["given-names"], author["family-names"]) for author in one["authors"])
        assert (names, one["title"], one["year"]) == (paper.authors, paper.title, paper.year)
        assert (one.get("collection-title", ""), one.get("journal", "")) == (paper.venue, paper.journal)
        assert one["url"] == paper.address


def test_the_command_line_cites_specs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs: tuple[Spec, ...] = dprl.RunSpec(), dprl.OfflineSpec()
    files = [tmp_path / f"{i}.json" for i in range(len(specs))]
    for file, spec in zip(files, specs, strict=True):
        file.write_text(json.dumps(spec.to_dict()), "utf-8")
    assert main(["cite", *map(str, files)]) == 0
    assert capsys.readouterr().out == dprl.cite(*specs)
    assert "cannot be read" in left(capsys, "cite", str(tmp_path / "missing.json"))


MOST = 2000  # characters of text that a cell puts out
NOTEBOOKS = sorted((DOCS / "tutorials").glob("*.ipynb"))


def cells(notebook: Path, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(notebook.read_text("utf-8"))["cells"] if cell["cell_type"] == kind]


@pytest.mark.parametrize(
    "notebook",
    first(sorted(NOTEBOOKS, key=lambda path: path.stem != "ten-minutes")),
    ids=lambda path: path.stem,
)
def test_a_notebook_runs(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # what it writes
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells(notebook, "code")):
        worth = run_cell("".join(cell["source"]), f"{notebook.name}, code cell {number}", names)
        said = capsys.readouterr().out
        assert len(said) + max(map(len, texts(worth))) <= MOST, number
        assert (cell["outputs"], cell["execution_count"]) == ([], None)


def texts(worth: Any) -> list[str]:
    """What a notebook may show of the worth of a cell: its repr, and what stands in its HTML."""
    html = getattr(worth, "_repr_html_", lambda: None)()
    return ["" if worth is None else repr(worth), re.sub(r"<[^<>]*>", "", html or "")]


def run_cell(source: str, name: str, names: dict[str, Any]) -> Any:
    """What the last line of a cell is worth, which a notebook shows."""
    tree = ast.parse(source)
    last: Any = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else ast.Expr(ast.Constant(None))
    exec(compile(tree, name, "exec"), names)
    return eval(compile(ast.fix_missing_locations(ast.Expression(last.value)), name, "eval"), names)
