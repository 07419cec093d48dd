"""`dprl reproduce figure NAME`: a paper's figure, with its settings and with those that show the claim."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from dprl.claims.gather import gather_runs
from dprl.claims.kept import to_dict
from dprl.claims.paper_figures import FIGURE, FIGURES, PaperFigure
from dprl.claims.report import version
from dprl.fields import SpecError, shown
from dprl.runs.store import Store
from dprl.tables import csv

SAYS = "A figure of a paper: our curves with its settings, beside settings that show its claim."


def asked_for(asked: str, name: str | None) -> list[PaperFigure]:
    """The figure of that name, or all; none where something else is asked for. Raises SpecError."""
    if asked != FIGURE:
        if name is not None:
            raise SpecError("name", f"{shown(name)} has no place here; a name follows {FIGURE}.")
        return []
    if name is not None and name not in FIGURES:
        raise SpecError("name", f"{shown(name)} is not allowed; give one of {', '.join(FIGURES)}.")
    return list(FIGURES.values()) if name is None else [FIGURES[name]]


def print_figures(
    figures: Sequence[PaperFigure],
    store: Store,
    visitor: str,
    out: Path | None,
    progress: Callable[[float], None] | None,
) -> None:
    """Prints what figures show, and writes NAME.json with NAME-paper.csv and NAME-needed.csv.

    Raises:
        SpecError: it cannot be written.
        RunFailed: a run could not be computed.
    """
    for figure in figures:
        known = gather_runs(store, figure.runs, visitor, progress)
        lines = [f"{figure.key}: {figure.source}", f"  {figure.found}", *figure.lines(known), figure.open]
        print("\n  ".join(lines), flush=True)
        if out is None:
            continue
        from dprl.claims.pictures import figure_pictures  # and with it Plotly

        try:
            text = json.dumps({"figure": figure.key, "version": version(), **to_dict(known)}, indent=2) + "\n"
            (out / f"{figure.key}.json").write_text(text, encoding="utf-8")
            for part, picture in zip(("paper", "needed"), figure_pictures(figure, known), strict=True):
                (out / f"{figure.key}-{part}.csv").write_text(csv(picture.table), encoding="utf-8")
        except OSError as error:
            raise SpecError("out", f"{shown(str(out))} cannot be written to ({error.strerror}).") from None
