"""What is kept of the evidence on claims: a few points of each run, as a file that comes with the program.

What is computed here is judged by no more than that, so that both say the same, digit for digit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dprl.metrics.curves import Array, Evidence, RunCurves, thinned
from dprl.simulation import spec_from_dict

POINTS = 40  # kept of a curve: enough for a chart, and for slopes over decades
DIGITS = 6  # of a value, more than any verdict or chart shows


def kept(run: RunCurves, whole: bool) -> RunCurves:
    """What is kept of a finished run. whole: the curve, too, not its end alone."""
    points = thinned(run.at, POINTS) if whole else np.array([len(run.at) - 1])
    return replace(run, at=run.at[points], values=rounded(run.values[:, points]))


def rounded(values: Array) -> Array:
    """To DIGITS significant digits."""
    return np.array([[float(f"{value:.{DIGITS}g}") for value in row] for row in values])


def to_dict(evidence: Evidence) -> dict[str, Any]:
    """JSON-able."""
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
    """What `to_dict` wrote. questions: what was asked of each spec, which the file does not say. Raises SpecError."""
    runs = {}
    for one in given["runs"]:
        v_star = np.nan if one["v_star"] is None else one["v_star"]
        found = RunCurves(np.array(one["at"], np.int64), np.array(one["values"]), v_star=v_star)
        runs[spec_from_dict(one["spec"])] = found
    answered = {spec_from_dict(one["spec"]): one["answer"] for one in given["answers"]}
    return Evidence(runs, {(questions[spec], spec): answer for spec, answer in answered.items()})
