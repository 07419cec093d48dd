"""Problems the tests are run on: random MDPs that differ at every step, and registry entries made small."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS, ENVIRONMENTS, RunSpec, SpecError, TabularMDP
from dprl.__main__ import main
from dprl.learners import Learner
from dprl.mdp import Size
from dprl.simulation.pairs import runs_in

ROOT = Path(__file__).parents[1]


def first(values: Iterable[Any], like: Callable[[Any], Hashable] = lambda value: None) -> list[Any]:
    """Parameters of a test: the first value of each kind, and thoroughly those that are `like` one before."""
    seen: set[Hashable] = set()
    found = []
    for value in values:
        marks = [pytest.mark.thorough] if like(value) in seen else []
        seen.add(like(value))
        found.append(pytest.param(*(value if isinstance(value, tuple) else [value]), marks=marks))
    return found


QUICK = False  # set in tests/conftest.py where what is thorough is left out


def few(most: int) -> int:
    """How many inputs, made at random but the same at each run, a property is tried on: a quarter in `make test`."""
    return most // 4 if QUICK else most


@contextmanager
def refused(beginning: str) -> Iterator[pytest.ExceptionInfo[SpecError]]:
    """Check that this block raises a SpecError whose text, `field: sentence`, begins like this."""
    with pytest.raises(SpecError) as error:
        yield error
    text = str(error.value)
    assert text.startswith(beginning), text
    assert text.startswith(f"{error.value.field}: ")
    assert text.isprintable()
    assert text.endswith(".")
    assert len(text) < 500


def left(capsys: pytest.CaptureFixture[str], *arguments: str, first: bool = True) -> str:
    """The one line with which `dprl` refuses its arguments, and with status 2. first: whether nothing comes before."""
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    out, err = capsys.readouterr()
    *before, last = err.removesuffix("\n").split("\n")
    assert (stopped.value.code, out) == (2, "")
    assert last.startswith("dprl: ")
    assert last.isprintable()
    assert before == [] or not first
    return last.removeprefix("dprl: ")


def python(code: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """What comes of this code in a process of its own."""
    given = os.environ | environment
    return subprocess.run([sys.executable, "-c", code], cwd=cwd, env=given, capture_output=True, text=True)


def finished(run: Any) -> Any:
    while not run.advance(60.0):
        pass
    return run


def loop(algorithm_key: str) -> str:
    return ALGORITHMS[algorithm_key].loop


def of_data(key: str) -> dict[str, Any]:
    """Fields of an offline spec: `KEY-rewards` is the learner KEY where it learns rewards."""
    known = key.removesuffix("-rewards")
    return {"algorithm": known, "rewards": "known" if known == key else "learned"}


def random_mdp(
    seed: int, S: int, A: int, H: int, *, bernoulli: bool = True, sparse: bool = False
) -> TabularMDP:
    """Other transitions and rewards at every step. `sparse`: about a third of the transitions cannot happen."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(S), size=(H, S, A))
    d1 = rng.dirichlet(np.ones(S))
    if sparse:
        P = P * (rng.random(P.shape) > 0.35)
        P[..., rng.integers(S)] += 1e-3
        P /= P.sum(-1, keepdims=True)
    return TabularMDP(
        name="random",
        P=P,
        R=rng.choice([0.0, 1.0, 0.5, 0.123], size=(H, S, A)) * rng.random((H, S, A)).round(2),
        d1=d1,
        state_labels=tuple(map(str, range(S))),
        action_labels=tuple(map(str, range(A))),
        bernoulli=bernoulli,
    )


def model(S: int = 2, A: int = 2, seed: int = 0) -> str:
    """The JSON text of a custom MDP, with labels."""
    rng = np.random.default_rng(seed)
    return json.dumps(
        {
            "name": "made up",
            "P": (rng.multinomial(1000, np.ones(S) / S, size=(S, A)) / 1000).tolist(),
            "R": rng.random((S, A)).round(3).tolist(),
            "d1": [1.0] + [0.0] * (S - 1),
            "state_labels": [f"s{s}" for s in range(S)],
            "action_labels": [f"a{a}" for a in range(A)],
        }
    )


SMALL: dict[str, Any] = {
    "S": 3, "A": 2, "H": 3, "n": 1, "m": 1, "levels": 1, "doses": 2, "map": "SG", "model": model(),
}  # fmt: skip


def tiny(H: int, **more: Any) -> dict[str, Any]:
    """Fields of a spec of a random problem with three states and two actions."""
    return {"environment": "random", "environment_params": {"S": 3, "A": 2, "H": H}} | more


def small_params(environment: str) -> dict[str, Any]:
    """Parameters that make any registered environment small: sizes 3, 2, 3 or so where it takes them."""
    return {
        f.name: max(SMALL[f.name], int(f.low or 0)) if f.kind == "int" else SMALL[f.name]
        for f in ENVIRONMENTS[environment].fields
        if f.name in SMALL
    }


def fits(learner: Learner, environment: str, params: dict[str, Any]) -> bool:
    """Whether a problem is small enough for this learner, and has what it needs."""
    if not runs_in(learner.key, environment):
        return False
    if not learner.schedule:
        return True
    given = RunSpec(environment=environment, environment_params=params).environment_params
    return not learner.refusal(Size(*ENVIRONMENTS[environment].size(**given)), 10**15)


def home(algorithm: str) -> str:
    """An environment for a learner: `random` if that is one."""
    return (
        "random" if runs_in(algorithm, "random") else next(e for e in ENVIRONMENTS if runs_in(algorithm, e))
    )


# every learner that replans, with each privacy model
PAIRS = [(a.key, privacy) for a in ALGORITHMS.values() if a.loop == "replan" for privacy in a.privacies]
# every learner that eliminates policies, likewise: those that list all, and those that do not
ELIMINATORS = [
    (a.key, privacy) for a in ALGORITHMS.values() if a.loop == "eliminate" for privacy in a.privacies
]
STAGED, RELAXED = (
    [one for one in ELIMINATORS if ("relaxed" in one[0]) is relaxed] for relaxed in (False, True)
)
