"""The command line: three files, one line for a bad argument, and a package that imports lightly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pandas as pd
import pytest

import dprl.__main__ as cli
from dprl import ALGORITHMS, ENVIRONMENTS, MECHANISMS, OFFLINE, RunSpec, __version__, run, spec_from_json
from dprl.__main__ import main
from dprl.commands import versions
from dprl.engine import kernels, source_digest
from dprl.privacy import PRIVATIZERS
from dprl.runs.store import opened
from dprl.simulation import FIELDS
from tests.problems import left
from tests.simulation.test_spec import from_strings
from tests.simulation.test_trace import SUMMARY

SMALL = ["--env-param", "S=3", "--env-param", "H=4", "--episodes", "1e4", "--seeds", "2"]


def files(out: Path) -> tuple[RunSpec, pd.DataFrame, dict[str, float | None]]:
    spec = spec_from_json((out / "spec.json").read_text(encoding="utf-8"))
    assert isinstance(spec, RunSpec)
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    return spec, pd.read_csv(out / "regret.csv"), summary


def test_run_writes_its_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "folder"
    assert main(["run", *SMALL, "--out", str(out)]) == 0
    assert {f.name for f in out.iterdir()} == {"regret.csv", "spec.json", "summary.json", "versions.json"}
    assert json.loads((out / "versions.json").read_text(encoding="utf-8")) == versions()
    spec, regret, summary = files(out)
    assert spec == RunSpec(environment_params={"S": 3, "H": 4}, episodes=10**4, seeds=2)
    assert list(json.loads((out / "spec.json").read_text())) == list(FIELDS)
    assert list(regret.columns) == ["seed", "episode", "regret"]
    assert regret["seed"].unique().tolist() == [0, 1]
    assert (regret.groupby("seed")["episode"].last() == 10**4).all()
    assert regret["episode"].dtype == "int64"
    assert list(summary) == SUMMARY
    trace = run(spec)
    pd.testing.assert_frame_equal(regret, trace.frame())
    assert summary["final_regret_mean"] == pytest.approx(trace.summary()["final_regret_mean"])
    said, err = capsys.readouterr()
    assert (said.count("\n"), err) == (1, "")  # no progress bar: not a terminal


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--privacy none --episodes 1e7", ""),
        ("--privacy none --bonus paper", "did not find the best policy in 2 of 2 seeds"),
    ],
)
def test_what_a_run_does_not_say_is_said(
    flags: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *SMALL, *flags.split(), "--out", str(tmp_path)]) == 0
    notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Note: ")]
    assert len(notes) == bool(said)
    assert said in "".join(notes)


def test_spec_file_gives_the_same_and_flags_change_it(tmp_path: Path) -> None:
    changes = ["--epsilon", "3", "--algorithm-param", "cap=H-h"]
    assert main(["run", *SMALL, *changes, "--out", str(tmp_path / "a")]) == 0
    file = str(tmp_path / "a" / "spec.json")
    assert main(["run", "--spec", file, "--out", str(tmp_path / "b")]) == 0
    for name in ("spec.json", "regret.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    changes = ["--privacy", "none", "--env-param", "H=5", "--seeds", "1"]
    assert main(["run", "--spec", file, *changes, "--out", str(tmp_path / "c")]) == 0
    spec, _, summary = files(tmp_path / "c")
    assert spec == RunSpec(
        environment_params={"S": 3, "H": 5},
        algorithm_params={"cap": "H-h"},
        privacy="none",
        episodes=10**4,
        seeds=1,
    )
    assert summary["claimed_epsilon"] is None
    assert summary["final_regret_low"] is None
    # and back: what the file does not say takes its default
    back = ["--privacy", "central", "--out", str(tmp_path / "d")]
    assert main(["run", "--spec", str(tmp_path / "c" / "spec.json"), *back]) == 0
    assert files(tmp_path / "d")[0].epsilon == 1.0


def test_every_field_is_a_flag(tmp_path: Path) -> None:
    given = {
        "environment": "random", "environment_params": "S=2,A=2,H=2", "algorithm": "dp-ucbvi",
        "algorithm_params": "cap=H-h", "privacy": "local", "mechanism": "laplace", "calibration": "paper",
        "reports": "played", "structure": "environment",
        "epsilon": "2.5", "delta": "0",
        "beta": "0.2", "bonus": "paper", "episodes": "200", "contribution": "3", "schedule": "episodic",
        "seeds": "1", "root_seed": "12",
    }  # fmt: skip
    assert given.keys() == FIELDS.keys()
    flags = [f"{FIELDS[name].flag}={value}" for name, value in given.items()]
    assert main(["run", *flags, f"--out={tmp_path}"]) == 0
    assert files(tmp_path)[0] == from_strings(given)


def test_list_names_every_entry(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for registry in (ENVIRONMENTS, ALGORITHMS, PRIVATIZERS, MECHANISMS, OFFLINE):
        for key, entry in registry.items():
            assert [line for line in lines if line.split()[0] == key and entry.summary in line], key


def test_it_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"dprl {__version__}\n"


BAD = [
    ([], "COMMAND"),
    (["nonsense"], "nonsense"),
    (["run"], "--out"),
    (["run", "--out", "OUT", "extra"], "extra"),
    (["run", "--out", "OUT", "--eps", "1"], "--eps"),  # no abbreviations
    (["run", "--out", "OUT", "--epsilon"], "--epsilon"),
    (["run", "--out", "OUT", "--epsilon", "zero"], "epsilon"),
    (["run", "--out", "OUT", "--episodes", "9" * 10_000], "episodes"),
    (["run", "--out", "OUT", "--episodes", "10\n10"], "episodes"),
    (["run", "--out", "OUT", "--schedule", "episodic"], "episodes"),
    (["run", "--out", "OUT", "--algorithm", "\x1b[31mred\n"], "algorithm"),
    (["run", "--out", "OUT", "--env-param", "S"], "environment_params"),
    (["run", "--out", "OUT", "--env-param", "S=6", "--env-param", "S=7"], "environment_params"),
    (["run", "--out", "OUT", "--env-param", "S=300", "--env-param", "H=1000"], "environment_params"),
    (
        ["run", "--out", "OUT", "--env", "custom", "--env-param", 'model={"P": [1, 0'],
        "environment_params.model",
    ),
    (["run", "--out", "OUT", "--algorithm-param", "cap=-1"], "algorithm_params.cap"),
    (["run", "--out", "FILE/below"], "out"),
    (["run", "--out", "FILE"], "out"),
    (["run", "--out", "OUT", "--spec", "MISSING"], "spec"),
    (["run", "--out", "OUT", "--spec", "FOLDER"], "spec"),
    (["run", "--out", "OUT", "--spec", "FILE"], "spec"),
    (["run", "--out", "OUT", "--spec", "BINARY"], "spec"),
    (["run", "--out", "OUT", "--spec", "OTHER"], "spec"),
]


@pytest.mark.parametrize(("arguments", "named"), BAD, ids=lambda value: repr(value)[:80])
def test_a_bad_argument_is_one_line_and_status_2(
    arguments: list[str], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "FILE").write_text("not JSON")
    (tmp_path / "BINARY").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "OTHER").write_text('{"a": 1}')
    (tmp_path / "FOLDER").mkdir()
    special = ("OUT", "FILE", "BINARY", "OTHER", "FOLDER", "MISSING")
    said = left(capsys, *(str(tmp_path / a) if a.startswith(special) else a for a in arguments))
    assert len(said) < 500
    assert named in said
    assert not (tmp_path / "OUT" / "summary.json").exists()


@pytest.mark.parametrize("value", ["-1", "-1e-3", "-.5", "-.5E+2", "-inf", "-NaN"])
def test_a_number_below_0_gets_the_sentence_of_its_field(
    value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in (["run", "--epsilon"], ["check", "a.csv", "--declaration", "b.json", "--rho"]):
        parsed = cli.command_line().parse_args([*arguments, value, *["--out", "x"] * (arguments[0] == "run")])
        assert getattr(parsed, arguments[-1].strip("-")) == value
    said = left(capsys, "run", "--epsilon", value, "--out", "x")
    assert said.startswith(f"epsilon: {value} is not allowed; give a number ")


@pytest.mark.parametrize("buffered", [True, False])
def test_a_reader_that_leaves_early_ends_it_quietly(buffered: bool) -> None:
    """As `dprl list | head -1` does."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "dprl", "list"],
        cwd=Path(__file__).parents[1],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | ({} if buffered else {"PYTHONUNBUFFERED": "1"}),
    )
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 141


def test_interrupting_is_not_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "run", Mock(side_effect=KeyboardInterrupt))
    assert main(["run", *SMALL, "--out", str(tmp_path)]) == 130
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.thorough
def test_sweep_writes_a_tidy_table_and_can_go_on_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "NUMBA_CACHE_DIR" not in os.environ:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(kernels(source_digest())))
    monkeypatch.setenv("DPRL_HOME", str(tmp_path / "home"))
    main(["run", *SMALL, "--out", str(tmp_path / "run")])
    file = str(tmp_path / "run" / "spec.json")
    out = tmp_path / "sweep"
    try:
        axes = ["--axis", "epsilon=0.1,1", "--axis", "privacy=none,central"]
        assert main(["sweep", "--spec", file, *axes, "--out", str(out)]) == 0
        table = pd.read_csv(out / "sweep.csv")
        again = tmp_path / "again"
        assert main(["sweep", "--spec", str(out / "sweep.json"), "--out", str(again)]) == 0
    finally:
        opened().close()
    assert list(table.columns) == ["epsilon", "privacy", "seed", "episode", "regret", "extra_regret"]
    assert len(table) == 2 * 2 * 2
    assert (table.episode == 10**4).all()
    base = RunSpec(environment_params={"S": 3, "H": 4}, episodes=10**4, seeds=2)
    final, baseline = (run(spec).regret[:, -1] for spec in (base.replace(epsilon=0.1), base.baseline()))
    rows = table[(table.epsilon == 0.1) & (table.privacy == "central")]
    assert rows.regret.tolist() == pytest.approx(final.tolist(), rel=1e-12)
    assert rows.extra_regret.tolist() == pytest.approx((final - baseline).tolist(), rel=1e-9)
    assert (again / "sweep.csv").read_bytes() == (out / "sweep.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "axis: there is none"),
        (["--axis", "epsilon"], "axis: epsilon is not allowed; give NAME=V1,V2,..."),
        (["--axis", "epsilon="], "axis: epsilon has no values"),
        (["--axis", "colour=red"], "axis: colour is not allowed; give one of privacy, "),
        (["--axis", "S=3,300"], "axis: 300 cannot be run"),
        (["--spec", "nowhere.json", "--axis", "epsilon=1"], "spec: nowhere.json cannot be read"),
    ],
)
def test_a_bad_sweep_is_one_line(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert left(capsys, "sweep", *arguments, "--out", str(tmp_path)).startswith(said)
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_without_a_store_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("DPRL_HOME", str(tmp_path / "file"))
    said = left(capsys, "sweep", "--axis", "epsilon=1", "--out", str(tmp_path / "out"))
    assert "set DPRL_HOME to a folder that can be written to" in said
