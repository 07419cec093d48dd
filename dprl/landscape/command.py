"""`dprl reproduce landscape`: computes the table, prints it, and writes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from dprl.fields import SpecError, shown
from dprl.landscape.compute import workers
from dprl.landscape.gather import gather_landscape
from dprl.landscape.rows import all_rows, terminal_text
from dprl.landscape.table import Landscape
from dprl.runs.database import setting
from dprl.tables import csv
from dprl.words import duration

KEY = "landscape"
SAYS = "Every private algorithm at one proved guarantee on the same problems: regret, users needed, bound, paper."


def compute(progress: Callable[[float], None] | None = None) -> Landscape:
    """All of it, in DPRL_WORKERS processes; says on the way what it took."""
    spent: list[float] = []
    with workers(setting("DPRL_WORKERS", 2, 1, 256), progress, spent) as many:
        found = gather_landscape(many)
    print(f"The runs took {duration(sum(spent))} of one core, {sum(spent):.0f} s.")
    return found


def command(out: Path | None, progress: Callable[[float], None] | None = None) -> None:
    """Prints the table, and writes landscape.json and landscape.csv. Raises SpecError where it cannot be written."""
    found = compute(progress)
    print(terminal_text(found))
    if out is None:
        return
    try:
        (out / "landscape.json").write_text(json.dumps(found.to_dict()) + "\n", encoding="utf-8")
        (out / "landscape.csv").write_text(csv(all_rows(found)), encoding="utf-8")
    except OSError as error:
        raise SpecError("out", f"{shown(str(out))} cannot be written to ({error.strerror}).") from None
