"""The private folder in which this program stores its files."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
import stat
from pathlib import Path

from dprl.fields import reject, shown
from dprl.messages import messages

SAID = messages("refusals")["engine"]
_LOCK = "lock"
# prefixes of the names of this program's files
_OURS = ("kernels", "uploads", "budgets", "runs.", "runs-rooms.")
_held: list[int] = []


def home() -> Path:
    """Return the folder for our files: DPRL_HOME, or else ~/.cache/dprl. Raises SpecError if the path is invalid."""
    given = os.environ.get("DPRL_HOME") or "~/.cache/dprl"
    if re.search(r"\$[\w{]", given):
        raise reject("DPRL_HOME", SAID["variable"], path=shown(given))
    try:
        return Path(given).expanduser()
    except RuntimeError:  # unknown user, or one without a home directory
        raise reject("DPRL_HOME", SAID["no_home"], path=shown(given)) from None


def kernels(digest: str) -> Path:
    """Return the folder for code compiled from sources with this digest."""
    return home() / "kernels" / digest


def private(folder: Path) -> None:
    """Create `folder` if necessary, and make it private (mode 0700) unless it also contains other programs' files.
    Raises OSError if it cannot be created."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if all(name.startswith(_OURS) for name in os.listdir(folder)):
        _close(folder)


def make_inside(folder: Path) -> None:
    """Create a folder inside `home` if necessary, and make both private. Raises OSError if this fails."""
    private(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


def write_whole(path: Path, content: bytes, first: bool = False) -> None:
    """Write a private file completely or not at all, and flush it to disk. If `first` is true, keep an existing file.
    Raises OSError if this fails."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if first:
            with contextlib.suppress(FileExistsError):
                os.link(part, path)
        else:
            os.replace(part, path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
    settle(path.parent)


def settle(folder: Path) -> None:
    """Flush a folder's directory entries to disk. Raises OSError if this fails."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def hold(folder: Path) -> bool:
    """Create a folder for compiled code if necessary, and lock it so that `remove_others` keeps it. Return False if
    others own it or can write to it, so that its code cannot be trusted. Raises OSError if it cannot be created."""
    if folder == kernels(folder.name):
        private(home())
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _close(folder.parent)
        _close(folder)
    while True:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # removed since the previous line
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(lock, fcntl.LOCK_SH)
            _held.append(lock)
            if os.path.samestat(os.fstat(lock), os.stat(folder / _LOCK)):
                break
    made = folder.stat()
    return made.st_uid == os.geteuid() and not made.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def remove_others(digest: str) -> None:
    """Remove code compiled from sources with other digests, unless a process has locked it."""
    for folder in kernels(digest).parent.glob("*"):
        if re.fullmatch("[0-9a-f]{16}", folder.name) and folder.name != digest:
            with contextlib.suppress(OSError):  # a folder that remains does no harm
                _remove(folder)


def _remove(folder: Path) -> None:
    lock = os.open(folder / _LOCK, os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises OSError while another process holds it
        shutil.rmtree(folder)
    finally:
        os.close(lock)


def _close(folder: Path) -> None:
    with contextlib.suppress(OSError):  # owned by somebody else, or on a disk without modes
        folder.chmod(0o700)
