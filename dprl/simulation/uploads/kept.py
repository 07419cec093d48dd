"""Store the counts of an uploaded data set for at most a day, in a file that only this user of the computer can open.

The uploaded file itself is not stored. The counts have a random name, because a digest of the data could confirm a
guess. Noisy sums are stored before they are shown, until the counts are deleted, so that noise of one scale is drawn
only once, even if a process is killed meanwhile.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import json
import os
import re
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from dprl.engine import home, make_inside, settle, write_whole
from dprl.fields import SpecError, reject
from dprl.mdp.tabular import Array
from dprl.messages import filled, messages
from dprl.privacy.exact import BITS
from dprl.simulation.uploads.check import HeldOut, joined
from dprl.simulation.uploads.declaration import Declaration, declaration
from dprl.simulation.uploads.prepare import Counted

HOURS = 24
NAME = re.compile("[0-9a-f]{32}")
DIGEST = hashlib.sha256().digest_size  # bytes at the beginning of a file of noisy sums
SAID = messages("refusals")["kept"]
GONE = filled(SAID["gone"], hours=HOURS)
# a data set's privacy budget: its name and total, whether it already had a release, and the data file's digest
Under = tuple[str, float | None, bool, str]
HELD = "session"  # suffix of a file that is locked for as long as the counts belong to a session


class Kept(NamedTuple):
    """The stored counts of the people to learn from [H, S, A, S + 2] and of the people held out. `n` is the number of
    all people, and `under` is the budget for releases, or None."""

    record: Array
    n: int
    declared: Declaration
    held: HeldOut
    under: Under | None


def folder() -> Path:
    return home() / "uploads"


def keep(name: str, found: Counted, declared: Declaration, under: Under | None) -> None:
    """Store a file's counts under a name, with the budget (or None) that records releases. Raises SpecError."""
    records, numbers, returns, _ = zip(*(found.held.groups or [found.held]), strict=True)
    path = _path(name)
    words = {"declared": declared.text, "bits": BITS, "under": under}
    try:
        make_inside(folder())
        remove_old()
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as kept:
            np.savez_compressed(
                kept, record=found.record, n=found.n, records=records, numbers=numbers, returns=returns,
                words=np.array(json.dumps(words)),
            )  # fmt: skip
    except OSError as error:
        path.unlink(missing_ok=True)
        raise _not_stored(error) from None


def _not_stored(error: OSError) -> SpecError:
    return SpecError("data", f"the counts cannot be stored ({error.strerror}).")


def new_name() -> str:
    """Draw a random name that nobody can guess."""
    return os.urandom(16).hex()


def hold(name: str) -> BinaryIO:
    """Protect a data set's counts from deletion until the returned file is closed. Raises SpecError."""
    try:
        make_inside(folder())
        marker = os.fdopen(os.open(_path(name, HELD), os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        fcntl.flock(marker, fcntl.LOCK_EX)
    except OSError as error:
        raise _not_stored(error) from None
    return marker


def there(name: str) -> bool:
    return _path(name).exists()


def held(name: str) -> Kept:
    """Return the data set stored under a name. Raises SpecError if it no longer exists."""
    try:
        remove_old()
        with np.load(_path(name), allow_pickle=False) as kept:
            words = json.loads(str(kept["words"]))
            if words["bits"] != BITS:  # from an older version, which drew noise differently
                raise KeyError
            held = joined(map(HeldOut, kept["records"], kept["numbers"].tolist(), kept["returns"]))
            return Kept(kept["record"], int(kept["n"]), declaration(words["declared"]), held, words["under"])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        raise SpecError("data", GONE) from None


def drawn_sums(name: str, which: str) -> dict[str, Array] | None:
    """Return a data set's stored sums with the noise that `which` identifies, or None. Raises SpecError."""
    path = _drawn_path(name, which)
    try:
        content = path.read_bytes()
        settle(folder())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise reject("data", SAID["unread"], why=error.strerror) from None
    digest, words = content[:DIGEST], content[DIGEST:]
    if digest != _digest(path, words):
        raise reject("data", SAID["unread"], why="damaged")
    with np.load(io.BytesIO(words), allow_pickle=False) as found:
        return dict(found)


def drawn(name: str) -> bool:
    """Return whether any noisy sums are stored under a data set's name."""
    return any(NAME.fullmatch(path.name.partition(".")[2]) for path in folder().glob(f"{name}.*"))


def write_down(name: str, which: str, sums: Mapping[str, Array]) -> dict[str, Array]:
    """Store a data set's noisy sums for as long as its counts are stored, and return the sums that are now stored.

    If another process has stored sums meanwhile, those stay, and these are discarded. Raises SpecError if they cannot
    be stored or the data set is gone; then they must not be shown.
    """
    path, words = _drawn_path(name, which), io.BytesIO()
    np.savez(words, allow_pickle=False, **sums)
    content = _digest(path, words.getvalue()) + words.getvalue()
    try:
        write_whole(path, content, first=True)
    except OSError as error:
        raise reject("data", SAID["not_stored"], why=error.strerror) from None
    # counts are deleted before noisy sums, so if the counts still exist, no earlier draw has been deleted
    if there(name) and (found := drawn_sums(name, which)) is not None:
        return found
    with contextlib.suppress(OSError):
        path.unlink()
    raise SpecError("data", GONE)


def _drawn_path(name: str, which: str) -> Path:
    return _path(name, hashlib.sha256(which.encode()).hexdigest()[:32])


def _digest(path: Path, words: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + words).digest()


def forget(name: str) -> None:
    """Delete all data under a name, starting with the counts, so that no further noise can be drawn for them."""
    with contextlib.suppress(OSError):
        _path(name).unlink(missing_ok=True)
        for path in folder().glob(f"{name}.*"):
            path.unlink(missing_ok=True)


def _path(name: str, suffix: str = "npz") -> Path:
    if not NAME.fullmatch(name):
        raise SpecError("data", "this is not the name of a data set that is stored here.")
    return folder() / f"{name}.{suffix}"


def remove_old() -> None:
    """Delete data sets that are older than HOURS or whose sessions have ended."""
    for name in {path.name.partition(".")[0] for path in folder().glob("*.*")}:
        if NAME.fullmatch(name):
            with contextlib.suppress(OSError):
                if _is_old(name):
                    forget(name)


def _is_old(name: str) -> bool:
    counts = _path(name)
    if counts.exists() and time.time() - counts.stat().st_mtime > HOURS * 3600:
        return True
    try:
        with open(_path(name, HELD), "rb") as marker:  # it exists even before the counts do
            fcntl.flock(marker, fcntl.LOCK_SH | fcntl.LOCK_NB)  # raises OSError while somebody holds them
    except FileNotFoundError:  # nobody ever held them
        return not counts.exists()
    return True
