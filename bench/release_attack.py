"""Attack complete releases of a file: python -m bench.release_attack [executions, by default 100000]

Two files differ in one person, who has three episodes in each and acts differently in all of them. Each execution is
complete: the file is read, counted and stored, a budget opened, the release charged, drawn, learned from and written.
(If nobody is held out, one reading serves for ten executions, because reading the file again gives the same counts; a
table, a sheet to print and a release beyond the total are then requested once in ten.) The attacker knows everybody
else's data and sees everything that may be shown: the release, its files and their sizes, the budget's line, the
message about a release beyond its total, and the time of an answer, to the second. A lower bound on epsilon from each
of these (Clopper, Pearson) must not be above the proved epsilon.
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
from dprl.simulation.uploads.ledger import Budget, folder, together
from dprl.simulation.uploads.spec import LEARNERS
from dprl.statistics import REWARDS, TRANSITIONS

M = 3  # episodes of one person
PUBLIC: dict[str, Any] = {
    "states": ["a", "b"], "actions": ["x", "y"], "horizon": 1, "columns": {"person": "who"}, "episodes": M,
    "start": [0.5, 0.5],
}  # fmt: skip
HEADING = "who,episode,step,state,action,reward\n"
OTHERS = "".join(f"p{i},1,0,{'ab'[i % 2]},{'xy'[i // 2 % 2]},{i % 3 / 2}\n" for i in range(12))
ME = ("a,x,1", "b,y,0")  # each episode of this person, in the two worlds
WORLDS = tuple(HEADING + OTHERS + "".join(f"me,{i},0,{step}\n" for i in range(M)) for step in ME)
# The guarantee and the share held out, and the share of all executions.
PROMISES: dict[str, tuple[dict[str, Any], float]] = {
    "rho = 0.1": ({"rho": 0.1, "held_out": 0.0}, 0.45),
    "rho = 0.1, half held out": ({"rho": 0.1, "held_out": 0.5}, 0.1),
}
ROUNDS = 20
DELTA = 1e-3  # the delta at which rho is converted, large enough for this number of executions
DRAWN_AT_RANDOM = re.compile(r'"[0-9a-f]{32,64}"|\d{4}-\d\d-\d\dT[\d:+]+')  # names, keys and times


@dataclass
class Seen:
    """What an attacker observes in one of two worlds: numbers by name, and the distinct texts by name."""

    numbers: dict[str, list[float]] = field(default_factory=dict)
    texts: dict[str, set[str]] = field(default_factory=dict)

    def add(self, numbers: dict[str, float], texts: dict[str, str]) -> None:
        """Add the observations of one simulated release."""
        for name, value in numbers.items():
            self.numbers.setdefault(name, []).append(value)
        for name, text in texts.items():
            self.texts.setdefault(name, set()).add(text)

    def join(self, other: Seen) -> None:
        """Add the observations that another process has made in the same world."""
        for name, values in other.numbers.items():
            self.numbers.setdefault(name, []).extend(values)
        for name, texts in other.texts.items():
            self.texts.setdefault(name, set()).update(texts)


@contextlib.contextmanager
def noise_once(times: float = 1.0) -> Iterator[None]:
    """Compute the noise scales only once in this context, because they depend on public numbers alone. times: a
    factor on the noise; below 1, it is a fault that the attack has to find."""
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
    """Make one release, from the file, or from counts that were read before; return all numbers and texts that an
    attacker may see."""
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
    # The number of others held out is random for each file, and is part of the spec.
    line = re.sub(r'"(checked|held_out)": [\d.]+', "", line) if spec.checked else line
    texts = {"what the budget says": DRAWN_AT_RANDOM.sub("", line)}
    return numbers, texts | ({"what is refused": beyond} if again is None else {})


def _accepted(world: int, promise: dict[str, Any], budget: Budget) -> UploadSpec:
    """Read a file; read it again if the random split is refused or reveals itself: once in 8,192 times all 13
    people, or none, would be held out."""
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
    """Ignore a message that only the owner of the data sees."""


def refused(spec: UploadSpec) -> str:
    """Return the error message for a release that exceeds the budget's total."""
    try:
        runs.UploadRun(spec.replace(rho=1e5), 0)
    except SpecError as error:
        return str(error)
    return "nothing"


@cache
def _apart() -> tuple[np.ndarray, np.ndarray]:
    """Return the exact sums in each of the two worlds if nobody is held out: transitions, then rewards."""
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
    """Return the log-likelihood ratio of the released sums between the two worlds, as if nobody was held out. If
    people are held out at random, it is still a number that the attacker can use."""
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
    """Simulate this many releases in each of the two worlds, alternately; return the observations."""
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
    """Read a file, and keep its counts for nine more releases. before: the earlier reading, which is deleted."""
    if before is not None:
        kept.forget(before.data)
    found = _accepted(world, promise, Budget("ward", rho=10))
    _close_budgets()
    return found


def _close_budgets() -> None:
    for path in folder().glob("*.json"):
        path.unlink()


def proved(promise: dict[str, Any]) -> tuple[float, float]:
    """Return the epsilon that we prove for a release, and the delta."""
    spec = UploadSpec(data="0" * 32, declared=declaration_text(PUBLIC), n=13, **promise)
    spent = together(runs.draws_of(spec))
    return spent.epsilon(DELTA), DELTA


def measured(worlds: tuple[Seen, Seen], delta: float) -> dict[str, float]:
    """Return a lower bound on epsilon from each observed number or text; inf for a text seen in only one world."""
    first, second = worlds
    found = {
        name: surely(np.array(values), np.array(second.numbers[name]), delta)
        for name, values in first.numbers.items()
    }
    for name, texts in first.texts.items():
        found[name] = 0.0 if texts == second.texts[name] and len(texts) == 1 else np.inf
    return found


def _part(given: tuple[str, int]) -> tuple[Seen, Seen]:
    """Simulate releases in a separate process, whose files are in memory."""
    name, executions = given
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as home:
        os.environ["DPRL_HOME"] = home
        return attacked(PROMISES[name][0], executions)


def main(executions: int, processes: int = 3) -> int:
    """Run the attack in rounds, and print the results after each; return 1 if a bound exceeds the proved epsilon."""
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
    """Print the table of results; return 1 if a measured bound exceeds the proved epsilon."""
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
