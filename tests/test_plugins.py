"""Learners, environments and mechanisms of other packages: found by entry point, or left out with a sentence."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dprl
from dprl.__main__ import main

ROOT = Path(__file__).parents[1]

MODULE = """
from dataclasses import replace
from dprl.environments import riverswim
from dprl.learners.tabular import ucbvi
from dprl.privacy import MECHANISMS

LEARNER = replace(ucbvi.ALGORITHM, key="elsewhere", title="Elsewhere")
WORLD = replace(riverswim.ENVIRONMENT, key="far-river", title="Far river")
BASELINE = replace(ucbvi.ALGORITHM, title="Another")
HALF = object()
REPORTS = replace(MECHANISMS["gaussian"], key="reports", title="Reports")
TREE = replace(MECHANISMS["gaussian-tree"], key="sums", title="Sums")
CELLS = replace(MECHANISMS["binomial-sum"], key="cells")
ASKING = replace(MECHANISMS["unary"], key="asking", norm="l1")
"""

POINTS = """
[dprl.learners]
elsewhere = outside:LEARNER
gone = outside:GONE
nowhere = no_such_module:LEARNER
baseline = outside:BASELINE
half = outside:HALF

[dprl.mechanisms]
reports = outside:REPORTS
sums = outside:TREE
cells = outside:CELLS
asking = outside:ASKING

[dprl.environments]
far-river = outside:WORLD
"""

SCRIPT = """
import dprl
from dprl import plugins
from dprl.simulation import SeedRun
spec = dprl.RunSpec(environment="far-river", environment_params={"S": 3, "H": 2}, algorithm="elsewhere", episodes=3)
print(SeedRun(spec, 0, plain=True).advance(9.0), spec.seed_key(0))
print(dprl.ALGORITHMS["ucbvi"].title)
for privacy, mechanism, own in (("local", "reports", "gaussian"), ("central", "sums", "gaussian-tree")):
    mine = spec.replace(algorithm="dp-ucbvi", privacy=privacy, mechanism=mechanism, episodes=20)
    same = mine.replace(mechanism=own, reports="all")
    ours, theirs = (SeedRun(one, 0, plain=True) for one in (mine, same))
    ours.advance(9.0), theirs.advance(9.0)
    card, other = ours.trace().guarantee, theirs.trace().guarantee
    print((ours.trace().regret == theirs.trace().regret).all(), card.proved_epsilon == other.proved_epsilon,
          mine.reports, card.assumptions[-1])
    print(mine.seed_key(0), dprl.RunSpec(privacy=privacy).mechanism)
    try:
        mine.replace(contribution=2)
    except dprl.SpecError as error:
        print(error)
for sentence in plugins.failures:
    print(sentence)
"""

KEYS = """
import dprl
spec = dprl.RunSpec(environment="far-river", environment_params={"S": 3, "H": 2}, algorithm="elsewhere", episodes=3)
print(spec.seed_key(0))
for privacy, mechanism in (("local", "reports"), ("central", "sums")):
    print(spec.replace(algorithm="dp-ucbvi", privacy=privacy, mechanism=mechanism, episodes=20).seed_key(0))
"""


def outside(path: Path, version: str, script: str = SCRIPT) -> list[str]:
    """What a script says, with a package that registers by entry point."""
    return said(path, version, {"outside.py": MODULE}, POINTS, script)


def said(path: Path, version: str, files: dict[str, str], points: str, script: str) -> list[str]:
    """What a script says, with a package of these files and entry points."""
    info = path / f"outside-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: outside\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(points)
    for name, text in files.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(text)
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{path}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()


def test_what_is_registered_runs_and_what_fails_is_said(tmp_path: Path) -> None:
    ran, title, *found = outside(tmp_path / "a", "1.0")
    drawn, failures = found[:6], found[6:]
    assert ran.split()[0] == "True"
    assert title == "UCBVI"  # nothing replaces what is here
    assert len(failures) == 6
    for name, reason in (
        ("gone", "could not be loaded: AttributeError"),
        ("nowhere", "could not be loaded: ModuleNotFoundError"),
        ("baseline", "already one with the key ucbvi"),
        ("half", "it has no key, title"),
        ("cells", "left out: its norm is cells; give l1 or l2."),
        ("asking", "left out: its noise depends on what it is added to; give one that adds noise."),
    ):
        (sentence,) = (s for s in failures if f": {name} (" in s)
        assert reason in sentence
        assert sentence.endswith(".")
        assert sentence.isprintable()
    # another version of the package is another result, and so is other code of the same version
    again, *changed = outside(tmp_path / "b", "1.1", KEYS)
    same, *_ = outside(tmp_path / "c", "1.0", KEYS)
    other, *_ = said(tmp_path / "d", "1.0", {"outside.py": f"{MODULE}\n# changed"}, POINTS, KEYS)
    assert same == ran.split()[1]
    assert len({same, again, other}) == 3
    as_ours_and_said_so(drawn, changed)


def as_ours_and_said_so(drawn: list[str], changed: list[str]) -> None:
    """Mechanisms that are copies of dprl's own draw and prove the same, each in its model; cards name the package.
    changed: their keys with another version of it."""
    for i, (title, key, default) in enumerate(
        (("Reports", "reports", "unary"), ("Sums", "sums", "gaussian-optimal"))
    ):
        said, names, refused = drawn[3 * i : 3 * i + 3]
        assert said == (
            f"True True all outside 1.0 says what noise of {title} reveals; dprl has no proof of that"
        )
        assert names.split()[0] != changed[i]
        assert names.split()[1] == default
        assert refused == f"contribution: 2 does not go with mechanism {key} of another package; give 1."


def test_a_registry_takes_no_new_entry_by_assignment() -> None:
    with pytest.raises(
        dprl.SpecError, match=r"^key: mine cannot be added here; register it as an entry point of dprl\."
    ):
        dprl.ALGORITHMS["mine"] = dprl.ALGORITHMS["dp-ucbvi"]
    assert "mine" not in dprl.ALGORITHMS


def test_list_says_what_failed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from dprl import plugins

    monkeypatch.setattr(plugins, "failures", ["dprl.learners: gone (outside:GONE) could not be loaded: x."])
    assert main(["list"]) == 0
    assert capsys.readouterr().out.endswith("dprl.learners: gone (outside:GONE) could not be loaded: x.\n")


RECIPE = (ROOT / "docs/how-to/adding-an-algorithm.md").read_text(encoding="utf-8")
# Three ways in which a kernel is wrong: another number of arguments, an array taken for a number, an unknown name.
WRONG = """
from dataclasses import replace
import dprl
from dprl.engine import kernel
from my_package import simple

@kernel
def short(released, errors, possible, constants, Q, V):
    Q[0, 0, 0] = 1.0

@kernel
def scalar(released, errors, possible, constants, Q, V, policy):
    Q[0, 0, 0] = errors / released[0, 0, 0, 0]

@kernel
def unknown(released, errors, possible, constants, Q, V, policy):
    Q[0, 0, 0] = nowhere(errors)

for plan in (short, scalar, unknown):
    dprl.ALGORITHMS["simple"] = replace(simple.ALGORITHM, plan=plan)
    try:
        dprl.run(spec)
    except dprl.SpecError as error:
        print(error, "|", error.__suppress_context__)
try:
    replace(simple.ALGORITHM, bonuses=("anytime",))
except ValueError as error:
    print(error)
"""


def blocks(language: str) -> list[str]:
    """The code blocks of the recipe in a language, as they stand to be copied."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", RECIPE, re.MULTILINE | re.DOTALL)
    return [re.sub(f"^{indent}", "", text, flags=re.MULTILINE) for indent, text in found]


def of(language: str, word: str) -> list[str]:
    """Return the blocks of the recipe in a language that contain a word."""
    return [text for text in blocks(language) if word in text]


@pytest.mark.thorough
def test_the_recipe_is_true_word_for_word_and_what_is_wrong_is_said_in_a_sentence(tmp_path: Path) -> None:
    learner, script, variant, check, *_ = blocks("python")
    project, *_ = blocks("toml")
    files = {re.match(r"# (\S+)\n", code)[1]: code for code in (learner, variant)}  # type: ignore[index]
    (line,) = re.findall(r"`(pucb-quarter = .*)`", RECIPE)
    registered = tomllib.loads(f"{project}{line}\n")["project"]["entry-points"]
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in entries.items())
        for group, entries in registered.items()
    )
    look = """
print(spec.label())
print(dprl.ALGORITHMS['simple'].bonuses, spec.bonus)
quarter = spec.replace(algorithm="pucb-quarter", bonus="own", episodes=100)
print(quarter.bonus, (dprl.run(quarter).regret > 0).any())
"""
    told = said(tmp_path, "1.0", files, points, f"{script}{look}{check}{WRONG}")
    title, final, proved, label, bonuses, ran, passed, *wrong = told
    assert passed == "('record', 'function of what was released')"
    assert ran == "own True"
    assert title == "Trace of Simple optimism, bonus not proved, central, epsilon 1, riverswim, 2 seeds"
    assert re.fullmatch(r"final regret [\d.]+ \(95% interval .*\) at episode 10,000", final)
    assert proved.startswith("Guarantee(model JDP")
    assert (label, bonuses) == ("Simple optimism, bonus not proved, central, epsilon 1", "('own',) own")
    assert len(wrong) == 4
    for sentence, reason in zip(
        wrong,
        (
            "short: Signature mismatch: 7",
            "scalar: No implementation of function",
            "unknown: NameError: name 'nowhere'",
        ),
        strict=False,
    ):
        assert sentence.startswith(f"algorithm: simple cannot run: numba cannot compile __main__.{reason}")
        assert sentence.endswith(". | True")  # numba's own traceback does not follow
        assert len(sentence) < 400
    assert wrong[3].startswith("bonuses: simple names anytime and has no kernel for it")


@pytest.mark.thorough
def test_the_recipes_of_an_environment_and_a_mechanism_are_true_word_for_word(tmp_path: Path) -> None:
    ring, check = of("python", "ring")
    reports, checked, tried = of("python", "reports")
    points = ""
    for word in ("ring", "reports"):
        (table,) = of("toml", word)
        for group, entries in tomllib.loads(table)["project"]["entry-points"].items():
            points += f"[{group}]\n" + "".join(f"{name} = {at}\n" for name, at in entries.items())
    files = {"my_package/ring.py": ring, "my_package/reports.py": reports}
    assert all(text.startswith(f"# {name}\n") for name, text in files.items())
    passed, best, proved, *cards = said(tmp_path, "1.0", files, points, check + checked + tried)
    assert passed == "('record', 'models')"
    assert 0 < float(best) < 10
    assert proved == "('record', 'repeats', 'noise', 'proof')"
    assert cards == [
        "outside 1.0 says what noise of Gaussian reports reveals; dprl has no proof of that",
    ]
