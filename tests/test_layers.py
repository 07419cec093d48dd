"""Imports run one way, and only the pages know Streamlit."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
API = "(public API)"  # dprl/__init__.py
PAGES = "pages"  # pages/ and app.py
SITE = "website"
FILES = [file for folder in ("dprl", "pages", SITE) for file in (ROOT / folder).rglob("*.py")] + [
    ROOT / "app.py"
]

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


def layer_of(file: Path, root: Path) -> str:
    """The layer that a file below the repository's root belongs to."""
    top, *rest = file.relative_to(root).with_suffix("").parts
    if top != "dprl":
        return SITE if top == SITE else PAGES
    return API if rest == ["__init__"] else rest[0]


@cache
def imported_modules(file: Path, root: Path) -> tuple[tuple[int, str], ...]:
    """Line and absolute dotted name of everything a file imports, wherever in the file it does."""
    return tuple(_imports(file, root))


def _imports(file: Path, root: Path) -> Iterator[tuple[int, str]]:
    package = file.relative_to(root).parts[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            source = ".".join(base + ([node.module] if node.module else []))
            for alias in node.names:
                yield node.lineno, f"{source}.{alias.name}"
        elif (
            isinstance(node, ast.Call)
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and ast.unparse(node.func) in ("__import__", "import_module", "importlib.import_module")
        ):
            yield node.lineno, str(node.args[0].value)


def target_layer(module: str, root: Path) -> str | None:
    """The layer an imported dotted name lies in; None outside the project."""
    top, *rest = module.split(".")
    if top in ("app", "pages"):
        return PAGES
    if top == SITE:
        return SITE
    if top != "dprl":
        return None
    part = rest[0] if rest else "__init__"
    is_module = (root / "dprl" / part).is_dir() or (root / "dprl" / f"{part}.py").is_file()
    return part if is_module and part != "__init__" else API


def violations(root: Path) -> list[str]:
    """One sentence for every import below `root` that breaks the rules."""
    found = []
    files = sorted((root / "dprl").rglob("*.py")) + sorted((root / "pages").rglob("*.py"))
    files += sorted((root / SITE).rglob("*.py"))
    for file in [*files, *root.glob("app.py")]:
        layer = layer_of(file, root)
        if layer not in RANK:
            found.append(
                f"{file.relative_to(root)}: the new layer {layer} needs a rank in {Path(__file__).name}"
            )
            continue
        for line, module in imported_modules(file, root):
            where = f"{file.relative_to(root)}:{line}"
            if module.split(".")[0] == "streamlit" and layer not in (PAGES, *STARTS):
                found.append(f"{where}: only app.py and pages/ import streamlit")
            target = target_layer(module, root)
            if target is None or target == layer or target not in RANK:
                continue
            if layer in ALONE:
                if target not in ALONE[layer]:
                    found.append(f"{where}: {layer} stands alone and must not import {module}")
            elif RANK[target] >= RANK[layer]:
                found.append(f"{where}: {layer} must not import {module}")
    return found


DOORS = ("link", "view", "study")  # of a page: what a link to it is made of; all that others know of it


def between_pages(root: Path) -> list[str]:
    """One sentence for every import from a page of what is another's, and is no door of it."""
    found = []
    for file in sorted((root / "pages").rglob("*.py")):
        own = file.relative_to(root).parts[1]
        for line, module in imported_modules(file, root):
            top, page, part, *_ = [*module.split("."), "", "", ""]
            if top == "pages" and page not in ("", own, "shared") and part not in DOORS:
                found.append(
                    f"{file.relative_to(root)}:{line}: of {page} only {', '.join(DOORS)}, not {module}"
                )
    return found


def test_of_another_page_only_its_links_are_known() -> None:
    assert between_pages(ROOT) == []


def test_imports_run_one_way() -> None:
    assert violations(ROOT) == []


def test_no_files_import_each_other_in_a_circle() -> None:
    files = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in FILES
    }
    graph: TopologicalSorter[str] = TopologicalSorter()
    for name, file in files.items():
        for _, module in imported_modules(file, ROOT):
            graph.add(
                name, *({module if module in files else module.rpartition(".")[0]} & files.keys() - {name})
            )
    graph.prepare()  # raises CycleError, which names the files


def test_everything_that_is_imported_is_installed_with_the_program() -> None:
    listed = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    listed += "\n".join(["", *extra["dashboard"]])
    # for another engine; what Streamlit brings; and what every notebook has
    extras = {"distributed", "pyarrow", "starlette", "IPython"}
    required = extras | {name.replace("-", "_") for name in re.findall(r"^[a-z-]+", listed, re.MULTILINE)}
    imported = {module.split(".")[0] for file in FILES for _, module in imported_modules(file, ROOT)}
    assert imported - sys.stdlib_module_names - {"app", "dprl", "pages", "website"} == required


def test_a_worker_loads_neither_streamlit_nor_plotly() -> None:
    script = "import sys, dprl.runs.workers; print(sorted({'streamlit', 'plotly'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", script], cwd=ROOT, text=True) == "[]\n"


LONGEST = 400  # lines of a source file


def test_no_source_file_is_too_long_to_be_read_at_once() -> None:
    folders = [ROOT / name for name in ("dprl", "pages", "bench")]
    files = [ROOT / "app.py", *(file for folder in folders for file in folder.rglob("*.py"))]
    lines = {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8").count("\n") for file in files}
    assert {name: count for name, count in lines.items() if count > LONGEST} == {}
