"""Compiled code on disk: unwanted, or within somebody else's reach."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import pytest

from dprl import engine
from dprl.engine import compiler, disk, folder
from dprl.fields import SpecError
from dprl.runs.store import Store
from tests.problems import left


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
