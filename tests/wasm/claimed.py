"""Fifty links that carry check values, ten of them falsified, each in another way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dprl import RunSpec
from dprl.simulation import Trace, run
from dprl.verify import LinkCheck, check_of
from pages.shared.visitor.address import query_of
from pages.shared.visitor.links import AT_FIRST, Curve, encode
from tests.wasm.cases import covered

Claim = tuple[list[RunSpec], LinkCheck]


def authors() -> list[RunSpec]:
    """Fifty runs: every covered algorithm with every privacy model and mechanism, and then other settings."""
    found = [small(**chosen) for chosen in covered()]
    others = (
        {"environment": "gridworld", "environment_params": {"H": 3}},
        {"environment": "random", "environment_params": {"S": 3, "A": 3, "H": 3}},
        {"environment": "chain", "environment_params": {"S": 3, "H": 4}, "privacy": "local"},
        {"bonus": "paper", "calibration": "paper", "mechanism": "laplace-tree"},
        {"schedule": "episodic", "episodes": 500},
        {"stationary": "yes"},
        {"epsilon": 0.05, "root_seed": 7},
    )
    return found + [small(**one) for one in others]


def small(**chosen: object) -> RunSpec:
    usual: dict[str, object] = {"environment_params": {"S": 3, "H": 4}, "episodes": 2_000, "seeds": 2}
    return RunSpec(**(usual | chosen))  # type: ignore[arg-type]


def link_to(specs: Sequence[RunSpec], check: LinkCheck) -> str:
    return f"explore?{query_of(encode([Curve(spec) for spec in specs], AT_FIRST))}&check={check}"


def claim_of(specs: Sequence[RunSpec]) -> Claim:
    """What an author writes."""
    traces: list[Trace] = [run(spec) for spec in specs]
    return list(specs), check_of(traces)


def _value(place: int, change: Callable[[float], float]) -> Callable[[Claim], Claim]:
    def falsified(claim: Claim) -> Claim:
        specs, check = claim
        values = list(check.values)
        values[place] = change(values[place])
        return specs, replace(check, values=tuple(values))

    return falsified


def _up(value: float) -> float:
    return float(np.nextafter(value, np.inf))


def _digest(claim: Claim) -> Claim:
    specs, check = claim
    return specs, replace(check, digest=check.digest[:-1] + ("1" if check.digest[-1] == "0" else "0"))


def _spec(change: Callable[[RunSpec], RunSpec]) -> Callable[[Claim], Claim]:
    return lambda claim: ([change(spec) for spec in claim[0]], claim[1])


FALSIFIED: dict[str, Callable[[Claim], Claim]] = {
    "the first value's last bit": _value(0, _up),
    "a value's last bit": _value(4, _up),
    "the last value's last bit": _value(9, _up),
    "a value that is no number": _value(3, lambda _: float("nan")),
    "a value's sign": _value(7, lambda value: -value),
    "a value of a tenth": _value(8, lambda value: value / 10),
    "the digest": _digest,
    "the budget": _spec(lambda spec: spec if spec.epsilon is None else spec.replace(epsilon=0.3)),
    "the number of seeds": _spec(lambda spec: spec.replace(seeds=spec.seeds + 1)),
    "the random numbers": _spec(lambda spec: spec.replace(root_seed=spec.root_seed + 1)),
}
