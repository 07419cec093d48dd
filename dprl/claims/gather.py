"""What claims are judged by, read from the store that sweeps and pages share."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from dprl.claims.claim import Claim
from dprl.claims.kept import kept
from dprl.metrics.curves import Evidence
from dprl.research.collect import RunFailed, collect
from dprl.runs.curves import finished
from dprl.runs.store import Store
from dprl.simulation import answered

_POLL = 0.1


def evidence(store: Store, claim: Claim) -> Evidence | None:
    """What the store has of a claim; None while anything is missing. Asks what is to be asked."""
    answers, runs = {}, {}
    for spec, question in claim.questions.items():
        answers[question, spec] = store.answer(question, spec)
    for spec, whole in claim.runs.items():
        found = finished(store, spec)
        if found is None:
            return None
        runs[spec] = kept(found, whole)
    if None in answers.values():
        return None
    if "" in answers.values():
        raise RunFailed(f"{claim.key}: what is asked could not be answered.")
    return Evidence(runs, {asked: answered(text or "") for asked, text in answers.items()})


def gather_evidence(
    store: Store, claim: Claim, visitor: str, progress: Callable[[float], None] | None = None
) -> Evidence:
    """Ask for what is missing and wait for it. Raises RunFailed, and SpecError for a run past the limits."""
    collect(store, claim.runs, visitor, finished, progress)
    while (found := evidence(store, claim)) is None:
        time.sleep(_POLL)
    return found


def gather_runs(
    store: Store, specs: Sequence[Any], visitor: str, progress: Callable[[float], None] | None = None
) -> Evidence:
    """The curves of runs alone. Raises as `gather_evidence`."""
    found = collect(store, specs, visitor, finished, progress)
    return Evidence({spec: kept(run, True) for spec, run in found.items()}, {})
