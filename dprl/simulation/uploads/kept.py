"""What is kept of an uploaded data set: its counts, for a day, in a file that only this user can open.

The file itself is read and not kept. The name of what is kept is drawn at random: a digest of the data would tell
everybody who can guess the data that the guess is right. Noise comes from a secret that is kept beside the counts, so
that nobody who reads a spec can draw it again; noise of one scale is drawn once, so that one release stays one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from dprl.fields import SpecError
from dprl.kernels import home, private
from dprl.mdp.tabular import Array
from dprl.simulation.uploads.declaration import Declaration, declaration
from dprl.simulation.uploads.outside import Outside

HOURS = 24
NAME = re.compile("[0-9a-f]{32}")


class Kept(NamedTuple):
    """A data set. record: [H, S, A, S + 2] its counts; n: its trajectories; secret: of its noise."""

    record: Array
    n: int
    declared: Declaration
    secret: bytes

    def rng(self, mechanism: str, scales: Mapping[str, float]) -> np.random.Generator:
        """Noise for these scales: the same for the same ones, and for others independent of it."""
        which = json.dumps([mechanism, scales], sort_keys=True).encode()
        seed = int.from_bytes(hashlib.sha256(self.secret + which).digest())
        return np.random.Generator(np.random.SFC64(seed))


def folder() -> Path:
    """Where data sets are kept."""
    return home() / "uploads"


def keep(
    file: BinaryIO | Path, declared: Declaration, tell: Callable[[Outside], object] | None = None
) -> tuple[str, int]:
    """Count a file of trajectories, and keep the counts. tell: see `counted`.

    Returns:
        The name that they are kept under, and the number n of trajectories.

    Raises:
        SpecError: the file is malformed, or cannot be kept.
    """
    from dprl.simulation.uploads.reading import counted  # and with it pandas

    record, n = counted(file, declared, tell)
    name = secrets.token_hex(16)
    path = _path(name)
    try:
        private(home())
        path.parent.mkdir(mode=0o700, exist_ok=True)
        remove_old()
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as kept:
            words = {"declared": declared.text, "secret": secrets.token_hex(32)}
            np.savez_compressed(kept, record=record, n=n, words=np.array(json.dumps(words)))
    except OSError as error:
        path.unlink(missing_ok=True)
        raise SpecError("data", f"the counts cannot be kept ({error.strerror}).") from None
    return name, n


def held(name: str) -> Kept:
    """The data set that is kept under a name. Raises SpecError where none is, any more."""
    try:
        remove_old()
        with np.load(_path(name), allow_pickle=False) as kept:
            words = json.loads(str(kept["words"]))
            return Kept(
                kept["record"], int(kept["n"]), declaration(words["declared"]), bytes.fromhex(words["secret"])
            )
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        raise SpecError(
            "data",
            f"this data set is not kept here, or no longer: counts are forgotten after {HOURS} hours; give its file "
            "again.",
        ) from None


def forget(name: str) -> None:
    """Delete what is kept under a name."""
    with contextlib.suppress(OSError):
        _path(name).unlink()


def _path(name: str) -> Path:
    if not NAME.fullmatch(name):
        raise SpecError("data", "this is not the name of a data set that is kept here.")
    return folder() / f"{name}.npz"


def remove_old() -> None:
    """Delete what is older than HOURS; whoever keeps or reads a data set does, and each worker when it starts."""
    for path in folder().glob("*.npz"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > HOURS * 3600:
                path.unlink()
