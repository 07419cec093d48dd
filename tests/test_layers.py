"""Imports run one way, and only the pages know Streamlit."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
API = "(public API)"  # dprl/__init__.py
PAGES = "pages"  # pages/ and app.py
SITE = "website"
FILES = [ROOT / "app.py", *(file for part in ("dprl", "pages", SITE) for file in (ROOT / part).rglob("*.py"))]

# A file may import its own layer and any layer of a lower rank.
RANK = {
    "version": 0,
    "names": 0,
    "words": 0,
    "assets": 0,
    "messages": -1,  # words alone, read by whatever says something
    "fields": 0,
    "engine": 0.5,
    "plugins": 0.3,
    "metrics": 0,
    "theory": 0,
    "tables": 0,
    "rooms": 5,
    "mdp": 1,
    "environments": 3,
    "statistics": 2,
    "privacy": 3,
    "learners": 3,
    "simulation": 4,
    API: 10,
    "links": 6,
    "runs": 6,
    "uploads": 7,
    "serve": 8,
    "streamlit_patches": 0,
    "sitemap": 0,
    "figures": 5,
    "sentences": 6,
    "testing": 5,
    "users": 5,
    "research": 9,
    "papers": 11,
    "commands": 12,
    "lessons": 12,
    "player": 12,
    "__main__": 13,
    PAGES: 13,
    SITE: 14,
}
STARTS = ("serve", "streamlit_patches")  # Streamlit itself
# What these may import of dprl, and nothing else.
ALONE: dict[str, tuple[str, ...]] = {
    "words": ("messages",),
    "messages": (),
    "metrics": (),
    "theory": ("words",),
    "tables": (),
    "figures": ("assets", "messages", "tables", "words"),
    "sentences": ("figures", "messages", "metrics", "words"),
}


def layer_of(file: Path) -> str:
    top, *rest = file.relative_to(ROOT).with_suffix("").parts
    if top != "dprl":
        return SITE if top == SITE else PAGES
    return API if rest == ["__init__"] else rest[0]


@cache
def imported_modules(file: Path) -> list[tuple[int, str]]:
    """Line and absolute dotted name of everything a file imports, wherever in the file it does."""
    package, found = file.relative_to(ROOT).parts[:-1], []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            source = ".".join(base + ([node.module] if node.module else []))
            found += [(node.lineno, f"{source}.{alias.name}") for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("__import__", "import_module")):
            found += [(node.lineno, str(arg.value)) for arg in node.args[:1] if isinstance(arg, ast.Constant)]
    return found


def target_layer(module: str) -> str | None:
    """The layer an imported dotted name lies in; None outside the project."""
    top, *rest = module.split(".")
    if top != "dprl":
        return {"app": PAGES, "pages": PAGES, SITE: SITE}.get(top)
    part = rest[0] if rest else "__init__"
    is_module = (ROOT / "dprl" / part).is_dir() or (ROOT / "dprl" / f"{part}.py").is_file()
    return part if is_module and part != "__init__" else API


def test_imports_run_one_way() -> None:
    for file in FILES:
        layer = layer_of(file)
        assert layer in RANK, "a new layer needs a rank in this file"
        for line, module in imported_modules(file):
            where = file, line, module
            assert module.split(".")[0] != "streamlit" or layer in (PAGES, *STARTS), where
            target = target_layer(module)
            if target is None or target == layer or target not in RANK:
                continue
            assert target in ALONE[layer] if layer in ALONE else RANK[target] < RANK[layer], where


def test_of_another_page_only_its_links_are_known() -> None:
    doors = ("link", "view", "study")  # what a link to a page is made of; all that others know of it
    for file in (ROOT / "pages").rglob("*.py"):
        own = file.relative_to(ROOT).parts[1]
        for line, module in imported_modules(file):
            top, page, part, *_ = [*module.split("."), "", "", ""]
            assert top != "pages" or page in ("", own, "shared") or part in doors, (file, line, module)


def test_no_files_import_each_other_in_a_circle() -> None:
    files = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in FILES
    }
    graph: TopologicalSorter[str] = TopologicalSorter()
    for name, file in files.items():
        for _, module in imported_modules(file):
            target = module if module in files else module.rpartition(".")[0]
            graph.add(name, *({target} & files.keys() - {name}))
    graph.prepare()  # raises CycleError, which names the files


def test_everything_that_is_imported_is_installed_with_the_program() -> None:
    listed = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed += "\n".join(["", *project["optional-dependencies"]["dashboard"]])
    # for another engine; what Streamlit brings; and what every notebook has
    extras = {"distributed", "pyarrow", "starlette", "IPython"}
    required = extras | {name.replace("-", "_") for name in re.findall(r"^[a-z-]+", listed, re.MULTILINE)}
    imported = {module.split(".")[0] for file in FILES for _, module in imported_modules(file)}
    assert imported - sys.stdlib_module_names - {"app", "dprl", "pages", "website"} == required


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("dprl.runs.workers", {"streamlit", "plotly"}),
        # the command line imports the registries and specs, as pages do
        ("dprl.__main__; dprl.RunSpec().seed_key(0)", {"numba", "scipy", "pandas", "streamlit", "plotly"}),
    ],
)
def test_importing_is_light(code: str, heavy: set[str]) -> None:
    script = f"import sys, {code}; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", script], cwd=ROOT, text=True) == "[]\n"
