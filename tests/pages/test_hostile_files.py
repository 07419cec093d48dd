"""Files that mean harm: each is read, or refused in one sentence."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from dprl import RunSpec, SpecError, spec_from_json, upload
from dprl.__main__ import main
from dprl.environments.custom import EXAMPLE as MODEL
from dprl.simulation.uploads import kept
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


def environment(data: bytes) -> None:
    """As the uploader of the sidebar."""
    s = Session()
    with patch("streamlit.rerun"):
        panel.received(s, File(data))
    if s.upload_problem:
        raise SpecError("", s.upload_problem)


def text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


# How a file is read, and a good one.
READERS: dict[str, tuple[Callable[[bytes], object], str]] = {
    "spec": (lambda data: spec_from_json(text(data)), json.dumps(RunSpec(environment_params={"H": 5}).to_dict())),
    "environment": (environment, json.dumps(MODEL)),
    "declared": (lambda data: declaration(text(data)), json.dumps(DECLARED)),
    "trajectories": (lambda data: upload(io.BytesIO(data), DECLARED), CSV),
    "prepared": (lambda data: upload(io.BytesIO(data), PREPARED), WARD),
}  # fmt: skip


def somewhere(data: bytes, rng: random.Random) -> tuple[int, int]:
    """Where a value, a name or a field begins and ends."""
    ends = [i for i, byte in enumerate(data[:20_000]) if byte in b",:[]{}\n"] or [0, len(data)]
    at = rng.randrange(len(ends))
    return ends[at] + 1, max(ends[at] + 1, ends[min(at + 1, len(ends) - 1)])


def put(data: bytes, rng: random.Random, text: str) -> bytes:
    """This text in place of some value."""
    start, end = somewhere(data, rng)
    return data[:start] + text.encode("utf-8", "replace") + data[end:]


def harmed(data: bytes, rng: random.Random) -> bytes:
    """The file with one poison: 10^4 deep, with a strange name or number, a bomb, too large, cut short, or no text."""
    at, packed = rng.randint(0, len(data)), gzip.compress(bytes(10**6))
    match rng.choice(["deep", "name", "name", "number", "number", "bomb", "large", "cut", "bytes"]):
        case "deep":
            open_, close = rng.choice([("[", "]"), ('{"a":', "}")])
            return put(data, rng, open_ * DEPTH + "1" + close * (DEPTH if rng.random() < 0.7 else 0))
        case "name":
            name = rng.choice([*NAMES, *POISON])
            return put(data, rng, json.dumps(name) if rng.random() < 0.7 else name)
        case "number":
            return put(data, rng, rng.choice(NUMBERS))
        case "bomb":
            return rng.choice([packed, b"PK\x03\x04" + packed, data + packed])
        case "large":
            start, end = somewhere(data, rng)
            part = data[start : end + 1] or b" "
            return data[:start] + part * (3 * 10**6 // len(part)) + data[end:]
        case "cut":
            return data[:at]
    strange = [b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", rng.randbytes(40)]
    return data[:at] + rng.choice(strange) + data[at:]


def test_hostile_files_are_read_or_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "home", lambda: tmp_path)
    for seed in range(9000, 9060):
        rng = random.Random(seed)
        kind = rng.choice(list(READERS))
        read, good = READERS[kind]
        data = good.encode()
        for _ in range(rng.randint(1, 4)):
            data = harmed(data, rng)
        try:
            read(data)
        except SpecError as error:
            said = str(error)
            assert said.endswith(".")
            assert len(said) < 500
            assert "Traceback" not in said


def test_a_spec_of_200_mb_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "spec.json"
    with path.open("wb") as file:
        file.truncate(200_000_000)  # takes no room
    with pytest.raises(SystemExit) as ended:
        main(["run", "--spec", str(path), "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "dprl: spec: the file has more than 10 MB; give a spec.json.\n"
