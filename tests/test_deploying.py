"""For whoever runs a dashboard: the files in deploy/ and .streamlit/, compiled code on disk, how it stands, its log.

And a wheel holds the dashboard: what is installed from it finds it there, far from any checkout.
"""

from __future__ import annotations

import ast
import configparser
import errno
import json
import logging
import os
import re
import shlex
import shutil
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import pandas as pd
import pytest
import yaml
from streamlit import config

from dprl import engine, serve
from dprl.__main__ import main
from dprl.engine import compiler, disk, folder
from dprl.fields import SpecError
from dprl.figures.style import DARK, LIGHT, Theme
from dprl.runs import logs
from dprl.runs.store import Store, default_path, others
from tests.figures.eyes import contrast
from tests.problems import ROOT, left, python
from tests.runs import fake, slots
from tests.runs.fake import FakeSpec
from tests.runs.test_workers import wait_for

DEPLOY = ROOT / "deploy"  # whose images and proxies are not run here
_LINES = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").splitlines()
COPY, RUN = "COPY", "RUN"
STEPS = [(word, rest) for word, _, rest in (line.partition(" ") for line in _LINES) if word not in ("", "#")]


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


# The options in .streamlit/config.toml: Streamlit knows them, and pages and figures share their colours.

OPTIONS = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("option", pd.json_normalize(OPTIONS))
def test_streamlit_knows_the_option(option: str) -> None:
    # Streamlit itself only warns of an unknown option, and goes on without it.
    assert option in config.get_config_options()


@pytest.mark.parametrize(("scheme", "theme"), [("light", LIGHT), ("dark", DARK)])
def test_pages_have_the_figures_ground_and_ink_and_what_is_written_can_be_read(
    scheme: str, theme: Theme
) -> None:
    page = OPTIONS["theme"][scheme]
    assert (page["backgroundColor"], page["textColor"]) == (theme.background.lower(), theme.ink.lower())
    for place in (page, page["sidebar"]):
        for ground in (place["backgroundColor"], place["secondaryBackgroundColor"]):
            assert contrast(page["textColor"], ground) >= 4.5
            assert contrast(page["linkColor"], ground) >= 4.5
    assert contrast(page["primaryColor"], page["backgroundColor"]) >= 3  # drawn, not written
    assert contrast("#ffffff", page["primaryColor"]) >= 4.5


# Compiled code on disk: unwanted, or within somebody else's reach.


def twice(x: int) -> int:
    return 2 * x


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A DPRL_HOME that does not exist yet."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("DPRL_HOME", str(tmp_path / "home"))
    forget()
    yield tmp_path / "home"
    forget()


def forget() -> None:
    """As in a new process."""
    compiler.cache_folder.cache_clear()
    disk._say.cache_clear()
    compiler._announce.cache_clear()


def compiled() -> Any:
    """`twice` as machine code, from disk where it is there."""
    function = compiler.compiled.__wrapped__(twice, "int64(int64)")
    assert function(21) == 42
    return function


def files(home: Path) -> list[Path]:
    return [path for path in home.glob("kernels/**/*") if path.is_file() and path.stat().st_size]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_code_that_cannot_be_kept_runs(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*args: Any, **kwargs: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    compiled()
    compiled()
    [record] = [one for one in caplog.records if one.message.startswith("Compiled kernels")]
    assert record.message.endswith("(No space left on device).")
    assert files(home) == []


def test_damaged_code_is_compiled_again(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    compiled()
    [file] = files(home)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert compiled().stats.cache_misses
    assert caplog.records[-1].message.endswith("were damaged and will be compiled again.")
    assert not compiled().stats.cache_misses


def test_nobody_else_has_access(home: Path) -> None:
    Store(home / "runs.sqlite").close()
    for _ in range(2):
        compiled()
        for path in (home, home / "kernels", files(home)[0].parent):
            assert mode(path) == 0o700
            path.chmod(0o755)  # as earlier versions left them
        forget()


def test_a_folder_that_serves_others_too_stays_open(home: Path) -> None:
    home.mkdir(0o755)
    (home / "something").touch()
    Store(home / "runs.sqlite").close()
    compiled()
    assert (mode(home), mode(home / "kernels")) == (0o755, 0o700)


def test_code_that_others_can_write_is_not_run(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    home.mkdir()
    home.chmod(0o777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(home))
    compiled()
    assert files(home) == []
    [record] = [one for one in caplog.records if one.message.startswith("Compiled kernels")]
    assert "other users can access" in record.message


def test_kernels_that_nobody_can_be_using_are_removed(home: Path) -> None:
    unheld, held = (folder.kernels(letter * 16) for letter in "ab")
    for each in (unheld, held):
        (each / "mdp").mkdir(parents=True)
        (each / "mdp" / "evaluate.nbi").touch()
    (unheld / "lock").touch()
    folder.hold(held)
    strange = home / "kernels" / "mine"
    strange.mkdir()
    engine.cache_folder()
    own = folder.kernels(engine.source_digest())
    assert set((home / "kernels").iterdir()) == {own, held, strange}


@pytest.mark.parametrize("given", ["~no-such-user/x", ""])
def test_without_a_home_directory_the_setting_is_named(
    given: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in a container whose user is a number without an entry in passwd."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("DPRL_HOME", given)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)
    forget()
    said = r"^DPRL_HOME: there is no home directory for ~.*; set it to a folder that can be written to\.$"
    for use in (engine.home, Store, compiled):
        with pytest.raises(SpecError, match=said):
            use()
    left(capsys, "status")


@pytest.mark.parametrize("given", ["$HOME/x", "/tmp/${USER}"])
def test_a_variable_that_no_shell_filled_in_is_no_folder(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPRL_HOME", given)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError, match=r"^DPRL_HOME: .* contains a variable .*; give a full path\.$"):
        Store()
    assert list(tmp_path.iterdir()) == []


def test_a_compiler_that_is_switched_off_is_reported(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    said = r"^NUMBA_DISABLE_JIT: simulations run as compiled code; unset it, or set it to 0\.$"
    with pytest.raises(SpecError, match=said):
        compiled()


# How a dashboard stands, and what it logs.


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    store = Store(default_path(), fake.NAME)
    yield store
    store.close()


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_status_begins_no_store(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "status").startswith(f"store     none at {home / 'runs.sqlite'} yet\n")
    assert json.loads(said(capsys, "status", "--json"))["store"]["exists"] is False
    assert not home.exists()


def test_status_says_how_it_stands_and_names_nobody(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    store.ask(FakeSpec("bad", seeds=1), "ann-the-visitor")
    slots.work(store, slots.failing("Seed 0 failed: it could not be."))
    store.begin(2)
    done, long = FakeSpec("done", seeds=1, seconds=0.1), FakeSpec("long", seeds=3, seconds=60.0)
    store.ask(done, "ann-the-visitor")
    wait_for(lambda: store.status(done).state == "done")
    store.ask(long, "ann-the-visitor")
    wait_for(lambda: any(part["queue"]["seeds_running"] == 2 for part in others(store.path)))
    wait_for(lambda: not store.results.waiting)
    out = said(capsys, "status", "--json")
    found = json.loads(out)
    assert "ann" not in out
    counts = {"runs_waiting": 1, "seeds_queued": 1, "seeds_running": 2, "workers": 2}
    assert found["queue"] == counts | {"seconds_queued": 60.0}
    assert found["errors"] == ["today/bad//0: Seed 0 failed: it could not be."]
    assert found["store"]["results"] == 1
    assert found["versions"]["sources"] == engine.source_digest()
    text = said(capsys, "status")
    for part in (": 1 result, ", "1 run waiting, 1 seed queued (about 60 s on one core), 2 seeds running"):
        assert part in text
    assert "today/bad//0: Seed 0 failed: it could not be." in text


def test_lines_name_the_work_and_not_what_is_in_it(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """A spec may hold a visitor's words, which an error may repeat; so may the visitor's name."""
    caplog.set_level(logging.INFO, "dprl.runs")
    # whatever another library's settings have done to loggers that it did not know
    logging.getLogger("dprl.runs").disabled = False
    for spec in (FakeSpec("fine", seeds=1, seconds=0.01), FakeSpec("secret", seeds=1, act="raise")):
        store.ask(spec, "ann-the-visitor")
        slots.work(store)
    lines = [logs.Lines("worker").format(record) for record in caplog.records]
    found = [json.loads(line) for line in lines]
    assert [line["says"] for line in found[:3]] == ["A run is asked for", "A seed begins", "A seed is done"]
    assert len({line["run"] for line in found[:3]}) == 1
    assert found[2]["key"] == "today/fine//0"
    failed = found[-1]
    assert (failed["level"], failed["error"]) == ("error", "ZeroDivisionError")
    assert failed["key"] == "today/secret/raise/0"
    assert any(place.endswith(" advance") for place in failed["where"])
    assert "no such thing" not in "".join(lines).replace("\\n", " ")
    assert "ann-the-visitor" not in "".join(lines)
    assert all("\n" not in line for line in lines)


@pytest.mark.usefixtures("home")
def test_all_that_a_process_logs_is_an_object_a_line() -> None:
    script = (
        "import logging, warnings; from dprl import serve, streamlit_patches; from dprl.runs import logs;"
        "logs.log_as('server');"
        "streamlit_patches.log_through_ours();"
        "from streamlit.logger import get_logger; get_logger('streamlit.anew').error('theirs');"
        "import uvicorn; uvicorn.Config(app=None); logging.getLogger('uvicorn.error').info('below');"
        "warnings.warn('beware'); serve.print_line('ours')"
    )
    done = python(script, DPRL_LOG="json")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["says"] for line in lines if "beware" not in line["says"]] == ["theirs", "below", "ours"]
    assert len(lines) == 4
    assert done.stdout == ""


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
    for part, into in (("dprl", site), ("pages", dashboard), ("website", dashboard), ("assets", dashboard)):
        held = {p.relative_to(ROOT) for p in (ROOT / part).rglob("*") if p.is_file() and p.suffix != ".pyc"}
        assert {path for path in held if (into / path).is_file()} == held
    assert (dashboard / "static/docs/index.html").read_text() == "documents"
    assert (dashboard / "app.py").is_file()
    assert (dashboard / ".streamlit" / "config.toml").is_file()
