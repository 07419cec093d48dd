"""Hostile files: each is read, or refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from dprl.__main__ import main
from dprl.simulation.uploads import kept
from tests.pages.hostile_files import READERS, hostile_file


def test_hostile_files_are_read_or_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "home", lambda: tmp_path)
    for seed in range(9000, 9060):
        kind, data = hostile_file(seed)
        said = READERS[kind][0](data)
        assert not said or said.endswith("."), (seed, kind, said)
        assert len(said) < 500, (seed, kind, said)
        assert "Traceback" not in said, (seed, kind, said)


def test_a_spec_of_200_mb_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "spec.json"
    with path.open("wb") as file:
        file.truncate(200_000_000)  # takes no room
    with pytest.raises(SystemExit) as ended:
        main(["run", "--spec", str(path), "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "dprl: spec: the file has more than 10 MB; give a spec.json.\n"
