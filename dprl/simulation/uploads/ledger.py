"""Named privacy budgets that outlive a session. Each budget adds up all releases about the same people.

The draws of noise in each release are recorded before they are made. A draw that is requested again, after a reload or
a killed worker, counts once. A recorded draw counts even if it was never shown, so the sum is never too small.

Each time a file is read, a person is either learned from or held out, and draws add up within each of these halves.
Draws from different readings are assumed to be about the same people.
"""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import hashlib
import hmac
import json
import math
import re
import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from dprl.engine import home, make_inside, write_whole
from dprl.fields import SpecError, reject, shown
from dprl.mdp.tabular import Array
from dprl.messages import filled, messages
from dprl.privacy.accounting import gaussian_epsilon, zcdp_of
from dprl.privacy.exact import Apart
from dprl.privacy.guarantee import budget as pair
from dprl.privacy.losses import Gaussian, Losses
from dprl.privacy.privatizers.privatizer import REFERENCE_DELTA
from dprl.simulation.base import Spec
from dprl.simulation.kinds import spec_from_dict
from dprl.simulation.offline_spec import FIELDS
from dprl.simulation.uploads.table import normal
from dprl.words import upward

SAID = messages("refusals")["release"]
FORMAT = "dprl budget 2"
NAME = "budget"
MOST_NAME = 60  # characters
TOTAL = FIELDS["rho"]
KEY = "key"  # the file with the key of all digests


@dataclass(frozen=True)
class Draw:
    """One draw of noise, and how much privacy it costs."""

    key: str  # equal exactly if the noise is the same
    read: str  # the reading of a file that it belongs to
    half: int  # 0 for the people learned from, 1 for those held out
    losses: Losses  # of replacing one person of that half
    apart: Apart  # the distance of noise on the grid from continuous noise


class Spent(NamedTuple):
    """The joint privacy guarantee of several draws of noise, for replacing one person."""

    rho: float  # of zero-concentrated privacy, which adds up (Bun, Steinke 2016, Lemma 1.7)
    apart: Apart  # the total distance of noise on the grid from continuous noise

    def epsilon(self, delta: float) -> float:
        """Return an epsilon for which all draws together are (epsilon, delta)-private. It is exact for Gaussian
        noise with mu^2/2 = rho (Balle, Wang 2018, Theorem 8), apart from the effect of the grid."""
        if self.rho == 0:
            return 0.0
        exact = gaussian_epsilon(math.sqrt(2 * self.rho), self.apart.delta(delta))
        simple = self.rho + 2 * math.sqrt(self.rho * math.log(1 / delta))
        return min(simple, exact + self.apart.up + self.apart.down)

    @property
    def text(self) -> str:
        """Return the guarantee as a short text, such as "ρ = 0.5"."""
        return f"ρ = {upward(self.rho, 4):g}"

    @property
    def implies(self) -> str:
        """Return the epsilon and delta that rho implies, as text."""
        return pair(upward(self.epsilon(REFERENCE_DELTA), 4), REFERENCE_DELTA)


def together(draws: Iterable[Draw]) -> Spent:
    """Return the joint privacy guarantee of several draws; a repeated draw counts once."""
    reads: defaultdict[str, Array] = defaultdict(lambda: np.zeros((2, 3)))  # by half: rho, up and down
    for draw in {draw.key: draw for draw in draws}.values():
        reads[draw.read][draw.half] += zcdp_of(draw.losses), *draw.apart
    rho, up, down = sum((halves.max(0) for halves in reads.values()), np.zeros(3)).tolist()
    return Spent(rho, Apart(up, down))


class Budget:
    """The privacy budget for all releases about one group of people, such as dprl.Budget("ward 2026", rho=1).

    It is stored with its first release, and keyed digests reveal edits by hand.

    Args:
        name: its name on this machine.
        rho: the most that its releases may spend together. By default, they are added up but never refused. The total
            of a budget that has a release cannot be changed.

    Raises:
        SpecError: The name or the number is not allowed, the budget has another total, or it was edited by hand.
    """

    def __init__(self, name: str, *, rho: float | None = None) -> None:
        self.name = checked_name(name)
        self._total = None if rho is None else TOTAL.check(rho)
        total = self.total
        if self._total is not None and total != self._total:
            raise reject(NAME, SAID["total"], name=shown(self.name), total=in_words(total))

    def __repr__(self) -> str:
        return f"Budget({self.name!r}, {in_words(self.total)}, spent {self.spent.text})"

    @classmethod
    def known(cls, name: str) -> bool:
        """Return whether a budget with this name already has a release. Raises SpecError if the name is not allowed."""
        return _path(checked_name(name)).exists()

    @property
    def total(self) -> float | None:
        """Return the declared total rho, or None if the budget has no limit."""
        total: float | None = self._read()["total"]
        return total

    @property
    def left(self) -> float | None:
        """Return how much rho is left, or None if the budget has no limit."""
        total = self.total
        return None if total is None else max(total - self.spent.rho, 0.0)

    @property
    def releases(self) -> tuple[Any, ...]:
        """Return the UploadSpec of each release under this budget, in order, including unfinished ones."""
        return tuple(spec_from_dict(each["spec"]) for each in self._read()["releases"])

    @property
    def draws(self) -> tuple[Draw, ...]:
        """Return all draws of noise recorded under this budget."""
        found = []
        for draw in (draw for release in self._read()["releases"] for draw in release["draws"]):
            losses = tuple(Gaussian(**loss) for loss in draw["losses"])
            found.append(Draw(**draw | {"losses": losses, "apart": Apart(*draw["apart"])}))
        return tuple(found)

    @property
    def spent(self) -> Spent:
        """Return the joint privacy guarantee of all draws under this budget."""
        return together(self.draws)

    def refusal(self, draws: Iterable[Draw]) -> str:
        """Explain in one sentence why these draws exceed the budget; return "" if they fit."""
        total, before = self.total, self.draws
        spent, after = together(before), together((*before, *draws))
        # to the digits that cards show: floats do not add up exactly
        if total is None or after == spent or float(f"{after.rho:.12g}") <= total:
            return ""
        known = {"name": shown(self.name), "total": in_words(total)}
        return filled(SAID["exceeds"], **known, spent=spent.text, after=after.text)

    def charge(self, spec: Spec, draws: tuple[Draw, ...], file: str) -> None:
        """Record a release before its noise is drawn, unless it is already recorded. Raises SpecError if the release
        exceeds the total or cannot be recorded; then no noise may be drawn. `file` is the data file's digest."""
        try:
            make_inside(folder())
            with open(folder() / "lock", "ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                content = self._read()
                if spec.to_dict() in [each["spec"] for each in content["releases"]]:
                    return
                if wrong := self.refusal(draws):
                    raise SpecError(NAME, wrong)
                now = datetime.now(UTC).isoformat(timespec="seconds")
                content["files"].setdefault(file, now)
                release = {"spec": spec.to_dict(), "draws": [asdict(draw) for draw in draws], "asked": now}
                content["releases"].append(release | {"seal": _sealed(_key(), release)})
                content["seal"] = _sealed(_key(), content)
                write_whole(_path(self.name), json.dumps(content, indent=1, ensure_ascii=False).encode())
        except OSError as error:
            raise reject(NAME, SAID["not_recorded"], why=error.strerror) from None

    def _read(self) -> dict[str, Any]:
        """Return the content of the budget's file. Raises SpecError if it is damaged or was edited by hand."""
        try:
            content: dict[str, Any] = json.loads(_path(self.name).read_text(encoding="utf-8"))
            if content["format"] != FORMAT or content["name"].casefold() != self.name.casefold():
                raise ValueError
            where = _edited(content)
        except FileNotFoundError:
            return {"format": FORMAT, "name": self.name, "total": self._total, "files": {}, "releases": []}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise reject(NAME, SAID["damaged"], name=shown(self.name)) from None
        if where:
            raise reject(NAME, SAID["edited"], where=where, name=shown(self.name))
        return content


def _sealed(key: bytes, content: Mapping[str, Any]) -> str:
    """Return the keyed digest (HMAC) of `content` without its seal."""
    text = json.dumps({name: value for name, value in content.items() if name != "seal"}, sort_keys=True)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _edited(content: Mapping[str, Any]) -> str:
    """Return the name of the part of a budget's file that was edited by hand, such as "release 2"; "" if none was."""
    key = known_key() or b""
    parts = {f"release {i}": release for i, release in enumerate(content["releases"], 1)}
    parts["the list"] = content
    intact = (hmac.compare_digest(str(part["seal"]), _sealed(key, part)) for part in parts.values())
    return next((name for name, good in zip(parts, intact, strict=True) if not good), "")


def checked_name(name: str) -> str:
    """Return a budget's name in normal form. Raises SpecError if the name is not allowed."""
    found = re.sub(" +", " ", normal(name)) if isinstance(name, str) else ""
    if not 1 <= len(found) <= MOST_NAME or not found.isprintable():
        raise SpecError(NAME, f"{shown(name)} is not a name; give 1 to {MOST_NAME} printable characters.")
    return found


def read_before(file: str) -> list[tuple[str, str]]:
    """Return the names of the budgets under which a file with this digest was read before, with the dates."""
    found = []
    for path in folder().glob("*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            content = json.loads(path.read_text(encoding="utf-8"))
            if file in content["files"]:
                found.append((str(content["name"]), str(content["files"][file])[:10]))
    return sorted(found)


def digest_of(file: BinaryIO | Path, key: bytes | None = None) -> str:
    """Return a file's digest, keyed to this machine, ignoring line endings and empty lines. Raises SpecError."""
    try:
        found = hmac.new(key or _key(), digestmod=hashlib.sha256)
        with contextlib.ExitStack() as stack:
            opened = stack.enter_context(open(file, "rb")) if isinstance(file, Path) else file
            opened.seek(0)
            for line in opened:
                if words := line.removeprefix(codecs.BOM_UTF8).rstrip():
                    found.update(words + b"\n")
            opened.seek(0)
    except OSError as error:
        raise SpecError("data", f"the file cannot be read ({error.strerror}).") from None
    return found.hexdigest()


def folder() -> Path:
    return home() / "budgets"


def known_key() -> bytes | None:
    """Return the secret key for the digests, or None if none has been created yet."""
    with contextlib.suppress(FileNotFoundError):
        return (folder() / KEY).read_bytes()
    return None


def _key() -> bytes:
    """Return the secret key for the digests, which is drawn and stored on first use."""
    make_inside(folder())
    if not (path := folder() / KEY).exists():
        write_whole(path, secrets.token_bytes(32), first=True)
    return path.read_bytes()


def _path(name: str) -> Path:
    return folder() / f"{hashlib.sha256(name.casefold().encode()).hexdigest()[:32]}.json"


def in_words(total: float | None) -> str:
    """Return a budget's total as a phrase, such as "the total ρ = 1"."""
    return "no total" if total is None else f"the total ρ = {total:g}"
