"""What a page plays without a server starts from the same bits as a native run, at every stop and seed."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest

from dprl import RunSpec
from dprl.engine.pack import told
from dprl.fields import SpecError
from dprl.simulation import answer, answered, replay
from dprl.simulation.loops.replan import SeedRun
from dprl.simulation.replay import SEEDS, STOPS, TOLD, UNSEEN, light_pack, replayed

SMALL = RunSpec(environment_params={"S": 3, "H": 4}, episodes=10**5, seeds=2, epsilon=0.25)
SPECS = (
    SMALL,
    SMALL.replace(privacy="local"),
    SMALL.replace(privacy="shuffle", episodes=10**4),
    SMALL.replace(mechanism="laplace-tree", calibration="paper"),
    SMALL.baseline(),
)


def bytes_of(content: dict[str, Any]) -> bytes:
    return bytes(content["zeros"]) if "zeros" in content else base64.b64decode(content["bytes"])


def composed(found: dict[str, Any], stop: int, seed: int) -> tuple[list[Any], list[bytes]]:
    """The words and the bytes of the buffers of one seed at one stop, put together as a page does."""
    words, base = list(found["words"]), [bytes_of(content) for content in found["buffers"]]
    contents, at = list(base), found["stops"][stop]
    for number, word in at["words"]:
        words[number] = word
    for number, content in [*at["buffers"], *found["seeds"][seed]]:
        if "by" not in content:
            contents[number] = bytes_of(content)
            continue
        nearly = np.frombuffer(base[number], np.float64) * content["by"]
        off = np.frombuffer(base64.b64decode(content["off"]), np.int8)
        contents[number] = (nearly.view(np.int64) + off).tobytes()
    return words, contents


@pytest.mark.parametrize(
    "spec", [SPECS[0], *(pytest.param(spec, marks=pytest.mark.thorough) for spec in SPECS[1:])]
)
def test_every_stop_and_seed_is_put_together_as_a_native_run_starts(spec: RunSpec) -> None:
    found = json.loads(json.dumps(replayed(spec)))
    assert [stop["epsilon"] for stop in found["stops"]] == replay.stops_of(spec)
    assert len(found["seeds"]) == SEEDS
    rng = np.random.default_rng(0)
    for stop in range(len(found["stops"])):
        seed, epsilon = int(rng.integers(SEEDS)), found["stops"][stop]["epsilon"]
        own = spec if epsilon is None else spec.replace(epsilon=epsilon)
        packed = light_pack(SeedRun(own, seed))
        words, contents = composed(found, stop, seed)
        assert words == told(packed.words)
        differ = {
            buffer.name
            for buffer, content in zip(packed.buffers, contents, strict=True)
            if content != buffer.array.tobytes()
        }
        assert differ <= ({UNSEEN} if TOLD in found["names"] else set()), (epsilon, seed)


def test_a_page_is_prepared_without_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("dprl.simulation.loops.replan.compiled")
    assert replayed(SMALL)["stops"]


def test_the_own_budget_is_a_stop_and_without_privacy_there_is_one() -> None:
    assert replay.stops_of(SMALL) == sorted([*STOPS, 0.25])
    assert replay.stops_of(SMALL.baseline()) == [None]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"mechanism": "gaussian-toeplitz"}, "FFT"),
        ({"environment": "linear-mixture", "environment_params": {}, "algorithm": "ucrl-vtr"}, "LAPACK"),
        (
            {
                "environment_params": {"S": 50, "H": 40},
                "schedule": "episodic",
                "episodes": 10**6,
                "privacy": "none",
            },
            "a browser allows at most 2 s",
        ),
    ],
)
def test_what_cannot_be_played_is_said_in_one_sentence(changes: dict[str, Any], says: str) -> None:
    spec = RunSpec(**changes)
    assert says in replay.unplayable(spec)
    with pytest.raises(SpecError, match=says):
        answered(answer("replay", spec))
