"""A wheel holds the dashboard, and what is installed from it finds it there, far from any checkout."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from tests.problems import ROOT, python

ASK = """
import dprl.serve
from dprl.__main__ import main
print(dprl.serve.ROOT)
main(["list"])
"""


@pytest.mark.thorough
def test_a_wheel_serves_outside_a_checkout(tmp_path: Path) -> None:
    checkout, site, elsewhere = tmp_path / "checkout", tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    ours = ("app.py", "README.md", "LICENSE", "pyproject.toml", "requirements.txt")
    for name in ("dprl", "deploy", "pages", "website", "assets", ".streamlit"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ours:
        shutil.copy(ROOT / name, checkout / name)
    (checkout / "static/docs").mkdir(parents=True)  # as `make docs` leaves it
    (checkout / "static/docs/index.html").write_text("documents")
    build = f"from setuptools import build_meta\nbuild_meta.build_wheel({str(tmp_path)!r})"
    built = python(build, checkout)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(site)
    said = python(ASK, elsewhere, PYTHONPATH=str(site)).stdout.splitlines()
    dashboard = site / "dprl" / "dashboard"
    assert said[0] == str(dashboard)
    assert any("riverswim" in line for line in said)
    for folder, into in (("dprl", site), ("pages", dashboard), ("website", dashboard), ("assets", dashboard)):
        held = {p.relative_to(ROOT) for p in (ROOT / folder).rglob("*") if p.is_file() and p.suffix != ".pyc"}
        assert {path for path in held if (into / path).is_file()} == held
    assert (dashboard / "static/docs/index.html").read_text() == "documents"
    assert (dashboard / "app.py").is_file()
    assert (dashboard / ".streamlit" / "config.toml").is_file()
