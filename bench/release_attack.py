"""A whole release of a file, attacked: python -m bench.release_attack [executions, by default 100000]

Two files differ in one person, who has three episodes in each and does something else in all of them. Each execution is
all of it: the file is read, counted and kept, a budget opened, the release charged, drawn, learned from and written.
(Where nobody is held out, a file that was read serves for ten, for reading it again gives the same counts; a table, a
sheet to print and a release beyond the total are then asked for once in ten.) The attacker
knows everybody else's data and sees all that may be shown: the release, its files and their sizes, the budget's line,
what is said of a release beyond its total, and how long an answer took, to the second. A lower bound on epsilon from
each of these (Clopper, Pearson) must not be above what is proved.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from dprl.fields import SpecError
from dprl.metrics.attack import surely
from dprl.privacy.curator import CuratorNoise
from dprl.research.sheet import sheet
from dprl.simulation import UploadSpec, UploadTrace, upload
from dprl.simulation.uploads import kept
from dprl.simulation.uploads import run as runs
from dprl.simulation.uploads import trace as traces
from dprl.simulation.uploads.declaration import declaration_text
from dprl.simulation.uploads.ledger import Budget, folder
from dprl.simulation.uploads.spec import LEARNERS
from dprl.simulation.uploads.spent import together
from dprl.statistics import REWARDS, TRANSITIONS

M = 3  # episodes of one person
PUBLIC: dict[str, Any] = {
    "states": ["a", "b"], "actions": ["x", "y"], "horizon": 1, "columns": {"person": "who"}, "episodes": M,
    "start": [0.5, 0.5],
}  # fmt: skip
HEADING = "who,episode,step,state,action,reward\n"
OTHERS = "".join(f"p{i},1,0,{'ab'[i % 2]},{'xy'[i // 2 % 2]},{i % 3 / 2}\n" for i in range(12))
ME = ("a,x,1", "b,y,0")  # each episode, in either world
WORLDS = tuple(HEADING + OTHERS + "".join(f"me,{i},0,{step}\n" for i in range(M)) for step in ME)
# What is promised, and the share held out; of all executions, so many.
PROMISES: dict[str, tuple[dict[str, Any], float]] = {
    "rho = 0.1": ({"rho": 0.1, "held_out": 0.0}, 0.45),
    "rho = 0.1, half held out": ({"rho": 0.1, "held_out": 0.5}, 0.1),
}
ROUNDS = 20
DELTA = 1e-3  # at which rho is a pair: where so many executions can see something
DRAWN_AT_RANDOM = re.compile(r'"[0-9a-f]{32,64}"|\d{4}-\d\d-\d\dT[\d:+]+')  # names, keys and the time of day


@dataclass
class Seen:
    """Of executions in one world: numbers by what they are of, and the different texts by what they say."""

    numbers: dict[str, list[float]] = field(default_factory=dict)
    texts: dict[str, set[str]] = field(default_factory=dict)

    def add(self, numbers: dict[str, float], texts: dict[str, str]) -> None:
        """One more execution."""
        for name, value in numbers.items():
            self.numbers.setdefault(name, []).append(value)
        for name, text in texts.items():
            self.texts.setdefault(name, set()).add(text)

    def join(self, other: Seen) -> None:
        """Those of another process, too."""
        for name, values in other.numbers.items():
            self.numbers.setdefault(name, []).extend(values)
        for name, texts in other.texts.items():
            self.texts.setdefault(name, set()).update(texts)


@contextlib.contextmanager
def noise_once(times: float = 1.0) -> Iterator[None]:
    """The scales of noise are chosen once, not for every file: they follow from public numbers. times: as much of it as
    is right, for a fault that the attack has to find."""
    choose, installed = vars(runs)["noise_of"], vars(traces)["version"]

    @cache
    def chosen(text: str) -> tuple[CuratorNoise, dict[str, float]]:
        noise, errors = choose(UploadSpec.from_dict(json.loads(text)))
        return replace(noise, scales={name: times * scale for name, scale in noise.scales.items()}), errors

    def of(spec: UploadSpec) -> tuple[CuratorNoise, dict[str, float]]:
        fields = {
            name: value for name, value in spec.to_dict().items() if name != "kind" and value is not None
        }
        return chosen(json.dumps(fields | {"data": "0" * 32}))

    vars(runs)["noise_of"] = of
    vars(traces)["version"] = cache(installed)
    runs.draws_of.cache_clear()
    try:
        yield
    finally:
        vars(runs)["noise_of"], vars(traces)["version"] = choose, installed
        runs.draws_of.cache_clear()


def execute(
    world: int, promise: dict[str, Any], again: UploadSpec | None = None
) -> tuple[dict[str, float], dict[str, str]]:
    """One release, from the file on, or from the counts of one that was read; what of it may be shown."""
    began = time.perf_counter()
    budget = Budget("ward", rho=10)
    if again is None:
        spec = _accepted(world, promise, budget)
    else:
        spec = again.replace(data=kept.new_name())
        shutil.copy(kept.folder() / f"{again.data}.npz", kept.folder() / f"{spec.data}.npz")
    try:
        run = runs.UploadRun(spec, 0)
        while not run.advance(1.0):
            pass
        trace = run.trace()
        beyond = refused(spec) if again is None else ""
        line = next(folder().glob("*.json")).read_text(encoding="utf-8")
    finally:
        kept.forget(spec.data)
        _close_budgets()
    policy = trace.portable
    files = {"release.json": trace.release(), "policy.json": policy.to_json()}
    if again is None:
        files |= {"policy.csv": policy.csv_text(), "sheet.html": sheet(policy)}
    numbers = {
        "likelihood ratio": ratio(trace),
        **{f"size of {name}": len(text) for name, text in files.items()},
    }
    numbers |= {
        "size of the stored run": len(trace.to_bytes()),
        "size of the budget": len(line),
        "seconds, rounded": round(time.perf_counter() - began),
        "policies": float(trace.policies.ravel() @ 2 ** np.arange(trace.policies.size)),
        "bound": float(trace.curve.values[0]),
    }
    if trace.checked:
        numbers |= {
            f"held out, {key}": float(trace.checked["difference"][i, 1]) for i, key in enumerate(LEARNERS)
        }
    # How many of the others are held out is drawn anew for each file, and is in the spec.
    line = re.sub(r'"(checked|held_out)": [\d.]+', "", line) if spec.checked else line
    texts = {"what the budget says": DRAWN_AT_RANDOM.sub("", line)}
    return numbers, texts | ({"what is refused": beyond} if again is None else {})


def _accepted(world: int, promise: dict[str, Any], budget: Budget) -> UploadSpec:
    """A file that is read. Once in 8,192 times all 13 people would be held out, whoever they are: that is refused. As
    often nobody is, and the budget has a line less: that is drawn again, too."""
    while True:
        try:
            spec = upload(
                io.BytesIO(WORLDS[world].encode()), declaration_text(PUBLIC), budget=budget, tell=_nobody,
                recall=_nobody, **promise,
            )  # fmt: skip
            if spec.checked or not promise["held_out"]:
                return spec
            kept.forget(spec.data)
        except SpecError:
            if not promise["held_out"]:
                raise


def _nobody(_: object) -> None:
    """The owner alone is told."""


def refused(spec: UploadSpec) -> str:
    """What is said of a release beyond the budget's total."""
    try:
        runs.UploadRun(spec.replace(rho=1e5), 0)
    except SpecError as error:
        return str(error)
    return "nothing"


@cache
def _apart() -> tuple[np.ndarray, np.ndarray]:
    """[2] worlds: the sums of the people learned from where nobody is held out: transitions, then rewards."""
    found = []
    for world in WORLDS:
        spec = upload(
            io.BytesIO(world.encode()), declaration_text(PUBLIC), held_out=0.0, tell=_nobody, rho=1.0
        )
        record = kept.held(spec.data).record
        kept.forget(spec.data)
        found.append(np.concatenate([TRANSITIONS.sums(record).ravel(), REWARDS.sums(record).ravel()]))
    return found[0], found[1]


def ratio(trace: UploadTrace) -> float:
    """The log-likelihood ratio of what was released of those learned from; where people are held out by coins that
    nobody sees, as if nobody was: a number like another then."""
    first, second = _apart()
    noise, _ = vars(runs)["noise_of"](trace.spec)
    assert noise.mechanism is not None
    scales = np.repeat(
        [noise.scales["transitions"], noise.scales["rewards"]],
        [TRANSITIONS.sums(trace.released).size, REWARDS.sums(trace.released).size],
    )
    seen = np.concatenate([TRANSITIONS.sums(trace.released).ravel(), REWARDS.sums(trace.released).ravel()])
    return float((((seen - second) ** 2 - (seen - first) ** 2) / (2 * scales**2)).sum())


def attacked(promise: dict[str, Any], executions: int, times: float = 1.0) -> tuple[Seen, Seen]:
    """So many executions in each world, one after the other in turn."""
    worlds = (Seen(), Seen())
    last: list[UploadSpec | None] = [None, None]
    with noise_once(times):
        for i in range(executions):
            for world, seen in enumerate(worlds):
                if i % 10 == 0 and not promise["held_out"]:
                    last[world] = _read(world, promise, last[world])
                seen.add(*execute(world, promise, last[world] if i % 10 else None))
    for each in last:
        if each is not None:
            kept.forget(each.data)
    return worlds


def _read(world: int, promise: dict[str, Any], before: UploadSpec | None) -> UploadSpec:
    """A file that nine more executions begin with the counts of."""
    if before is not None:
        kept.forget(before.data)
    found = _accepted(world, promise, Budget("ward", rho=10))
    _close_budgets()
    return found


def _close_budgets() -> None:
    for path in folder().glob("*.json"):
        path.unlink()


def proved(promise: dict[str, Any]) -> tuple[float, float]:
    """epsilon and delta."""
    spec = UploadSpec(data="0" * 32, declared=declaration_text(PUBLIC), n=13, **promise)
    spent = together(runs.draws_of(spec))
    return spent.epsilon(DELTA), DELTA


def measured(worlds: tuple[Seen, Seen], delta: float) -> dict[str, float]:
    """A lower bound on epsilon from each number that is seen; infinite for a text that only one world has."""
    first, second = worlds
    found = {
        name: surely(np.array(values), np.array(second.numbers[name]), delta)
        for name, values in first.numbers.items()
    }
    for name, texts in first.texts.items():
        found[name] = 0.0 if texts == second.texts[name] and len(texts) == 1 else np.inf
    return found


def _part(given: tuple[str, int]) -> tuple[Seen, Seen]:
    """In a process of its own, with a home of its own that is not on a disk."""
    name, executions = given
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as home:
        os.environ["DPRL_HOME"] = home
        return attacked(PROMISES[name][0], executions)


def main(executions: int, processes: int = 3) -> int:
    """1 where anything is above what is proved. In rounds, lest all be lost where it is ended."""
    worlds = {name: (Seen(), Seen()) for name in PROMISES}
    failed = 0
    with get_context("spawn").Pool(processes) as pool:
        for part in range(ROUNDS):
            for name, (_, share) in PROMISES.items():
                of_each = round(executions * share / 2 / ROUNDS / processes)
                for found in pool.map(_part, [(name, of_each)] * processes):
                    for seen, other in zip(worlds[name], found, strict=True):
                        seen.join(other)
            print(f"\nRound {part + 1} of {ROUNDS}:\n")
            failed = table(worlds)
    return failed


def table(worlds: dict[str, tuple[Seen, Seen]]) -> int:
    """Printed; 1 where anything is above what is proved."""
    print(
        "| promised | proved | executions | seen | epsilon at least |\n| --- | --- | --- | --- | --- |",
        flush=True,
    )
    failed = False
    for name, (promise, _) in PROMISES.items():
        epsilon, delta = proved(promise)
        for what, found in measured(worlds[name], delta).items():
            number = 2 * len(worlds[name][0].numbers["bound"])
            print(f"| {name} | ({epsilon:.4g}, {delta:g}) | {number:,} | {what} | {found:.3g} |", flush=True)
            failed |= found > epsilon
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
