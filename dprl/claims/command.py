"""`dprl reproduce CLAIM`: computes the verdict, prints it, and writes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from dprl.claims.claim import Claim
from dprl.claims.gather import gather_evidence
from dprl.claims.report import report
from dprl.fields import SpecError, shown
from dprl.runs.store import Store


def command(
    claim: Claim, store: Store, visitor: str, out: Path | None, progress: Callable[[float], None] | None
) -> None:
    """Prints what was found of a claim, and writes CLAIM.json with the curves of its settings as CSV.

    Raises:
        SpecError: they cannot be written.
        RunFailed: a run could not be computed.
    """
    known = gather_evidence(store, claim, visitor, progress)
    found = report(claim, known)
    print(found.text(), flush=True)
    if out is None:
        return
    from dprl.claims.pictures import write_tables  # and with it Plotly

    try:
        text = json.dumps(found.to_dict(), indent=2) + "\n"
        (out / f"{claim.key}.json").write_text(text, encoding="utf-8")
        write_tables(claim, known, out)
    except OSError as error:
        raise SpecError("out", f"{shown(str(out))} cannot be written to ({error.strerror}).") from None
