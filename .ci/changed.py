"""Find which thorough tests to run: those of the parts of the program that have changed since all tests passed.

With --lowest it exits with 0 if requirements or uploads have changed since, and 1 otherwise.

.ci/thorough names the commit at which they did: `make test-all` writes it there. Prints the folders and files of
tests, all of them where that commit cannot be had (a clone without history).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PASSED = ROOT / ".ci" / "thorough"
CORE = ("dprl/fields.py", "dprl/engine", "dprl/mdp")
SAID = ("dprl/figures", "dprl/messages", "dprl/sentences")
# Of all tests that something thorough is in: what they alone look at, beside themselves.
PARTS = {
    "tests/browser": (
        "app.py",
        "assets",
        "pages",
        "website",
        "dprl/player",
        "dprl/commands.py",
        ".streamlit",
        *SAID,
    ),
    "tests/contract": ("dprl/testing", "dprl/learners", "dprl/simulation", "dprl/privacy", *CORE),
    "tests/environments": ("dprl/environments", "dprl/testing"),
    "tests/faults": ("dprl/runs", "dprl/engine"),
    "tests/figures": ("dprl/figures",),
    "tests/golden": (
        "dprl/environments",
        "dprl/learners",
        "dprl/privacy",
        "dprl/simulation",
        "dprl/statistics",
        *CORE,
    ),
    "tests/learners": ("dprl/learners", "dprl/statistics", *CORE),
    "tests/pages": ("app.py", "assets", "pages", "dprl/papers", "dprl/links.py", *SAID),
    "tests/privacy": ("dprl/testing", "dprl/privacy", "dprl/statistics", *CORE),
    "tests/runs": ("dprl/runs",),
    "tests/simulation": ("dprl/simulation", "dprl/privacy", "dprl/statistics", *CORE),
    "tests/statistics": ("dprl/statistics", *CORE),
    "tests/test_papers.py": ("dprl/papers", "dprl/__main__.py", "dprl/figures", "assets"),
    "tests/test_cli.py": ("dprl",),
    "tests/test_deploying.py": ("pyproject.toml", "app.py", "dprl/serve.py", "dprl/assets.py"),
    "tests/test_documents.py": ("README.md", "docs", "dprl"),
    "tests/test_plugins.py": ("dprl", "docs/how-to"),
    "tests/test_release.py": ("dprl/simulation/uploads", "dprl/privacy", "bench/release_attack.py"),
    "tests/test_serve.py": ("dprl/serve.py",),
    "tests/test_types.py": ("dprl/research", "dprl/simulation"),
    "tests/test_users.py": ("assets/users.json", "bench/users.py", "dprl/users"),
    "tests/test_website.py": ("website", "assets", "dprl/player", "dprl/commands.py"),
    "tests/wasm": (
        "assets/engine.json",
        "assets/web/engine.js",
        "bench/engine_wasm",
        "dprl/environments",
        "dprl/learners",
        "dprl/privacy",
        "dprl/simulation",
        "dprl/statistics",
        "dprl/player",
        *CORE,
    ),
}


LOWEST = ("requirements.txt", "pyproject.toml", "dprl/simulation/uploads", "tests/contract", ".ci/lowest.sh")


def differs(since: str, paths: tuple[str, ...]) -> bool:
    """Return whether these paths differ from a commit; True if the commit does not exist."""
    command = ["git", "diff", "--quiet", since, "--", *paths]
    return subprocess.run(command, cwd=ROOT, capture_output=True).returncode != 0


def changed(since: str) -> list[str]:
    """Return the tests of the parts that differ from a commit; all tests if the commit does not exist."""
    return [tests for tests, looked_at in PARTS.items() if differs(since, (tests, *looked_at))]


if __name__ == "__main__":
    passed = PASSED.read_text().strip()
    if sys.argv[1:] == ["--lowest"]:
        sys.exit(not differs(passed, LOWEST))
    print(*changed(passed))
