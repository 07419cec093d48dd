"""The files in deploy/: what they name is there. Their images and proxies are not run here."""

from __future__ import annotations

import ast
import configparser
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from dprl import serve
from dprl.__main__ import main
from tests.faults.steps import COPY, STEPS

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"


def test_settings_that_are_named_exist() -> None:
    settings = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    known = set(re.findall(r"`(DPRL_\w+)`", settings))
    for file in [*filter(Path.is_file, DEPLOY.iterdir()), ROOT / "docs/how-to/deploying.md"]:
        named = set(re.findall(r"DPRL_[A-Z_]+", file.read_text(encoding="utf-8")))
        assert named <= known, file.name


def served(command: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """Where the command line of `dprl` would serve."""
    places: list[tuple[str, int]] = []
    monkeypatch.setattr(serve, "main", lambda host, port: places.append((host, port)))
    assert Path(command[0]).name == "dprl"
    main(command[1:])
    return places[0]


def test_the_image_runs_what_there_is_as_a_user_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [word for word, _ in STEPS]
    sources = [source for word, rest in STEPS if word == COPY for source in rest.split()[:-1]]
    assert all((ROOT / source).exists() for source in sources if not source.startswith(("--", "/")))
    assert served(json.loads(dict(STEPS)["CMD"]), monkeypatch) == ("0.0.0.0", 8501)
    user = words.index("USER")
    assert all(STEPS[i][1].startswith("python -c") for i in range(user, len(STEPS)) if words[i] == "RUN")
    health = dict(STEPS)["HEALTHCHECK"]
    assert "'http://127.0.0.1:8501/_stcore/health'" in health
    for step in (rest for word, rest in STEPS if "python -c" in rest):
        ast.parse(shlex.split(step)[-1])
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert not {"dprl", "pages", "website", "assets", "app.py", ".streamlit", "README.md", "LICENSE"} & set(
        ignored
    )


def test_compose_names_what_there_is() -> None:
    compose: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    dashboard, proxy = compose["services"]["dashboard"], compose["services"]["proxy"]
    assert (DEPLOY / dashboard["build"]["context"] / dashboard["build"]["dockerfile"]).is_file()
    assert dashboard["volumes"] == [f"runs:{dict(STEPS)['VOLUME']}"]
    assert proxy["environment"]["DASHBOARD"] == f"dashboard:{dict(STEPS)['EXPOSE']}"
    assert (DEPLOY / proxy["volumes"][0].split(":")[0]).is_file()
    assert "ports" not in dashboard  # only then may anybody who reaches it say who is behind
    assert set(compose["volumes"]) == {"runs", "certificates"}


def test_the_unit_runs_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = configparser.ConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DEPLOY / "dprl.service", encoding="utf-8")
    service = unit["Service"]
    assert served(service["ExecStart"].split(), monkeypatch) == ("127.0.0.1", 8501)
    assert f"DPRL_HOME=/var/lib/{service['StateDirectory']}" in service["Environment"].split()
    assert float(service["TimeoutStopSec"]) > serve.END_LIMIT + 10.0  # and the workers' end
