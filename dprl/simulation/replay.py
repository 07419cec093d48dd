"""Prepare one seed of a run so that a web page can play it without a server, at several values of epsilon.

Noise is calibrated here for each epsilon in `stops`. A page cannot calibrate noise, so it offers no other epsilon.

For another epsilon, most arrays are multiples of this one's arrays, up to rounding. A page multiplies them and then
corrects the last digits by the stored amounts, so that the run starts from the same bits as a native run.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.engine.module import own_name
from dprl.engine.pack import (
    RESULT,
    Buffer,
    DrawnByPlayer,
    Pack,
    Packing,
    array_words,
    content_of,
    generator_state,
    generator_words,
    told,
)
from dprl.fields import SpecError, reject
from dprl.learners import ALGORITHMS
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp import planning
from dprl.messages import filled
from dprl.privacy import MECHANISMS, outside
from dprl.privacy.mechanisms import optimal
from dprl.privacy.mechanisms.gaussian import gaussian_sum
from dprl.simulation import cost
from dprl.simulation.base import SAID
from dprl.simulation.loops.module_run import ModuleRun, pack
from dprl.simulation.loops.replan import SeedRun
from dprl.simulation.prepare import guarantee_of, streams
from dprl.simulation.spec import RunSpec

QUESTION = "replay"  # the question that pages ask a worker
# The slider's values of epsilon, from hardly any learning to hardly any noise.
STOPS = (
    0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0,
)  # fmt: skip
SEEDS = 20  # of every run, because a page may show more or fewer seeds than the spec has
MOST_SECONDS = 2.0  # for one seed in native code; a browser takes up to four times as long
MOST_BYTES = 50 * 2**20  # for one seed; four are played at a time
LAST_PLACES = 127  # the largest correction, in units of the last place
# If the learner receives its own E (TOLD), E_{eps,beta} (UNSEEN) affects only a record that no page shows, so pages do
# not get its values for other budgets.
UNSEEN, TOLD = "setup.bound", "setup.error"


def unplayable(spec: Any) -> str:
    """Explain in one sentence why no web page can play this run without a server; return "" if one can."""
    if not isinstance(spec, RunSpec):
        return "A browser can only simulate online runs."
    learner = ALGORITHMS[spec.algorithm]
    if not isinstance(learner, TabularLearner):
        return f"A browser cannot simulate {learner.title}, whose preparation needs the LAPACK library."
    mechanism = MECHANISMS[spec.mechanism] if spec.mechanism else None
    if outside.is_outside(spec.mechanism):
        return "A browser cannot draw noise from another package."
    if mechanism is not None and mechanism.prepare not in (None, optimal.correlate):
        return f"A browser cannot simulate {mechanism.title}, as an FFT computes its noise before the run."
    need = cost.estimate(spec.work(spec.mechanism))
    if need.seconds > MOST_SECONDS:
        return filled(SAID["slow"], seconds=need.seconds, most=MOST_SECONDS)
    if need.bytes > MOST_BYTES:
        return "A seed needs too much memory for a browser."
    return ""


def replayed(spec: RunSpec) -> dict[str, Any]:
    """Return a run as JSON for a web page that plays it. Raises SpecError if it cannot be played.

    Returns:
        kernel, words, drawn: see `Pack`, for seed 0 at the run's own epsilon.
        names, buffers, shapes: the names, contents and shapes of its buffers.
        seeds: for each seed, the buffers that differ, by number.
        stops: for each epsilon, the words and buffers that differ, and the guarantee card without its ladder.
        v_star: V*, with the same bits as in a trace.
    """
    if wrong := unplayable(spec) or ModuleRun.lack(spec):
        raise SpecError("algorithm", wrong)
    begun = ModuleRun(spec, 0)
    first = light_pack(begun)
    seeds = [_differing(first, light_pack(ModuleRun(spec, seed))) for seed in range(SEEDS)]
    stops = []
    for epsilon in stops_of(spec):
        own = spec if epsilon is None else spec.replace(epsilon=epsilon)
        run = ModuleRun(own, 0)
        packed = light_pack(run)
        card = guarantee_of(own, run.noise).to_dict()
        del card["ladder"]
        words = [
            [i, other] for i, (mine, other) in enumerate(zip(told(first.words), told(packed.words), strict=True))
            if mine != other
        ]  # fmt: skip
        stops.append(
            {"epsilon": epsilon, "words": words, "buffers": _differing(first, packed), "guarantee": card}
        )
    return {
        "kernel": first.kernel,
        "words": told(first.words),
        "drawn": first.drawn and first.drawn.told(),
        "names": [buffer.name for buffer in first.buffers],
        "shapes": {buffer.name: list(buffer.array.shape) for buffer in first.buffers},
        "buffers": [content_of(buffer.array) for buffer in first.buffers],
        "seeds": seeds,
        "stops": stops,
        "v_star": planning.start_value(begun.mdp, begun.optimum.V),
    }


def light_pack(run: SeedRun) -> Pack:
    """Pack a run before its first user plays. Raises ValueError if users have played.

    Noise that the optimal factorisation draws in advance is left out, because the page draws it with the same bits.
    """
    if run.users > 0:
        raise ValueError("A run has to be packed before its first user plays.")
    packed = pack(run)
    mechanism = run.noise.mechanism
    if mechanism is None or mechanism.prepare is not optimal.correlate:
        return packed
    numbers = {buffer.name: number for number, buffer in enumerate(packed.buffers)}
    rng, memory = numbers["noise_rng"], numbers["state.memory"]
    releases = run.noise.stream.releases
    packing = Packing(packed.buffers)
    packing.buffers[rng] = Buffer("noise_rng", generator_state(streams(run.spec, run.seed)[1]))
    packing.buffers[memory] = Buffer("state.memory", np.zeros_like(run.state.memory))
    # the arguments of `merge` in optimal.factors: its result has 16 numbers per release, and its weights have one
    around = optimal.poles((math.pi / 2) ** 2, 4.0 * releases**2, optimal.CHAINS)
    empty = np.zeros((releases, optimal.CHAINS)), np.zeros((releases, optimal.CHAINS))
    arrays = optimal.factors(releases).p, *around, *empty
    for label, array in zip(("weights", "shift", "weight", "keep", "gain"), arrays, strict=True):
        packing.add(f"draws.{label}", array)
    merging = packing.words
    packing.words = [*RESULT, 0]  # for one item, gaussian_sum adds one draw to each cell
    placed = {buffer.name: number for number, buffer in enumerate(packing.buffers)}
    packing.add("draws.leaves", np.array([0, 1, 2]))
    packing.add("draws.batches", np.zeros((1, 1), dtype=run.setup.batches.dtype))
    packing.add("draws.none", np.zeros((1, 1)))
    packing.words += generator_words(rng)
    packing.words += array_words(memory, run.state.memory.reshape(-1))
    calls = (own_name(optimal.merge), tuple(merging)), (own_name(gaussian_sum), tuple(packing.words))
    drawn = DrawnByPlayer(calls, memory, placed["draws.keep"], placed["draws.gain"])
    return Pack(packed.kernel, packed.words, tuple(packing.buffers), drawn)


def stops_of(spec: RunSpec) -> list[float | None]:
    """Return the epsilon values that a page offers for a run, in ascending order, or [None] without privacy."""
    if spec.epsilon is None:
        return [None]
    return [*sorted({*STOPS, spec.epsilon})]


def _differing(first: Pack, other: Pack) -> list[list[Any]]:
    """Return the index and content of each buffer that differs between two packs, except unused ones (UNSEEN)."""
    unseen = UNSEEN if any(buffer.name == TOLD for buffer in first.buffers) else ""
    return [
        [number, _told_from(mine.array, its.array)]
        for number, (mine, its) in enumerate(zip(first.buffers, other.buffers, strict=True))
        if mine.name != unseen and mine.array.tobytes() != its.array.tobytes()
    ]


def _told_from(base: NDArray[Any], other: NDArray[Any]) -> dict[str, Any]:
    """Encode `other` compactly. If it is nearly a multiple of `base`, store the factor with rounding corrections."""
    if base.shape != other.shape:
        raise reject("epsilon", SAID["shapes"])
    if base.dtype == np.float64 and np.isfinite(base).all() and base.any():
        largest = int(np.abs(base).argmax())
        by = float(other.reshape(-1)[largest] / base.reshape(-1)[largest])
        if by > 0:
            with np.errstate(over="ignore"):
                nearly = base * by
            off = other.view(np.int64) - nearly.view(np.int64)
            if np.abs(off).max() <= LAST_PLACES:
                return {"by": by, "off": base64.b64encode(off.astype(np.int8).tobytes()).decode("ascii")}
    return content_of(other)
