"""Files that mean harm: specs, environments, declarations and trajectories, and what becomes of each."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from dprl import RunSpec, SpecError, spec_from_json, upload
from dprl.environments.custom import EXAMPLE as MODEL
from dprl.simulation.uploads.declaration import declaration
from pages.shared.controls import panel
from pages.shared.visitor.state import Session
from tests.pages.hostile import POISON
from tests.two_rooms import EXAMPLE as DECLARED

DEPTH = 10_000
NAMES = [
    "<img src=x onerror=alert(1)>",
    "=cmd|'/C calc'!A0",
    "+1+1",
    "@SUM(A1)",
    "-2",
    "<script>",
    "a,b\n=1",
    "\u202e",
]
NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "-1e308", "9" * 5000, "1e-400", "0x10", "null", "true"]
CSV = "episode,step,state,action,reward,next_state\n" + "".join(
    f"{who},{step},{DECLARED['states'][0]},{DECLARED['actions'][0]},0,{DECLARED['states'][-1]}\n"
    for who in range(20)
    for step in range(int(DECLARED["horizon"]))
)


WARD = "who,visit,severity,age,drug,gain\n" + "".join(
    f"{who},{step},{'mild' if who % 2 else 'severe'},{40 + who},watch,0.5\n"
    for who in range(20)
    for step in range(1 + who % 3)
)
PREPARED = {
    "states": {"severity": ["mild", "severe"], "age": [40, 50]},
    "actions": ["watch", "treat"],
    "horizon": 3,
    "columns": {"episode": "who", "step": "visit", "action": "drug", "reward": "gain"},
    "absorbing": "gone",
}


class File:
    """As an uploader hands it over."""

    def __init__(self, data: bytes) -> None:
        self.getvalue = lambda: data
        self.size = len(data)


def spec(data: bytes) -> str:
    """As `dprl run --spec`."""
    return said(spec_from_json, data.decode("utf-8", "replace"))


def environment(data: bytes) -> str:
    """As the uploader of the sidebar."""
    s = Session()
    with patch("streamlit.rerun"):
        panel.received(s, File(data))
    return s.upload_problem


def declared(data: bytes) -> str:
    """As the uploader of a declaration."""
    return said(declaration, data.decode("utf-8", "replace"))


def trajectories(data: bytes) -> str:
    """As the uploader of Offline."""
    return said(lambda file: upload(io.BytesIO(file), DECLARED), data)


def prepared(data: bytes) -> str:
    """The same where columns, bins and shorter episodes are declared."""
    return said(lambda file: upload(io.BytesIO(file), PREPARED), data)


def said(read: Callable[[Any], object], given: Any) -> str:
    """The sentence with which it is refused, "" where it is read."""
    try:
        read(given)
    except SpecError as error:
        return str(error)
    return ""


# How a file is read, and a good one.
READERS: dict[str, tuple[Callable[[bytes], str], bytes]] = {
    "spec": (spec, json.dumps(RunSpec(environment_params={"H": 5}).to_dict()).encode()),
    "environment": (environment, json.dumps(MODEL).encode()),
    "declared": (declared, json.dumps(DECLARED).encode()),
    "trajectories": (trajectories, CSV.encode()),
    "prepared": (prepared, WARD.encode()),
}


def hostile_file(seed: int) -> tuple[str, bytes]:
    """What it is given as, and the file: a good one, poisoned in up to four places."""
    rng = random.Random(seed)
    kind = rng.choice(list(READERS))
    data = READERS[kind][1]
    for _ in range(rng.randint(1, 4)):
        data = rng.choice(HARMS)(data, rng)
    return kind, data


def somewhere(data: bytes, rng: random.Random) -> tuple[int, int]:
    """Where a value, a name or a field begins and ends."""
    ends = [i for i, byte in enumerate(data[:20_000]) if byte in b",:[]{}\n"] or [0, len(data)]
    at = rng.randrange(len(ends))
    return ends[at] + 1, max(ends[at] + 1, ends[min(at + 1, len(ends) - 1)])


def put(data: bytes, rng: random.Random, text: str) -> bytes:
    """This text in place of some value."""
    start, end = somewhere(data, rng)
    return data[:start] + text.encode("utf-8", "replace") + data[end:]


def deep(data: bytes, rng: random.Random) -> bytes:
    """A value 10^4 deep."""
    open_, close = rng.choice([("[", "]"), ('{"a":', "}")])
    return put(data, rng, open_ * DEPTH + "1" + close * (DEPTH if rng.random() < 0.7 else 0))


def named(data: bytes, rng: random.Random) -> bytes:
    """A name of HTML, or one that a spreadsheet takes for a formula."""
    name = rng.choice([*NAMES, *POISON])
    return put(data, rng, json.dumps(name) if rng.random() < 0.7 else name)


def number(data: bytes, rng: random.Random) -> bytes:
    """A number that is none, or out of all range."""
    return put(data, rng, rng.choice(NUMBERS))


def bomb(data: bytes, rng: random.Random) -> bytes:
    """Few bytes that are many when they are unpacked."""
    packed = gzip.compress(bytes(10**6))
    return rng.choice([packed, b"PK\x03\x04" + packed, data + packed])


def large(data: bytes, rng: random.Random) -> bytes:
    """A part of it again and again."""
    start, end = somewhere(data, rng)
    part = data[start : end + 1] or b" "
    return data[:start] + part * (3 * 10**6 // len(part)) + data[end:]


def cut(data: bytes, rng: random.Random) -> bytes:
    """Not all of it."""
    return data[: rng.randint(0, len(data))]


def bytes_(data: bytes, rng: random.Random) -> bytes:
    """Bytes that are no text."""
    at = rng.randint(0, len(data))
    return (
        data[:at]
        + rng.choice([b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", rng.randbytes(40)])
        + data[at:]
    )


HARMS: list[Callable[[bytes, random.Random], bytes]] = [
    deep,
    named,
    named,
    number,
    number,
    bomb,
    large,
    cut,
    bytes_,
]
