"""The figures of a bundle: the dashboard's chart of its online runs, at the width of a paper's column."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from dprl.curves import RunCurves
from dprl.simulation import RunSpec, Spec

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
    """The figures that a bundle of these runs has, without their ending, and the runs in each."""
    online = list(_online(specs))[: EACH * MOST]
    return {f"figures/{i // EACH + 1}": online[i : i + EACH] for i in range(0, len(online), EACH)}


def _online(specs: Mapping[str, Spec]) -> dict[str, RunSpec]:
    return {name: spec for name, spec in specs.items() if isinstance(spec, RunSpec)}


def files_named(specs: Mapping[str, Spec]) -> list[str]:
    """The files of these figures."""
    return [f"{name}.{suffix}" for name in names_of(specs) for suffix in FORMATS]


def figures_of(specs: Mapping[str, Spec], curves: Mapping[str, RunCurves]) -> dict[str, bytes]:
    """Regret of the online runs, eight in a figure, by the name of the file; with Matplotlib."""
    from dprl.figures import paper
    from dprl.series import regret_picture

    found = {}
    for name, runs in names_of(specs).items():
        chosen = _online({run: specs[run] for run in runs})
        # of what is known of a run only its numbers: they are what is computed again
        known = {spec: RunCurves(curves[run].at, curves[run].values) for run, spec in chosen.items()}
        picture = regret_picture(chosen, known)
        figure, about = picture.figure.to_dict(), {"Title": picture.alt, "Subject": picture.see}
        for suffix in FORMATS:
            found[f"{name}.{suffix}"] = paper.saved(figure, suffix, about)
    return found
