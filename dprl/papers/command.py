"""`dprl reproduce`: compute verdicts, or the ranking of all algorithms, print them, and write them to files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from dprl.fields import SpecError, shown
from dprl.papers.claim import Claim
from dprl.papers.evidence import gather_evidence
from dprl.papers.items import all_items
from dprl.papers.ranking import BUDGET, PROBLEMS, TARGET, Ranking, rank, workers
from dprl.papers.report import report
from dprl.privacy import PRIVATIZERS
from dprl.runs.database import setting
from dprl.runs.store import Store
from dprl.words import duration, percent, promise

RANKING = "algorithms"  # argument of `dprl reproduce` for the ranking
SAYS = "Users needed by every private algorithm at one proved guarantee in the same environments."
Progress = Callable[[float], None]


def reproduce(claim: Claim, store: Store, visitor: str, out: Path | None, progress: Progress | None) -> None:
    """Print the verdict on a claim, and write CLAIM.json with the curves of its settings as CSV.

    Raises:
        SpecError: the files cannot be written.
        RunFailed: a run could not be computed.
    """
    known = gather_evidence(store, claim, visitor, progress)
    found = report(claim, known)
    print(found.text(), flush=True)
    reports = {claim.key: found}
    for item in all_items().values():
        if item.experiment == claim.key:
            print(f"  {item.address}: {item.found(reports).verdict}. {item.says}")
    if out is None:
        return
    from dprl.papers.pictures import write_tables  # imports Plotly

    try:
        text = json.dumps(found.to_dict(), indent=2) + "\n"
        (out / f"{claim.key}.json").write_text(text, encoding="utf-8")
        write_tables(claim, known, out)
    except OSError as error:
        raise unwritten(out, error) from None


def unwritten(out: Path, error: OSError) -> SpecError:
    """Return the error for a folder that cannot be written to."""
    return SpecError("out", f"{shown(str(out))} cannot be written to ({error.strerror}).")


def reproduce_ranking(out: Path | None, progress: Progress | None = None) -> None:
    """Print the ranking, and write algorithms.json. Raises SpecError if it cannot be written."""
    spent: list[float] = []
    with workers(setting("DPRL_WORKERS", 2, 1, 256), progress, spent) as many:
        found = rank(many)
    print(f"The runs took {duration(sum(spent))} on one core ({sum(spent):.0f} s).")
    print(ranking_text(found))
    if out is not None:
        try:
            (out / f"{RANKING}.json").write_text(json.dumps(found.to_dict()) + "\n", encoding="utf-8")
        except OSError as error:
            raise unwritten(out, error) from None


def ranking_text(found: Ranking) -> str:
    """Return the ranking as text for a terminal."""
    lines = [
        f"Users needed at {promise(*BUDGET)} proved, until an average episode loses at most {percent(TARGET)} of V*:"
    ]
    for key, problem in PROBLEMS.items():
        lines.append(f"{problem.title} ({problem.size})")
        lines += [f"  {one.title}, {PRIVATIZERS[one.privacy].title}: {one.words}" for one in found.of(key)]
    return "\n".join(lines)
