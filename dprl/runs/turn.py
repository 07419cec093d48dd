"""A turn: what a worker does before it is asked for the next thing. No store, no Dask: a function."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from dprl.fields import SpecError
from dprl.runs import simulation as simulations
from dprl.runs.turns import MOST, TURN

log = logging.getLogger("dprl.runs.worker")

KEPT = MOST + 4  # runs that a worker has put down, those that were cancelled among them
_SILENCE = 120.0  # s, after which one is forgotten: nobody waits for it any more


@dataclass(frozen=True)
class Order:
    """A task: play a seed, return the results of an interrupted seed, or answer a question. key: of the seed,
    or of the question; spec: as JSON."""

    what: Literal["seed", "stop", "question"]
    key: str
    spec: str
    seed: int = 0
    question: str = ""


@dataclass(frozen=True)
class Report:
    """The outcome of a turn.

    Attributes:
        progress: of the seed, 0 to 1.
        curve: its points so far, `at` and then `values`; of a question the answer.
        trace: of a seed that is done, or was stopped.
        failed: why it cannot be done, in a sentence; refused: because its spec was not one to be played there.
    """

    progress: float = 0.0
    curve: bytes = b""
    trace: bytes | None = None
    failed: str = ""
    refused: bool = False


_runs: OrderedDict[str, tuple[Any, float]] = OrderedDict()  # with when they were put down
_lock = threading.Lock()  # a worker of a Dask cluster may have several threads
_simulation = cache(simulations.load)


def play(order: Order, simulation: str = simulations.DEFAULT, turn: float = TURN) -> Report:
    """Do what is asked, for about a turn. Whatever it raises becomes a sentence."""
    try:
        if order.what == "question":
            found = _simulation(simulation)
            return Report(1.0, found.answer(order.question, found.spec_from_json(order.spec)).encode())
        return _play(order, _simulation(simulation), turn)
    except SpecError as error:
        return Report(failed=str(error), refused=True)
    except Exception as error:
        log.exception("A turn failed", extra={"key": order.key, "seed": order.seed})
        text = ": ".join(filter(None, (type(error).__name__, " ".join(str(error).split())[:300])))
        return Report(failed=f"Seed {order.seed} failed: {text}.")


def _play(order: Order, simulation: simulations.Simulation, turn: float) -> Report:
    with _lock:
        run, _ = _runs.pop(order.key, (None, 0.0))
    if order.what == "stop":
        if run is None:
            return Report()
        report = Report(run.progress, trace=run.trace().to_bytes())
    else:
        if run is None:
            spec = simulation.spec_from_json(order.spec)
            if spec.seed_key(order.seed) != order.key:
                return Report(
                    failed="The program has changed since this run was asked for; ask for it again."
                )
            run = simulation.start(spec, order.seed)
        done = run.advance(turn)
        curve = run.curve()
        points = np.asarray(curve.at, "<i8").tobytes() + np.asarray(curve.values, "<f8").tobytes()
        if done:
            return Report(1.0, points, run.trace().to_bytes())
        report = Report(min(1.0, max(0.0, float(run.progress))), points)
    now = time.monotonic()
    with _lock:  # also if it was stopped: when somebody asks again, it goes on
        _runs[order.key] = run, now
        while len(_runs) > KEPT or now - next(iter(_runs.values()))[1] > _SILENCE:
            _runs.popitem(last=False)
    return report
