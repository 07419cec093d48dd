"""Evidence for the papers' claims: a few points of each run's curve, from the store or a bundled file.

Runs in the store are judged only by the points that the bundled file keeps, so that both give the same verdict.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dprl.mdp.counts import transitions, visits
from dprl.metrics.curves import Evidence, RunCurves, thinned
from dprl.papers.claim import TRACES, Claim
from dprl.research.background import RunFailed, collect
from dprl.runs.store import Store
from dprl.simulation import Spec, Trace, answered, spec_from_dict

POINTS = 40  # points of a curve, enough for a chart and for slopes over decades
DIGITS = 6  # significant digits of a value, more than any verdict or chart shows
TOLERANCE = 1e-9  # relative rounding error of a count


def kept(run: RunCurves, whole: bool) -> RunCurves:
    """Return a finished run reduced to the points that are stored: some of the whole curve, or only its end."""
    points = thinned(run.at, POINTS) if whole else np.array([len(run.at) - 1])
    values = [[float(f"{value:.{DIGITS}g}") for value in row] for row in run.values[:, points]]
    return replace(run, at=run.at[points], values=np.array(values))


def to_dict(evidence: Evidence) -> dict[str, Any]:
    """Convert evidence to JSON data for `from_dict`."""
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
    """Restore evidence from the output of `to_dict`, with answers only to the given questions."""
    runs = {}
    for one in given["runs"]:
        v_star = np.nan if one["v_star"] is None else one["v_star"]
        found = RunCurves(np.array(one["at"], np.int64), np.array(one["values"]), v_star=v_star)
        runs[spec_from_dict(one["spec"])] = found
    answers = {spec_from_dict(one["spec"]): one["answer"] for one in given["answers"]}
    return Evidence(runs, {(questions[s], s): answer for s, answer in answers.items() if s in questions})


def evidence(store: Store, claim: Claim) -> Evidence | None:
    """Return the stored evidence for a claim, or None if any is missing. In that case, request the missing answers."""
    answers, runs = {}, {}
    for spec, question in claim.questions.items():
        if question == TRACES:
            trace = store.whole_trace(spec)
            answers[question, spec] = None if trace is None else json.dumps({"answer": seen_in(trace)})
        else:
            answers[question, spec] = store.answer(question, spec)
    for spec, whole in claim.runs.items():
        if (found := finished(store, spec)) is None:
            return None
        runs[spec] = kept(found, whole)
    if None in answers.values():
        return None
    if "" in answers.values():
        raise RunFailed(f"{claim.key}: the question could not be answered.")
    return Evidence(runs, {asked: noted(asked[0], answered(text or "")) for asked, text in answers.items()})


def finished(store: Store, spec: Spec) -> RunCurves | None:
    """Return a finished run with V*; None if a seed has not finished or its traces were deleted to save space."""
    run, first = store.whole_curves(spec), store.traces(spec, seeds=(0,))
    if run is None or not first:
        return None
    return replace(run, v_star=np.nan if first[0].v_star is None else float(first[0].v_star))


def seen_in(trace: Trace) -> dict[str, list[bool]]:
    """Return whether three properties held, for each seed: noise within the error bound E (covered), no estimated
    action value below the optimum (optimistic), and counts that add up and are 0 to E too high (consistent)."""
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
    """Return the part of an answer that is stored. For a guarantee, it is only the numbers."""
    if question != "guarantee":
        return answer
    names = [f"{whose}_{what}" for what in ("epsilon", "delta", "rho") for whose in ("claimed", "proved")]
    return {name: answer[name] for name in names if answer.get(name) is not None}


def gather_evidence(
    store: Store, claim: Claim, visitor: str, progress: Callable[[float], None] | None = None
) -> Evidence:
    """Request the missing runs and wait for them. Raises RunFailed, and SpecError for a run beyond the limits."""
    collect(store, claim.runs, visitor, finished, progress)
    traced = [spec for spec, question in claim.questions.items() if question == TRACES]
    collect(store, traced, visitor, Store.whole_trace)
    while (found := evidence(store, claim)) is None:
        time.sleep(0.1)
    return found
