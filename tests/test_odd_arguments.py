"""Whatever a public callable is given, it answers in a sentence."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import dprl
from dprl.research.background import RunFailed
from dprl.runs.database import StoreError
from dprl.runs.store import Store
from dprl.testing import CheckFailed

SPEC = dprl.RunSpec("riverswim", environment_params={"S": 3, "H": 2}, episodes=10, seeds=2)
DATA = dprl.OfflineSpec("riverswim", environment_params={"S": 3, "H": 2}, n=10, seeds=2)
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 2.5, float("nan"), 10**400, "", "x", "{}", "[1]", b"x", [], [1], [None], (), {},
    {"x": 1}, {1: 2}, object(), np.zeros(3), np.full((2, 2), 0.5), lambda *_: 0, SPEC, dprl.RunSpec, Path("nothing"),
)  # fmt: skip
# Not for users to call: results are made by runs, and the store names its units.
MADE = {"SPEC.seed_key", "DATA.seed_key", "SeedTrace.restored", "SeedTrace", "Guarantee.from_dict"}
SENTENCE = dprl.SpecError, CheckFailed, RunFailed, StoreError
HIDDEN = {"run_async", "privacy", "testing"}  # a coroutine, and modules


@cache
def trace() -> Any:
    return dprl.run(SPEC)


@cache
def swept() -> Any:
    sweep = dprl.Sweep(SPEC, {"epsilon": [0.5, 1]})
    curves = {spec: dprl.metrics.curves.RunCurves(np.array([10]), np.ones((2, 1))) for spec in sweep.specs}
    return dprl.SweepResult(sweep, curves)


def callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function, class, constructor and method, by name."""
    objects: dict[str, Any] = {"SPEC": SPEC, "DATA": DATA, "trace": trace(), "swept": swept()}
    objects |= {"compared": dprl.compare([trace()]), "Sweep": swept().sweep, "ALGORITHMS": dprl.ALGORITHMS}
    objects |= {"model": dprl.ENVIRONMENTS["riverswim"].make(S=3, H=2)}
    modules = {"dprl": dprl, "privacy": dprl.privacy, "testing": dprl.testing}
    for module, holder in modules.items():
        for name in set(holder.__all__) - HIDDEN - MADE:
            value = getattr(holder, name)
            if callable(value) and not (isinstance(value, type) and issubclass(value, Exception)):
                objects[f"{module}.{name}"] = value
                yield f"{module}.{name}", value
    for name, value in objects.items():
        for method in dir(value):
            if method.startswith("_") or f"{name.partition('.')[2] or name}.{method}" in MADE:
                continue
            found = getattr(value, method)
            mine = isinstance(inspect.getattr_static(value, method), classmethod)
            if callable(found) and (mine or not isinstance(value, type)):
                yield f"{name}.{method}", found


CALLS = dict(callables())


@pytest.mark.parametrize("name", sorted(CALLS))
def test_odd_arguments_get_a_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPRL_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Store, "begin", Mock(side_effect=StoreError("Nothing is computed here.")))
    call = CALLS[name]
    try:
        parameters = list(inspect.signature(call).parameters.values())
    except ValueError:
        return  # a class of the standard library
    parameters = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    named = [p.name for p in parameters if p.default is not p.empty and p.kind != p.POSITIONAL_ONLY]
    needed = sum(p.default is p.empty and p.kind != p.KEYWORD_ONLY for p in parameters)
    for odd in ODD:
        given: list[Any] = [([odd] * needed, {})] * (needed > 0)
        given += [([SPEC] * needed, {one: odd}) for one in named]
        for arguments, keywords in given:
            try:
                call(*arguments, **keywords)
            except SENTENCE as error:
                assert str(error).rstrip().endswith((".", ")")), str(error)  # noqa: PT017
            except Exception as error:
                raise AssertionError(f"{name}(*{arguments!r}, **{keywords!r}): {error!r}") from error
