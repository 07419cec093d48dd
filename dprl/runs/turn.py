"""A turn: a short stretch of a worker's work on a run. This module uses neither the store nor Dask."""

from __future__ import annotations

import importlib
import logging
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dprl.fields import SpecError

log = logging.getLogger("dprl.runs.worker")

TURN = 0.25  # s
HELD = 5  # the most seeds that a worker interleaves, so that several runs of one visitor grow side by side
MOST = 8  # the same limit if the additional seeds are for visitors for whom no worker has started a seed
KEPT = MOST + 4  # the most interrupted runs that a worker keeps; others start again at their next turn

# The module whose functions play seeds and answer questions; tests use a small one.
SIMULATION = "dprl.simulation"


@dataclass(frozen=True)
class Order:
    """A task for a worker: to simulate a seed or to answer a question. `spec` is JSON text."""

    what: Literal["seed", "question"]
    key: str
    spec: str
    seed: int = 0
    question: str = ""


@dataclass(frozen=True)
class Report:
    """A worker's report at the end of a turn.

    curve: the points so far (`at`, then `values`), or the answer to a question. trace: set once the seed is finished.
    failed: the reason for a failure, in a sentence. refused: True if this worker cannot play the spec.
    """

    progress: float = 0.0
    curve: bytes = b""
    trace: bytes | None = None
    failed: str = ""
    refused: bool = False


_runs: OrderedDict[str, Any] = OrderedDict()  # the latest interrupted one last


def play(order: Order, simulation: str = SIMULATION, turn: float = TURN) -> Report:
    """Work on a task for about one turn, and return a report. Every exception becomes a sentence in the report."""
    try:
        module = importlib.import_module(simulation)
        if order.what == "question":
            return Report(1.0, module.answer(order.question, module.spec_from_json(order.spec)).encode())
        if (run := _runs.pop(order.key, None)) is None:
            spec = module.spec_from_json(order.spec)
            if spec.seed_key(order.seed) != order.key:
                return Report(
                    failed="The program has changed since this run was requested; request it again."
                )
            run = module.start(spec, order.seed)
        done, curve = run.advance(turn), run.curve()
        points = np.asarray(curve.at, "<i8").tobytes() + np.asarray(curve.values, "<f8").tobytes()
        if done:
            return Report(1.0, points, run.trace().to_bytes())
        _runs[order.key] = run
        if len(_runs) > KEPT:
            _runs.popitem(last=False)
        return Report(float(run.progress), points)
    except SpecError as error:
        return Report(failed=str(error), refused=True)
    except Exception as error:
        log.exception("A turn failed", extra={"key": order.key, "seed": order.seed})
        text = ": ".join(filter(None, (type(error).__name__, " ".join(str(error).split())[:300])))
        return Report(failed=f"Seed {order.seed} failed: {text}.")
