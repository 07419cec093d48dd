"""`dprl reproduce`: compute verdicts, or the ranking of all algorithms, and print them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dprl.papers.claim import Claim
from dprl.papers.evidence import gather_evidence
from dprl.papers.items import all_items
from dprl.papers.ranking import BUDGET, PROBLEMS, TARGET, rank, workers
from dprl.papers.report import report
from dprl.privacy import PRIVATIZERS
from dprl.runs.database import setting
from dprl.runs.store import Store
from dprl.words import percent, promise

RANKING = "algorithms"  # argument of `dprl reproduce` for the ranking
SAYS = "Users needed by every private algorithm at the same proved guarantee and in the same environments."
Progress = Callable[[float], None]


def reproduce(
    claim: Claim, store: Store, visitor: str, progress: Progress | None, curves: bool
) -> dict[str, Any]:
    """Print the verdict on a claim, and return its files by name. Raises RunFailed.

    curves: whether the curves of its settings, as CSV, are among the files.
    """
    known = gather_evidence(store, claim, visitor, progress)
    found = report(claim, known)
    print(found.text(), flush=True)
    reports = {claim.key: found}
    for item in all_items().values():
        if item.experiment == claim.key:
            print(f"  {item.address}: {item.found(reports).verdict}. {item.says}")
    files = {f"{claim.key}.json": found.to_dict()}
    if curves:
        from dprl.papers.pictures import tables  # imports Plotly

        return files | tables(claim, known)
    return files


def reproduce_ranking(progress: Progress | None) -> dict[str, Any]:
    """Print the ranking, and return its file by name."""
    with workers(setting("DPRL_WORKERS", 2, 1, 256), progress) as many:
        found = rank(many)
    print(
        f"Users needed at {promise(*BUDGET)} proved, until an average episode loses at most {percent(TARGET)} of V*:"
    )
    for key, problem in PROBLEMS.items():
        print(f"{problem.title} ({problem.size})")
        for one in found.of(key):
            print(f"  {one.title}, {PRIVATIZERS[one.privacy].title}: {one.words}")
    return {f"{RANKING}.json": found.to_dict()}
