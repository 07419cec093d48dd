"""Learners, environments and mechanisms of other packages: found by entry point, or left out with a sentence."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest

import dprl
from dprl.__main__ import main
from tests.problems import ROOT, python

MODULE = """
from dataclasses import replace
from dprl.environments import riverswim
from dprl.learners.tabular import ucbvi
from dprl.privacy import MECHANISMS

LEARNER = replace(ucbvi.ALGORITHM, key="elsewhere", title="Elsewhere")
WORLD = replace(riverswim.ENVIRONMENT, key="far-river", title="Far river")
BASELINE = replace(ucbvi.ALGORITHM, title="Another")
HALF = object()
CELLS = replace(MECHANISMS["binomial-sum"], key="cells")
"""

POINTS = """
[dprl.learners]
elsewhere = outside:LEARNER
gone = outside:GONE
nowhere = no_such_module:LEARNER
baseline = outside:BASELINE
half = outside:HALF

[dprl.mechanisms]
cells = outside:CELLS

[dprl.environments]
far-river = outside:WORLD
"""

KEYS = """
import dprl
spec = dprl.RunSpec(environment="far-river", environment_params={"S": 3, "H": 2}, algorithm="elsewhere", episodes=3)
print(spec.seed_key(0))
"""

REST = """
from dprl import plugins
from dprl.simulation import SeedRun
print(SeedRun(spec, 0, plain=True).advance(9.0), dprl.ALGORITHMS["ucbvi"].title, *plugins.failures, sep="\\n")
"""


def said(path: Path, version: str, files: dict[str, str], script: str, points: str = POINTS) -> list[str]:
    """What a script says, with a package of these files and entry points."""
    info = path / f"outside-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: outside\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(points)
    for name, text in files.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(text)
    found = python(script, PYTHONPATH=f"{ROOT}{os.pathsep}{path}")
    assert found.returncode == 0, found.stderr
    return found.stdout.splitlines()


def test_what_is_registered_runs_and_what_fails_is_said(tmp_path: Path) -> None:
    key, ran, title, *failures = said(tmp_path / "a", "1.0", {"outside.py": MODULE}, KEYS + REST)
    assert ran == "True"
    assert title == "UCBVI"  # nothing replaces what is here
    assert len(failures) == 5
    for name, reason in (
        ("gone", "could not be loaded: AttributeError"),
        ("nowhere", "could not be loaded: ModuleNotFoundError"),
        ("baseline", "the key ucbvi is already in use"),
        ("half", "it has no key, title"),
        ("cells", "left out: its norm is cells; give l1 or l2."),
    ):
        (sentence,) = (s for s in failures if f": {name} (" in s)
        assert reason in sentence
        assert sentence.endswith(".")
        assert sentence.isprintable()
    # another version of the package is another result, and so is other code of the same version
    keys = {key}
    for folder, version, more in (("b", "1.1", ""), ("c", "1.0", ""), ("d", "1.0", "\n# changed")):
        (found,) = said(tmp_path / folder, version, {"outside.py": MODULE + more}, KEYS)
        assert (found in keys) == (folder == "c")
        keys.add(found)


def test_a_registry_takes_no_new_entry_by_assignment() -> None:
    with pytest.raises(
        dprl.SpecError, match=r"^key: mine cannot be added here; register it as an entry point of dprl\."
    ):
        dprl.ALGORITHMS["mine"] = dprl.ALGORITHMS["dp-ucbvi"]
    assert "mine" not in dprl.ALGORITHMS


def test_list_says_what_failed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(dprl.plugins, "failures", ["dprl.learners: gone could not be loaded: x."])
    assert main(["list"]) == 0
    assert capsys.readouterr().out.endswith("dprl.learners: gone could not be loaded: x.\n")


RECIPE = (ROOT / "docs/how-to/adding-an-algorithm.md").read_text(encoding="utf-8")
# A kernel that numba cannot compile, and a learner that names a bonus without a kernel.
WRONG = """
from dataclasses import replace
import dprl
from dprl.engine import kernel
from my_package import simple

@kernel
def unknown(released, errors, possible, constants, Q, V, policy):
    Q[0, 0, 0] = nowhere(errors)

dprl.ALGORITHMS["simple"] = replace(simple.ALGORITHM, plan=unknown)
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


def points_of(project: str) -> str:
    """The entry points of a pyproject.toml, as they are installed."""
    groups = tomllib.loads(project)["project"]["entry-points"]
    return "".join(
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in own.items()) for group, own in groups.items()
    )


def of(language: str, word: str) -> list[str]:
    return [text for text in blocks(language) if word in text]


@pytest.mark.thorough
def test_the_recipe_is_true_word_for_word_and_what_is_wrong_is_said_in_a_sentence(tmp_path: Path) -> None:
    learner, script, variant, check, *_ = blocks("python")
    project, *_ = blocks("toml")
    files = {re.match(r"# (\S+)\n", code)[1]: code for code in (learner, variant)}  # type: ignore[index]
    (line,) = re.findall(r"`(pucb-quarter = .*)`", RECIPE)
    points = points_of(f"{project}{line}\n")
    look = """
print(spec.label())
print(dprl.ALGORITHMS['simple'].bonuses, spec.bonus)
quarter = spec.replace(algorithm="pucb-quarter", bonus="own", episodes=100)
print(quarter.bonus, (dprl.run(quarter).regret > 0).any())
"""
    told = said(tmp_path, "1.0", files, f"{script}{look}{check}{WRONG}", points)
    title, final, proved, label, bonuses, ran, passed, *wrong = told
    assert passed == "('record', 'function of what was released')"
    assert ran == "own True"
    assert title == "Trace of Simple optimism, bonus without a proof, central, epsilon 1, RiverSwim, 2 seeds"
    assert re.fullmatch(r"final regret [\d.]+ \(95% interval .*\) at episode 10,000", final)
    assert proved.startswith("Guarantee(model JDP")
    assert (label, bonuses) == ("Simple optimism, bonus without a proof, central, epsilon 1", "('own',) own")
    kernel, bonus = wrong
    assert kernel.startswith(
        "algorithm: simple cannot run: numba cannot compile __main__.unknown: NameError: name 'nowhere'"
    )
    assert kernel.endswith(". | True")  # numba's own traceback does not follow
    assert bonus.startswith("bonuses: simple lists anytime but has no kernel for it")


@pytest.mark.thorough
def test_the_recipes_of_an_environment_and_a_mechanism_are_true_word_for_word(tmp_path: Path) -> None:
    ring, check = of("python", "ring")
    reports, checked, tried = of("python", "reports")
    points = "".join(points_of(*of("toml", word)) for word in ("ring", "reports"))
    files = {"my_package/ring.py": ring, "my_package/reports.py": reports}
    assert all(text.startswith(f"# {name}\n") for name, text in files.items())
    passed, best, proved, *cards = said(tmp_path, "1.0", files, check + checked + tried, points)
    assert passed == "('record', 'models')"
    assert 0 < float(best) < 10
    assert proved == "('record', 'repeats', 'noise', 'proof')"
    assert cards == [
        "outside 1.0 states how much the noise of Gaussian reports reveals, and dprl has no proof of it"
    ]
