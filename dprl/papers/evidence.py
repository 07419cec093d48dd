"""The evidence for claims: a few points of each run, from the store or from the file that comes with the program.

Runs computed here are judged only by the points that the file holds, so that both give the same verdict, digit for
digit.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dprl.mdp.counts import transitions, visits
from dprl.metrics.curves import Array, Evidence, RunCurves, thinned
from dprl.papers.claim import TRACES, Claim
from dprl.research.collect import RunFailed, collect
from dprl.runs.curves import finished, whole_trace
from dprl.runs.store import Store
from dprl.simulation import Trace, answered, spec_from_dict

POINTS = 40  # kept of a curve: enough for a chart, and for slopes over decades
DIGITS = 6  # of a value, more than any verdict or chart shows
TOLERANCE = 1e-9  # of a count, for rounding
_POLL = 0.1


def kept(run: RunCurves, whole: bool) -> RunCurves:
    """Return what is kept of a finished run. whole: the curve, too, not its end alone."""
    points = thinned(run.at, POINTS) if whole else np.array([len(run.at) - 1])
    return replace(run, at=run.at[points], values=rounded(run.values[:, points]))


def rounded(values: Array) -> Array:
    """Round to DIGITS significant digits."""
    return np.array([[float(f"{value:.{DIGITS}g}") for value in row] for row in values])


def to_dict(evidence: Evidence) -> dict[str, Any]:
    """Return what `from_dict` reads, JSON-able."""
    runs = [
        {
            "spec": spec.to_dict(),
            "at": run.at.tolist(),
            "values": run.values.tolist(),
            "v_star": None if np.isnan(run.v_star) else run.v_star,
        }
        for spec, run in evidence.runs.items()
    ]
    answers = [{"spec": spec.to_dict(), "answer": answer} for (_, spec), answer in evidence.answers.items()]
    return {"runs": runs, "answers": answers}


def from_dict(given: Mapping[str, Any], questions: Mapping[Any, str]) -> Evidence:
    """Read what `to_dict` wrote. questions: what was asked of each spec, which the file does not say; an answer that
    nothing asks for is left out. Raises SpecError."""
    runs = {}
    for one in given["runs"]:
        v_star = np.nan if one["v_star"] is None else one["v_star"]
        found = RunCurves(np.array(one["at"], np.int64), np.array(one["values"]), v_star=v_star)
        runs[spec_from_dict(one["spec"])] = found
    answers = {spec_from_dict(one["spec"]): one["answer"] for one in given["answers"]}
    return Evidence(runs, {(questions[s], s): answer for s, answer in answers.items() if s in questions})


def evidence(store: Store, claim: Claim) -> Evidence | None:
    """Return what the store has of a claim; None while anything is missing. Asks what is to be asked."""
    answers, runs = {}, {}
    for spec, question in claim.questions.items():
        if question == TRACES:
            trace = whole_trace(store, spec)
            answers[question, spec] = None if trace is None else json.dumps({"answer": seen_in(trace)})
        else:
            answers[question, spec] = store.answer(question, spec)
    for spec, whole in claim.runs.items():
        found = finished(store, spec)
        if found is None:
            return None
        runs[spec] = kept(found, whole)
    if None in answers.values():
        return None
    if "" in answers.values():
        raise RunFailed(f"{claim.key}: the question could not be answered.")
    return Evidence(runs, {asked: noted(asked[0], answered(text or "")) for asked, text in answers.items()})


def seen_in(trace: Trace) -> dict[str, list[bool]]:
    """Return what whole traces say, a truth value for each seed.

    Returns:
        covered: all noise lay within the error bound E.
        optimistic: no estimated value of an action was below the best.
        consistent: released counts add up, are at least the true ones, and lie within E of them.
    """
    found: dict[str, list[bool]] = {"covered": [], "optimistic": [], "consistent": []}
    for seed in trace.seeds:
        found["covered"].append(bool(seed.coverage_ratio.max() <= 1))
        found["optimistic"].append(bool(seed.optimism.min() >= 1))
        if seed.counts.shape == seed.released.shape:
            n, parts = visits(seed.released), transitions(seed.released)
            more = n - visits(seed.counts)
            room = TOLERANCE * np.maximum(n, 1.0)
            bound = seed.error_bound[:, None, None, None]
            whole = (np.abs(parts.sum(-1) - n) <= room) & (more >= -room) & (more <= bound + room)
            found["consistent"].append(bool(whole.all()))
    return found


def noted(question: str, answer: Any) -> Any:
    """Return what is kept of an answer: of a guarantee the numbers alone."""
    if question != "guarantee":
        return answer
    names = [f"{whose}_{what}" for what in ("epsilon", "delta", "rho") for whose in ("claimed", "proved")]
    return {name: answer[name] for name in names if answer.get(name) is not None}


def gather_evidence(
    store: Store, claim: Claim, visitor: str, progress: Callable[[float], None] | None = None
) -> Evidence:
    """Request the missing runs and wait for them. Raises RunFailed, and SpecError for a run past the limits."""
    collect(store, claim.runs, visitor, finished, progress)
    collect(store, [s for s, question in claim.questions.items() if question == TRACES], visitor, whole_trace)
    while (found := evidence(store, claim)) is None:
        time.sleep(_POLL)
    return found
