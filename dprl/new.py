"""`dprl new learner NAME`: a package with an algorithm that runs, and with tests, to be changed into one's own."""

from __future__ import annotations

import argparse
import keyword
import re
from pathlib import Path
from typing import Any

from dprl import ALGORITHMS, SpecError, __version__
from dprl.fields import shown

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST = 40  # characters of a name

LEARNER = '''"""TITLE: write here what it is, and which paper it comes from."""

from math import log

import numpy as np

from dprl.kernels import kernel
from dprl.learners.tabular.backup import act_greedily, expectation
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp.structure import gather
from dprl.statistics import NOISY


@kernel
def plan(released, errors, possible, constants, Q, V, policy):
    """Q = r/n + sum m V / n + H sqrt(L/n) + H E/n, from 0 to H - h."""
    H, S, A = Q.shape
    B = released.shape[3] - 2
    following = np.zeros(B)
    for h in range(H - 1, -1, -1):
        for s in range(S):
            for a in range(A):
                Q[h, s, a] = H - h
                n = released[h, s, a, B]
                if n >= 1.0:
                    gather(possible, h, s, a, V, h + 1, following)
                    value = released[h, s, a, B + 1] / n + expectation(released, h, s, a, following)
                    bonus = H * np.sqrt(constants[0] / n) + H * errors[h, s, a] / n
                    Q[h, s, a] = min(max(value + bonus, 0.0), float(H - h))
        act_greedily(h, Q, V, policy)


def constants(problem):
    """L = ln(2 H S A K / beta)."""
    return np.array([log(2 * problem.H * problem.S * problem.A * problem.K / problem.beta)])


ALGORITHM = TabularLearner(
    key="KEY",
    title="TITLE",
    summary="Optimism on released counts with a bonus of our own.",
    source="nobody's: an example",
    privacies=("central", "none"),
    statistic=NOISY,
    plan=plan,
    constants=constants,
)
'''

PROJECT = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "dprl-KEY"
version = "0.1.0"
description = "TITLE, an algorithm for dprl"
requires-python = ">=3.11"
dependencies = ["dprl>=VERSION"]

[project.optional-dependencies]
dev = ["pytest"]

[project.entry-points."dprl.learners"]
KEY = "MODULE.learner:ALGORITHM"

[tool.setuptools]
packages = ["MODULE"]
"""

README = """# TITLE

An algorithm for dprl.

    pip install -e ".[dev]"    # from now on it is in every menu
    pytest                     # says in one sentence what is wrong with it
    dprl run --algorithm KEY --episodes 1e4 --out results

`MODULE/learner.py` has it: replace `plan` by your own. While it is still plain NumPy that cannot be compiled, check it
by `dprl.testing.check_learner(ALGORITHM, compiles=False)` and run it by `dprl.testing.run_plain(spec)`.
"""

TEST = '''"""TITLE keeps to what dprl asks of an algorithm, and runs."""

import numpy as np

import dprl
from dprl import testing
from MODULE.learner import ALGORITHM


def test_it_keeps_the_contract():
    """It is handed what was released and nothing else, repeats itself, and has the same bits compiled."""
    testing.check_learner(ALGORITHM)


def test_it_is_registered_and_runs_with_each_privacy_model():
    assert dprl.ALGORITHMS[ALGORITHM.key] is ALGORITHM
    for privacy in ALGORITHM.privacies:
        spec = dprl.RunSpec(
            environment_params={"S": 3, "H": 4}, algorithm=ALGORITHM.key, privacy=privacy, episodes=1000, seeds=2
        )
        trace = dprl.run(spec)
        assert np.isfinite(trace.regret).all()
        if privacy != "none":
            assert trace.guarantee.proved_epsilon <= spec.epsilon * (1 + 1e-9)
'''


def files(name: str) -> dict[str, str]:
    """The package of an algorithm with this name: texts by path.

    Raises:
        SpecError: the name is not allowed, or an algorithm has it.
    """
    module = f"dprl_{name.replace('-', '_')}"
    if not NAME.fullmatch(name) or len(name) > LONGEST or keyword.iskeyword(name):
        raise SpecError(
            "name", f"{shown(name)} is not allowed; give small letters, digits and hyphens: my-learner."
        )
    if name in ALGORITHMS:
        raise SpecError("name", f"there is an algorithm {name} already; give another name.")
    whole = {
        "README.md": README,
        "pyproject.toml": PROJECT,
        f"{module}/__init__.py": '"""TITLE, an algorithm for dprl."""\n',
        f"{module}/learner.py": LEARNER,
        "tests/test_learner.py": TEST,
    }
    title = name.replace("-", " ").capitalize()
    words = {"KEY": name, "TITLE": title, "MODULE": module, "VERSION": __version__}
    return {
        path: re.sub("|".join(words), lambda found: words[found[0]], text) for path, text in whole.items()
    }


def write(name: str, folder: Path) -> Path:
    """Write the package of an algorithm into folder/NAME, which must not be there yet.

    Raises:
        SpecError: the name is not allowed, or the folder is there or cannot be written to.
    """
    texts, root = files(name), folder / name
    try:
        root.mkdir(parents=True)
        for path, text in texts.items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
    except FileExistsError:
        raise SpecError(
            "name", f"there is {shown(str(root))} already; give another name or folder."
        ) from None
    except OSError as error:
        raise SpecError("out", f"{shown(str(root))} cannot be written to ({error.strerror}).") from None
    return root


def add_new(commands: Any) -> None:
    """The flags of `new`."""
    parser = commands.add_parser(
        "new", help="write a package with an algorithm of your own", allow_abbrev=False
    )
    parser.add_argument("what", choices=("learner",), help="an online tabular algorithm, with tests")
    parser.add_argument("name", metavar="NAME", help="its key, such as my-learner")
    parser.add_argument(
        "--out", metavar="DIR", default=".", help="where to write the folder NAME (default: here)"
    )


def new_command(given: argparse.Namespace) -> int:
    """Write a package, and say what to do with it."""
    root = write(given.name, Path(given.out))
    print(f'Wrote {root}. Now: cd {root} && pip install -e ".[dev]" && pytest')
    return 0
