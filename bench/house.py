"""How large the house is, and how often one name stands for several things:

    python -m bench.house [--run]

Prints lines, the mean length of a line and the share of docstrings; classes with several owners, and functions of a
module whose name three modules or more have. --run presses Run on Online, as a test of pages does, and lists the files
in which anything is called from the press to the chart, with and without those of a page that is drawn anew.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ("app.py", "dprl", "pages")
OWNED = re.compile(r"^(class|def) (\w+)", re.MULTILINE)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# One run without privacy, and what it takes to reach its page.
PRESSED = {"c": ["priv.none~K.1000~seeds.1"]}


def files(*places: str) -> list[Path]:
    """Python files at or below these places of the project."""
    found = [ROOT / place for place in places]
    return sorted(file for place in found for file in ([place] if place.is_file() else place.rglob("*.py")))


def owners(*places: str) -> dict[tuple[str, str], list[str]]:
    """The files that have a class or a function of this name, by ("class" or "def", name)."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for file in files(*places):
        for what in sorted(set(OWNED.findall(file.read_text(encoding="utf-8")))):
            found[what].append(file.relative_to(ROOT).as_posix())
    return found


def shared(kind: str, least: int) -> dict[str, list[str]]:
    """Names of classes or functions of the source that have at least so many owners."""
    return {name: held for (one, name), held in owners(*SOURCE).items() if one == kind and len(held) >= least}


def size(*places: str) -> tuple[int, float, float]:
    """Lines, signs in a line, and which share of the lines are docstrings."""
    texts = [file.read_text(encoding="utf-8") for file in files(*places)]
    lines = sum(text.count("\n") for text in texts)
    told = 0
    for text in texts:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
                told += (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
    return lines, sum(map(len, texts)) / lines - 1, told / lines


@contextmanager
def called() -> Iterator[set[str]]:
    """The files of the source in which anything is called meanwhile, in any thread."""
    found: set[str] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def pressed() -> dict[str, list[str]]:
    """Files in which anything is called: as Run is pressed, as a seed is computed, and as its chart is drawn."""
    from streamlit.testing.v1 import AppTest

    from dprl.jobs.store import Store
    from dprl.simulation import start
    from pages.shared.layout import frame
    from pages.shared.visitor import presence

    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as home:
        patch.setenv("DPRL_HOME", home)
        patch.setattr(frame, "ensure_pool", lambda: None)
        patch.setattr(presence, "network_address", lambda: "")
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
        app.switch_page("pages/explore/page.py")
        app.query_params["c"] = PRESSED["c"]
        app.run()
        store = Store()
        with called() as anew:
            app.run()
        with called() as asked:
            app.button(key="run").click().run()
        with called() as computed:
            store.jobs.enlist("bench", 1, warm=True)
            while (job := store.jobs.claim("bench")) is not None:
                run = start(job.spec, job.seed)
                while not run.advance():
                    pass
                store.results.report(job, 1.0, *run.curve()[2:])
                store.results.finish(job, run.trace().to_bytes())
        with called() as drawn:
            app.run()
    sides = {"drawn anew": anew, "asked": asked, "computed": computed, "drawn": drawn}
    ours = {file.as_posix() for file in files(*SOURCE)}
    return {side: sorted(found & ours) for side, found in sides.items()}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="store_true")
    given = parser.parse_args()
    for places in (SOURCE, ("tests",), ("bench",), ("website",)):
        lines, length, told = size(*places)
        print(f"{' '.join(places)}: {lines:,} lines of {length:.1f} signs, {told:.1%} docstrings")
    for kind, least in (("class", 2), ("def", 3)):
        many = shared(kind, least)
        print(f"{kind}, {least} owners or more: {len(many)}")
        for name, held in sorted(many.items(), key=lambda one: -len(one[1])):
            print(f"  {name}: {', '.join(held)}")
    if given.run:
        sides = pressed()
        anew = set(sides.pop("drawn anew"))
        all_of_it = {file for found in sides.values() for file in found}
        print(
            f"files of a press of Run: {len(all_of_it)}, and {len(all_of_it - anew)} but for drawing the page anew"
        )
        for side, found in sides.items():
            print(
                f"  {side}, {len(found)}: {' '.join(Path(file).relative_to(ROOT).as_posix() for file in found)}"
            )


if __name__ == "__main__":
    main()
