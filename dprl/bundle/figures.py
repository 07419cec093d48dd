"""The figures of a bundle: the dashboard's charts of its runs, online and on data sets, at the width of a paper's
column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from dprl.curves import RunCurves
from dprl.simulation import OfflineSpec, RunSpec, Spec, answer, answered

if TYPE_CHECKING:
    from dprl.figures.picture import Picture

MATPLOTLIB = "matplotlib"
FORMATS = ("pdf", "svg")
EACH, MOST = 8, 8  # curves that can be told apart in a figure, and figures


@cache
def drawn_by() -> str | None:
    """The version of Matplotlib here, on which the bytes of figures depend; None where there is none."""
    try:
        return version(MATPLOTLIB)
    except PackageNotFoundError:
        return None


def names_of(specs: Mapping[str, Spec]) -> dict[str, list[str]]:
    """The figures that a bundle of these runs has, without their ending, and the runs in each, all of one kind."""
    groups: list[list[str]] = []
    for kind in PICTURES:
        runs = [name for name, spec in specs.items() if isinstance(spec, kind)]
        groups += [runs[i : i + EACH] for i in range(0, len(runs), EACH)]
    return {f"figures/{number}": runs for number, runs in enumerate(groups[:MOST], 1)}


def files_named(specs: Mapping[str, Spec]) -> list[str]:
    """The files of these figures."""
    return [f"{name}.{suffix}" for name in names_of(specs) for suffix in FORMATS]


def figures_of(specs: Mapping[str, Spec], curves: Mapping[str, RunCurves]) -> dict[str, bytes]:
    """Regret of online runs and suboptimality of runs on data sets, eight in a figure, by the name of the file; with
    Matplotlib."""
    from dprl.figures import paper

    found = {}
    for name, runs in names_of(specs).items():
        # of what is known of a run only its numbers: they are what is computed again
        known = {run: RunCurves(curves[run].at, curves[run].values) for run in runs}
        chosen = {run: specs[run] for run in runs}
        picture = PICTURES[type(chosen[runs[0]])](chosen, known)
        figure, about = picture.figure.to_dict(), {"Title": picture.alt, "Subject": picture.see}
        for suffix in FORMATS:
            found[f"{name}.{suffix}"] = paper.saved(figure, suffix, about)
    return found


def _regret(specs: Mapping[str, Any], known: Mapping[str, RunCurves]) -> Picture:
    from dprl.series import regret_picture

    return regret_picture(specs, {spec: known[run] for run, spec in specs.items()})


def _gaps(specs: Mapping[str, Any], known: Mapping[str, RunCurves]) -> Picture:
    from dprl.series import suboptimality_picture

    # v* is not among the numbers: it follows from the spec
    best = {run: float(answered(answer("v_star", spec))) for run, spec in specs.items()}
    return suboptimality_picture(specs, {run: replace(one, v_star=best[run]) for run, one in known.items()})


PICTURES: dict[type, Callable[[Mapping[str, Any], Mapping[str, RunCurves]], Picture]] = {
    RunSpec: _regret,
    OfflineSpec: _gaps,
}
