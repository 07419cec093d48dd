"""Hold the size of the house. Every ceiling is the count of today, and may only fall.

Lines are counted as `ruff format` writes them, with blank lines and docstrings. If a change needs more room, remove as
much elsewhere in the same commit. If a room has become smaller, lower its ceiling:

    PYTHONPATH=. python tests/test_budget.py
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CEILINGS = {
    "source": 50_449,
    "dprl/engine": 916,
    "dprl/environments": 1_345,
    "dprl/figures": 4_491,
    "dprl/learners": 4_061,
    "dprl/lessons": 1_229,
    "dprl/mdp": 545,
    "dprl/messages": 192,
    "dprl/metrics": 819,
    "dprl/papers": 1_952,
    "dprl/player": 609,
    "dprl/privacy": 4_132,
    "dprl/research": 1_808,
    "dprl/rooms": 419,
    "dprl/runs": 2_173,
    "dprl/sentences": 1_442,
    "dprl/simulation": 8_344,
    "dprl/statistics": 1_322,
    "dprl/testing": 402,
    "dprl/theory": 324,
    "dprl/uploads": 231,
    "dprl/users": 601,
    "dprl, loose files": 2_236,
    "pages": 10_288,
    "website": 568,
    "tests": 33_463,
    "bench": 2_408,
    "JavaScript": 2_872,
    "TOML": 9_049,
    "docs, words": 44_955,
}


def texts(*patterns: str) -> Iterator[str]:
    """Yield the content of each file once."""
    for path in sorted({path for pattern in patterns for path in ROOT.glob(pattern)}):
        if not {".venv", "build", "static", "__pycache__", "api", "generated"} & {*path.parts}:
            yield path.read_text(encoding="utf-8")


def lines(*patterns: str) -> int:
    return sum(text.count("\n") for text in texts(*patterns))


def counts() -> dict[str, int]:
    """Return the lines of each room, the words of the documents, and the lines of data that stand for code."""
    rooms = sorted(path.name for path in (ROOT / "dprl").iterdir() if (path / "__init__.py").exists())
    found = {f"dprl/{room}": lines(f"dprl/{room}/**/*.py") for room in rooms}
    found |= {
        "dprl, loose files": lines("dprl/*.py"),
        "pages": lines("pages/**/*.py", "app.py"),
        "website": lines("website/**/*.py"),
        "tests": lines("tests/**/*.py"),
        "bench": lines("bench/**/*.py"),
        "JavaScript": lines("assets/**/*.js", "tests/**/*.js"),
        "TOML": lines("dprl/**/*.toml", "docs/**/*.toml"),
        "docs, words": sum(len(re.findall(r"\S+", text)) for text in texts("docs/**/*.md")),
    }
    source = [name for name in found if name.startswith("dprl") or name in ("pages", "website")]
    return {"source": sum(found[name] for name in source)} | found


def test_no_room_is_larger_than_its_ceiling() -> None:
    larger = {name: count for name, count in counts().items() if count > CEILINGS.get(name, 0)}
    assert not larger, f"above the ceilings in tests/test_budget.py: {larger}"


def test_no_ceiling_is_far_above_its_room() -> None:
    """A ceiling that is not lowered holds nothing."""
    found = counts()
    loose = {name: most for name, most in CEILINGS.items() if most > 1.02 * found.get(name, 0) + 20}
    assert not loose, f"lower these ceilings: {loose}"


if __name__ == "__main__":
    path = Path(__file__)
    table = "".join(f'    "{name}": {count:_},\n' for name, count in counts().items())
    changed = re.sub(
        r"CEILINGS.*?= \{.*?\}\n", f"CEILINGS = {{\n{table}}}\n", path.read_text(), count=1, flags=re.S
    )
    path.write_text(changed)
    sys.stdout.write(table)
