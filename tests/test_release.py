"""`dprl check` and `dprl release`: what the page does with a file of one's own, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dprl import Budget, Policy
from dprl.__main__ import main
from dprl.sentences.uploads import NOT_OFFERED
from dprl.simulation.uploads import kept, ledger
from dprl.simulation.uploads.model import EXAMPLE, example

HEADING, *ROWS = example().splitlines(keepends=True)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (kept, ledger):
        monkeypatch.setattr(module, "home", lambda: tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """The arguments that name them: 2,000 people, and what is declared of them."""
    (tmp_path / "people.csv").write_text(HEADING + "".join(ROWS[:4000]))
    (tmp_path / "d.json").write_text(json.dumps(EXAMPLE))
    return [str(tmp_path / "people.csv"), "--declaration", str(tmp_path / "d.json")]


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


def test_a_check_says_what_is_outside_and_what_a_release_could_tell_and_keeps_nothing(
    files: list[str], home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(files[0]).write_text((HEADING + "".join(ROWS[:4000])).replace("study", "stuody", 1))
    assert main(["check", *files, "--rho", "0.5"]) == 0
    said = capsys.readouterr().out
    assert "2,000 trajectories: 2 states, 2 actions, 2 steps." in said
    assert "Only for you, not private and kept nowhere: Column " in said
    assert "stuody (1)" in said
    assert "Noise moves each such number by about" in said
    assert said.endswith("Nothing was released or kept.\n")
    assert not (home / "uploads").exists()
    assert not any(b"stuody" in path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert not list((home / "budgets").glob("*.json"))


def test_a_release_is_written_down_in_its_budget_and_refused_beyond_it(
    files: list[str], home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["release", *files, "--ledger", "two rooms", "--out", str(tmp_path / "out")]
    assert main([*given, "--total-rho", "0.5", "--rho", "0.3"]) == 0
    out, err = capsys.readouterr()
    assert "ρ = 0.3 is proved in all" in err
    assert "Noise moves each such number" in err  # before anything is spent
    assert "The budget two rooms has the total ρ = 0.5. Spent so far: ρ = 0.3, or (" in out
    assert "**" not in out + err
    policy = Policy.load(tmp_path / "out/policy.json")
    assert policy.act("hall", step=0) in ("walk", "wait", None)
    assert list((home / "uploads").iterdir()) == []
    given[-1] += " again"
    said = refused([*given, "--rho", "0.21"], capsys)
    assert said == (
        "dprl: ledger: two rooms has the total ρ = 0.5; ρ = 0.3 is spent, and with this release it would be ρ = 0.51. "
        "Give a smaller value."
    )
    assert main([*given, "--rho", "0.2"]) == 0
    out, err = capsys.readouterr()
    assert "This file was read before under the budget two rooms" in err
    assert Budget("two rooms").spent.text == "ρ = 0.5"
    main(["check", *files])
    assert "this file was read before under the budget two rooms" in capsys.readouterr().out


def test_a_certain_nothing_is_not_sold(
    files: list[str], home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(files[0]).write_text(HEADING + "".join(ROWS[:40]))
    given = ["release", *files, "--ledger", "small", "--out", str(tmp_path / "out"), "--rho", "1"]
    said = refused([*given, "--algorithm", "dp-apvi"], capsys)
    assert said.startswith("dprl: rho: At ρ = 1 the bound is certainly 0, except with a chance of 0.1.")
    assert said.endswith(NOT_OFFERED)
    assert Budget("small").releases == ()
    assert list((home / "uploads").iterdir()) == []


def test_bad_arguments_are_one_line(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "out")]
    for arguments, said in (
        (["check", files[0]], "the following arguments are required: --declaration"),
        (["check", *files, "--rho", "0"], "rho: 0 is not allowed"),
        (["check", files[0], "--declaration", "no.json"], "declaration: no.json cannot be read"),
        (["check", "no.csv", *files[1:]], "data: the file cannot be read"),
        (["check", files[2], *files[1:]], "data: row 1, column episode: this column is missing"),
        (["check", *files, "--algorithm", "dp-vapvi"], "algorithm: dp-vapvi is not allowed"),
        (["release", *files, *out], "the following arguments are required: --ledger"),
        (["release", *files, *out, "--ledger", " "], "budget: "),
        (["release", *files, *out, "--ledger", "a", "--total-rho", "x"], "rho: x is not"),
        (
            ["release", *files, *out, "--ledger", "a", "--total-delta", "0.1"],
            "budget: a total is rho, or epsilon",
        ),
        (["release", *files, *out, "--ledger", "a", "--data", "b"], "unrecognized arguments: --data b"),
    ):
        assert refused(arguments, capsys).startswith(f"dprl: {said}")
