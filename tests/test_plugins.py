"""Learners and environments of other packages: found by entry point, and left out with a sentence when they fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

MODULE = """
from dataclasses import replace
from dprl.environments import riverswim
from dprl.learners.tabular import ucbvi

LEARNER = replace(ucbvi.ALGORITHM, key="elsewhere", title="Elsewhere")
WORLD = replace(riverswim.ENVIRONMENT, key="far-river", title="Far river")
TWIN = replace(ucbvi.ALGORITHM, title="Another")
HALF = object()
"""

POINTS = """
[dprl.learners]
elsewhere = outside:LEARNER
gone = outside:GONE
nowhere = no_such_module:LEARNER
twin = outside:TWIN
half = outside:HALF

[dprl.environments]
far-river = outside:WORLD
"""

SCRIPT = """
import dprl
from dprl import plugins
from dprl.simulation import SeedRun
spec = dprl.RunSpec(environment="far-river", environment_params={"S": 3, "H": 2}, algorithm="elsewhere", episodes=3)
print(SeedRun(spec, 0, plain=True).advance(9.0), spec.seed_key(0))
print(dprl.ALGORITHMS["ucbvi"].title)
for sentence in plugins.failures:
    print(sentence)
"""


def outside(path: Path, version: str) -> list[str]:
    """What SCRIPT says, with a package that registers by entry point."""
    info = path / f"outside-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: outside\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(POINTS)
    (path / "outside.py").write_text(MODULE)
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{path}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()


def test_what_is_registered_runs_and_what_fails_is_said(tmp_path: Path) -> None:
    ran, title, *failures = outside(tmp_path / "a", "1.0")
    assert ran.split()[0] == "True"
    assert title == "UCBVI"  # nothing replaces what is here
    assert len(failures) == 4
    for name, reason in (
        ("gone", "could not be loaded: AttributeError"),
        ("nowhere", "could not be loaded: ModuleNotFoundError"),
        ("twin", "already one with the key ucbvi"),
        ("half", "it has no key, title"),
    ):
        (sentence,) = (s for s in failures if f": {name} (" in s)
        assert reason in sentence
        assert sentence.endswith(".")
        assert sentence.isprintable()
    # another version of the package is another result
    again, *_ = outside(tmp_path / "b", "1.1")
    assert again.split()[1] != ran.split()[1]


def test_list_says_what_failed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from dprl import plugins
    from dprl.__main__ import main

    monkeypatch.setattr(plugins, "failures", ["dprl.learners: gone (outside:GONE) could not be loaded: x."])
    assert main(["list"]) == 0
    assert capsys.readouterr().out.endswith("dprl.learners: gone (outside:GONE) could not be loaded: x.\n")
