"""`dprl check` and `dprl release`: what the page does with a file of one's own, on the command line; and the sheet.

And a whole release of a file, from the file to what is written, attacked: the short form of bench/release_attack.py.
"""

from __future__ import annotations

import io
import json
import re
import sys
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dprl
from bench.release_attack import PROMISES, attacked, measured, proved
from dprl import Budget, Policy
from dprl.__main__ import main
from dprl.environments import ENVIRONMENTS
from dprl.research import release
from dprl.research.sheet import sheet
from dprl.sentences import sheet as sentences
from dprl.sentences import uploads, verdict
from dprl.simulation.uploads import kept
from tests.people import declared, treated, written_down
from tests.problems import few, first, left
from tests.two_rooms import EXAMPLE, example

pytestmark = pytest.mark.usefixtures("home")
HEADING, *ROWS = example().splitlines(keepends=True)[:4001]
PEOPLE = HEADING + "".join(ROWS)  # 2,000


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """The arguments that name them: people, and what is declared of them."""
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "d.json").write_text(json.dumps(EXAMPLE))
    return [str(tmp_path / "people.csv"), "--declaration", str(tmp_path / "d.json")]


def test_a_check_says_what_is_outside_and_what_a_release_could_tell_and_keeps_nothing(
    files: list[str], home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(files[0]).write_text(PEOPLE.replace("study", "stuody", 1))
    assert main(["check", *files, "--rho", "0.5"]) == 0
    said = capsys.readouterr().out
    assert "2,000 trajectories: 2 states, 2 actions, 2 steps." in said
    assert "Only for you, because these numbers are not private: In " in said
    assert "stuody (1)" in said
    assert "Noise moves each of these counts by about" in said
    assert said.endswith("Nothing was released or kept.\n")
    assert not (home / "uploads").exists()
    assert not any(b"stuody" in path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert not list((home / "budgets").glob("*.json"))


def test_a_release_is_written_down_in_its_budget_and_refused_beyond_it(
    files: list[str], home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["release", *files, "--budget", "two rooms", "--out", str(tmp_path / "out")]
    assert main([*given, "--total", "0.5", "--rho", "0.3"]) == 0
    out, err = capsys.readouterr()
    assert "we prove ρ = 0.3" in err
    assert "Noise moves each of these counts" in err  # before anything is spent
    assert "The budget two rooms has the total ρ = 0.5. Spent so far: ρ = 0.3 in 1 release, or (" in out
    assert "**" not in out + err
    policy = Policy.load(tmp_path / "out/policy.json")
    assert policy.act("hall", step=0) in ("walk", "wait", None)
    rows = (tmp_path / "out/policy.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "step,state,action,episodes_with_noise,decides"
    named = [",".join(row.split(",")[:2]) for row in rows[1:]]
    assert named == ["0,hall", "0,study", "1,hall", "1,study"]
    written = json.loads((tmp_path / "out/release.json").read_text(encoding="utf-8"))
    assert "data" not in written
    assert 0 <= written["lower"] <= 2
    assert "we prove that the cautious policy" in out
    assert "not private" not in out + "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert list((home / "uploads").iterdir()) == []
    given[-1] += " again"
    assert left(capsys, *given, "--rho", "0.21", first=False) == (
        "budget: two rooms has the total ρ = 0.5; ρ = 0.3 is spent, and this release would raise that "
        "to ρ = 0.51. Give a smaller value."
    )
    assert main([*given, "--rho", "0.2"]) == 0
    out, err = capsys.readouterr()
    assert "This file was released before, under the budget two rooms" in err
    assert Budget("two rooms").spent.text == "ρ = 0.5"
    check = ["check", *files, "--budget", "two rooms"]
    assert main([*check, "--rho", "0.1"]) == release.STOPS
    said = capsys.readouterr().out
    assert "The budget two rooms has the total ρ = 0.5. Spent so far: ρ = 0.5" in said
    assert "Left: ρ = 0." in said
    assert "A release would stop here: two rooms has the total ρ = 0.5; ρ = 0.5 is spent" in said
    assert "an earlier release used this file, under the budget two rooms" in said


def test_the_private_note_goes_to_a_terminal_or_to_the_file_that_the_owner_names(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(files[0]).write_text(PEOPLE.replace("study", "stuody", 1))
    note = tmp_path / "note.txt"
    for budget, notes in (("one", []), ("two", ["--notes", str(note)]), ("three", [])):
        monkeypatch.setattr(sys.stderr, "isatty", lambda budget=budget: budget == "three", raising=False)
        out = str(tmp_path / budget)
        assert main(["release", *files, "--rho", "0.3", "--budget", budget, "--out", out, *notes]) == 0
        said, private = capsys.readouterr()
        assert (release.NOT_SHOWN in private) == (budget == "one")
        assert ("stuody (1)" in private) == (budget == "three")
        assert ("stuody" in said + private) == (budget == "three")
    assert "stuody (1)" in note.read_text(encoding="utf-8")
    assert note.stat().st_mode & 0o077 == 0


def test_values_by_group_are_printed_and_on_the_sheet(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{row.strip()},{'south' if int(row.split(',')[0]) % 3 else 'no*rth'}\n" for row in ROWS]
    Path(files[0]).write_text(f"{HEADING.strip()},place\n" + "".join(rows))
    Path(files[2]).write_text(json.dumps(EXAMPLE | {"groups": {"place": ["no*rth", "south"]}}))
    assert main(["release", *files, "--budget", "groups", "--out", str(tmp_path / "out"), "--rho", "1"]) == 0
    out, err = capsys.readouterr()
    assert "For each of 2 groups of held-out users, five more noisy sums are released" in err
    assert "Note: Group no*rth: about 1" in out
    cost = "group spend 30% of the held-out users' ρ, so the noise in all other values for these users is 19% larger."
    assert cost in out
    page = unescape((tmp_path / "out/sheet.html").read_text(encoding="utf-8"))
    assert "<td>no*rth</td>" in page
    assert cost in page


def test_noise_that_hides_the_counts_is_said_before_anything_is_spent(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *files, "--rho", "0.5"]) == 0
    assert "noise hides most" not in capsys.readouterr().out
    assert main(["check", *files, "--rho", "0.00001"]) == 0
    assert "So noise hides most of these counts" in capsys.readouterr().out
    given = ["release", *files, "--budget", "small", "--out", str(tmp_path / "out"), "--rho", "0.00001"]
    assert main(given) == 0
    out, err = capsys.readouterr()
    assert "So noise hides most of these counts" in err
    assert "Too close to call." in out


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
        (["check", *files, "--algorithm", "dp-kl-lcb"], "unrecognized arguments: --algorithm"),
        (["release", *files, *out], "the following arguments are required: --budget"),
        (["release", *files, *out, "--budget", " "], "budget: "),
        (["release", *files, *out, "--budget", "a", "--total", "x"], "rho: x is not"),
        (["release", *files, *out, "--budget", "a", "--data", "b"], "unrecognized arguments: --data b"),
    ):
        assert left(capsys, *arguments).startswith(said)


# The printed sheet: what stands on it, from the file of a policy alone, and nothing of a label is markup.

WARD = ENVIRONMENTS["random"].make(S=4, A=2, H=5, seed=3, concentration=5.0)
STATES = ["well", "<b>mild</b>", "se{parts}vere", "other"]
ACTIONS = ["watch & wait", "treat"]


def learned(**changes: Any) -> Policy:
    fields = {name: changes.pop(name) for name in ("held_out", "algorithm") if name in changes}
    public = json.loads(declared(WARD, known=True)) | {"states": STATES, "actions": ACTIONS} | changes
    heading, *rows = written_down(treated(WARD, "uniform", 4000, np.random.default_rng(1))).splitlines()
    table = [row.split(",") for row in rows]
    named = [f"{w},{h},{STATES[int(s)]},{ACTIONS[int(a)]},{r},{STATES[int(x)]}" for w, h, s, a, r, x in table]
    text = "\n".join([heading, *named]).encode()
    policy: Policy = dprl.run(dprl.upload(io.BytesIO(text), public, rho=1.0, **fields)).seeds[0].portable
    return policy


def words(page: str) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", " ", page)).split())


def test_it_says_all_of_it_and_asks_for_nothing_from_elsewhere() -> None:
    policy = learned()
    page = sheet(Policy.load(policy.to_json()))  # of the file alone
    text, held = words(page), policy.about["held out"]
    assert held["verdict"] == "better"
    for part in (
        "Better than today, if nothing hidden drove the choices. Under the learned policy",
        "The proved bound for the cautious policy holds except with a probability of 0.1. If you choose the best of k",
    ):
        assert part in text
    assert f"Protected: {policy.about['privacy']['unit']}." in text
    assert "May the policy be used? No number here decides that." in text
    assert uploads.PAGE["first_step"].format(first=0) in text
    below = policy.about["bound"]["worth at least"] < held["behaviour"][1]
    assert ("The bound is below the users' own average" in text) == below
    assert "Proved: ρ = 1, or (7.29, 10⁻⁶) as (ε, δ)" in text
    for sentence in (
        *verdict.SAID["blind"],
        *policy.about["privacy"]["assumes"],
        sentences.footer(policy.about["versions"], policy.digest),
    ):
        assert sentence.replace("**", "").replace("  ", " ") in text
    assert policy.digest == json.loads(policy.to_json())["digest"]
    assert not re.search("https?:|src=|href=|<script", page)
    for state in STATES:
        assert state in text
    assert "<b>" not in page
    assert not re.search(r"\{(title|about|footer)\}", page)
    assert page.count("<h1>") == 1


def test_the_bound_is_of_what_the_sheet_says_to_do() -> None:
    """It says for what it holds: whoever decides. The chance of a paper's bound has a constant."""
    policy = learned()
    assert sentences.SAID["whoever"] not in words(sheet(policy))  # nobody else decides
    lacking = replace(policy, enough=((False,) * len(STATES), *policy.enough[1:]))
    assert sentences.SAID["whoever"] in words(sheet(lacking))


def test_every_cell_says_what_the_file_says() -> None:
    policy = learned()
    page = sheet(policy)
    table = page.split("<h2>What to do</h2>")[1].split("</table>")[0]
    head, *rows = [
        [unescape(cell) for cell in re.findall("<t[hd]>(.*?)</t[hd]>", row)]
        for row in table.split("<tr>")[1:]
    ]
    assert [row[0] for row in rows] == STATES
    covered = []
    for column, name in enumerate(head[1:], 1):
        first, *last = map(int, re.findall(r"\d+", name))
        for step in range(first, (last or [first])[0] + 1):
            covered.append(step)
            for row in rows:
                assert row[column] == (policy.act(row[0], step) or "somebody decides")
    assert covered == list(range(WARD.H))


def test_without_anybody_held_out_it_says_so() -> None:
    text = words(sheet(learned(held_out=0.0)))
    assert "No verdict. " + uploads.PAGE["nobody"] in text
    assert "Cautious policy, proved bound" in text


@pytest.mark.parametrize("name", first(sorted(PROMISES, key="rho = 0.1".__ne__)))
def test_all_that_is_shown_of_a_release_tells_no_more_than_is_proved(name: str) -> None:
    promise, _ = PROMISES[name]
    worlds = attacked(promise, few(400) // 20)
    epsilon, delta = proved(promise)
    found = measured(worlds, delta)
    assert {"likelihood ratio", "size of release.json", "size of the budget", "seconds, rounded"} <= {*found}
    assert max(found.values()) <= epsilon
    assert found["what the budget says"] == found["what is refused"] == 0  # the same in both worlds
    assert not list(kept.folder().glob("*"))


@pytest.mark.thorough
def test_an_attack_on_a_twentieth_of_the_noise_finds_it() -> None:
    promise, _ = PROMISES["rho = 0.1"]
    epsilon, delta = proved(promise)
    assert measured(attacked(promise, 60, times=0.05), delta)["likelihood ratio"] > epsilon
