"""What .ci/run compares in Node and Firefox, and what it says where Firefox is not to be had."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bench import same_bits
from tests.test_layers import ROOT
from tests.wasm.browser import PLAY
from tests.wasm.cases import Case, small

CASE = Case("short", small(algorithm="ucbvi", privacy="none", episodes=1_000))


@pytest.mark.parametrize(
    ("programs", "status", "says"),
    [
        ({"firefox-esr": ""}, 0, ""),
        ({"id": "echo 1000"}, 3, "not compared"),
        ({"id": "echo 0", "apt-get": "", "apt-cache": "exit 100"}, 3, "not compared"),
        ({"id": "echo 0", "apt-get": "", "apt-cache": ""}, 1, "could not be installed"),
    ],
    ids=["there", "nobody may install it", "no such package", "installing fails"],
)
def test_where_firefox_is_not_to_be_had_it_is_said(
    tmp_path: Path, programs: dict[str, str], status: int, says: str
) -> None:
    for name, does in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    ended = subprocess.run(
        ["/bin/sh", ROOT / "tests/browser/firefox.sh"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, says in ended.stderr) == (status, True)


def test_what_is_compared_is_said_and_another_bit_is_found(
    in_node: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Wrong:
        """Node, with another first byte in each array."""

        def evaluate(self, function: str, argument: object = None) -> Any:
            answer = in_node.evaluate(function, argument)
            if function != PLAY:
                return answer
            return [text and ("B" if text[0] == "A" else "A") + text[1:] for text in answer]

    @contextmanager
    def handed(engine: Any) -> Iterator[Any]:
        yield engine

    monkeypatch.setattr(
        same_bits,
        "ENGINES",
        {"node": lambda: handed(in_node), "wrong": lambda: handed(Wrong()), "absent": lambda: handed(None)},
    )
    assert same_bits.compare(["node"], [CASE]) == 0
    said = capsys.readouterr().out
    assert "1 of 1 runs have the bits of the native kernels" in said
    assert "Not compared here: absent, wrong." in said
    assert same_bits.compare(["wrong"], [CASE]) == 1
    assert ": short: " in capsys.readouterr().out
