"""Sweeps, which vary a spec along several axes, and their results.

The points of a sweep are ordinary specs, so they share stored results with all other runs. Each point's non-private
baseline is run, too, for the privacy cost.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

import numpy as np

from dprl.fields import SpecError, check_flags, check_type, reject, shown, similar, unknown
from dprl.messages import messages
from dprl.messages.brief import shortened, table_of
from dprl.metrics.curves import RunCurves
from dprl.metrics.growth import center_of
from dprl.research.background import VISITOR, collect, progress_bar, run, store_with
from dprl.research.traces import AnySpec, Trace
from dprl.simulation import Spec
from dprl.simulation.kinds import given_spec, kind_of
from dprl.simulation.trace import NONNEGATIVE
from dprl.words import plural

if TYPE_CHECKING:
    import pandas as pd

    from dprl.research.pictures import Picture

SAID = messages("refusals")["sweep"]
MAX_POINTS = 400

S = TypeVar("S", bound=Spec)
Drawn = Literal["privacy cost", "regret", "share", "suboptimality"]


@dataclass(frozen=True)
class SweepPoint(Generic[S]):
    """One combination of a sweep: its values in the order of the axes, and its run or the reason why there is none."""

    values: tuple[Any, ...]
    spec: S | None
    refusal: str = ""


@dataclass(frozen=True)
class Sweep(Generic[S]):
    """A base spec and the axes along which it varies. Combinations that cannot run are kept, with the reason.

    Attributes:
        base: the spec, or a dict of its fields.
        axes: the values of each axis by its name, in order. An axis is a field of the spec, or a parameter of its
            environment or algorithm, such as S. If the environment or algorithm is an axis, the base's non-default
            parameters, such as H, apply to all its values. A value of privacy is a model, or a model with its noise,
            such as central:laplace-tree:paper. A value of environment is a key or your own model, as in RunSpec; tables
            and `select` use its name.

    Raises:
        SpecError: The base is not a spec, an axis is unknown or empty, a value is not allowed or occurs twice, or
            there are more than 400 combinations.

    Example:
        >>> spec = dprl.RunSpec("chain", episodes=1000, seeds=2)
        >>> result = dprl.Sweep(spec, {"epsilon": [0.3, 3]}).run()
        >>> result.summary()["epsilon"].tolist()
        [0.3, 3.0]
    """

    base: S
    axes: tuple[tuple[str, tuple[Any, ...]], ...]

    @overload
    def __init__(self, base: S, axes: Mapping[str, Iterable[Any]]) -> None: ...
    @overload
    def __init__(
        self: Sweep[AnySpec], base: Mapping[str, Any], axes: Mapping[str, Iterable[Any]]
    ) -> None: ...

    def __init__(self, base: Any, axes: Mapping[str, Iterable[Any]]) -> None:
        base = given_spec(base)
        if not isinstance(axes, Mapping):
            raise SpecError("axes", f"{shown(axes)} is not allowed; give lists of values by name.")
        if not axes:
            raise SpecError("axis", "there is none; give at least one, such as epsilon=0.1,1,10.")
        checked, known = [], kind_of(base).axes(base)
        for name, values in axes.items():
            if name not in known:
                raise unknown("axis", name, known)
            if isinstance(values, str | bytes) or not np.iterable(values):
                raise reject("axis", SAID["values"], name=shown(name), values=shown(values))
            canonical = tuple(known[name](value) for value in values)
            if not canonical:
                raise SpecError("axis", f"{shown(name)} has no values; give some, such as epsilon=0.1,1,10.")
            if len({str(value) for value in canonical}) < len(canonical):
                raise SpecError("axis", f"{shown(name)} lists a value or a name twice; list each once.")
            checked.append((name, canonical))
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "axes", tuple(checked))
        count = int(np.prod([len(values) for _, values in checked]))
        if count > MAX_POINTS:
            raise reject("axis", SAID["points"], count=f"{count:,}", most=MAX_POINTS)

    def __repr__(self) -> str:
        return f"Sweep({self.base.label()}: {shortened(dict(self.axes))})"

    @cached_property
    def points(self) -> tuple[SweepPoint[S], ...]:
        """Return every combination, with the last axis changing fastest."""
        names, kind, found = [name for name, _ in self.axes], kind_of(self.base), []
        for values in itertools.product(*(values for _, values in self.axes)):
            try:
                spec = kind.along(self.base, dict(zip(names, values, strict=True)))
                found.append(SweepPoint[S](values, spec))
            except SpecError as error:
                found.append(SweepPoint[S](values, None, str(error)))
        return tuple(found)

    @cached_property
    def specs(self) -> tuple[S, ...]:
        """Return all runs and baselines in the order of computation: points far apart come first."""
        runs = [point.spec for point in self.points if point.spec is not None]
        baselines = [spec.baseline() for spec in runs]
        return tuple(dict.fromkeys([*baselines, *(runs[i] for i in _spread(len(runs)))]))

    def to_dict(self) -> dict[str, Any]:
        """Return the canonical form for JSON."""
        return {"base": self.base.to_dict(), "axes": {name: list(values) for name, values in self.axes}}

    def to_json(self) -> str:
        """Return the canonical JSON on one line."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    @classmethod
    def from_dict(cls, given: Any) -> Sweep[Any]:
        """Read the sweep that `to_dict` wrote. Raises SpecError."""
        if not isinstance(given, Mapping) or set(given) != {"base", "axes"}:
            raise SpecError("sweep", f"{shown(given)} is not allowed; give an object with base and axes.")
        return cls(given["base"], given["axes"])

    def run(
        self,
        *,
        workers: int | None = None,
        engine: str | None = None,
        store: str | Path | None = None,
        progress: bool | Callable[[float], None] = True,
    ) -> SweepResult[S]:
        """Compute every run and its non-private baseline in background processes; stored results are reused.

        The store is the dashboard's, so each seed is computed only once, whoever requests it. After Ctrl-C, or if the
        script is killed, finished seeds are kept and the next call continues. The workers end with this process.

        Args:
            workers: the number of processes, 1 to 256; by default DPRL_WORKERS, else 2. If this process already has
                workers at the store, they are used instead.
            engine: a Dask scheduler that replaces the workers, such as tcp://localhost:8786; by default DPRL_ENGINE.
            store: the file that keeps runs; by default the dashboard's, in DPRL_HOME.
            progress: whether to draw a progress bar on a terminal or in a notebook, or a function that is called with
                the share done, from 0 to 1.

        Returns:
            The curves of all runs.

        Raises:
            SpecError: A combination cannot be run (split the sweep in two to avoid it), an argument is not allowed, or
                a run exceeds a limit.
            RunFailed: A run could not be computed.
        """
        from dprl.runs.store import Store

        check_runs(self)
        check_type("progress", progress, bool | Callable, "True, False, or a function of the share done")
        kept = store_with(self.specs, Store.whole_curves, workers, engine, store)
        interactive = sys.stderr.isatty() or "ipykernel" in sys.modules
        bar = progress if callable(progress) else progress_bar() if progress and interactive else None
        return SweepResult(self, collect(kept, self.specs, VISITOR, Store.whole_curves, bar), kept.path)

    def _repr_html_(self) -> str:
        rows = {name: ", ".join(map(str, values)) for name, values in self.axes}
        runs = plural(len(self.specs), "run")
        rows["points"] = f"{len(self.points)}: {runs}, including non-private baselines"
        return table_of(f"Sweep of {self.base.label()}", rows.items())


@dataclass(frozen=True, eq=False)
class SweepResult(Generic[S]):
    """The finished runs of a sweep, as `Sweep.run` returns them.

    Attributes:
        curves: for each distinct run, including non-private baselines, `at` [C] and `values` [seeds, C].
        store: the file that keeps the runs; if None, runs are computed again when their details are needed.
    """

    sweep: Sweep[S]
    curves: Mapping[S, RunCurves]
    store: str | Path | None = None

    def frame(self, *, whole: bool = False) -> pd.DataFrame:
        """Return a tidy table with columns for the axes and the seed. An online run also has episode, regret, and
        extra_regret (compared with the same seed of the non-private baseline).

        Args:
            whole: whether each point of a curve has a row; otherwise only its end has one.
        """
        check_flags(whole=whole)
        import pandas as pd

        kind, names = kind_of(self.sweep.base), [name for name, _ in self.sweep.axes]
        axis = f"{kind.axis} so far" if kind.axis in names else kind.axis
        parts = []
        for point in self.sweep.points:
            if point.spec is None:
                continue
            found, baseline = self.curves[point.spec], self.curves[point.spec.baseline()]
            if not whole:
                found = replace(found, at=found.at[-1:], values=found.values[:, -1:])
            table = found.frame(axis, kind.measure)
            table[f"extra_{kind.measure}"] = found.beyond(baseline).ravel()
            for place, (name, value) in enumerate(zip(names, point.values, strict=True)):
                table.insert(place, name, str(value) if isinstance(value, str) else value)
            parts.append(table)
        frame = pd.concat(parts, ignore_index=True)
        # at the end of a sweep along the curve's own axis, that axis has a column already
        return frame if whole or axis == kind.axis else frame.drop(columns=axis)

    def plot(self, measure: Drawn | None = None, *, dark: bool = False) -> Picture:
        """Draw the chart on the page Trade-offs: one marker per run, along the first axis that is a number.

        Each value of a second axis has a line with its own marker, and each further algorithm has different dashes. If
        there is a third axis, each environment (or else each value of that axis) has its own panel.

        Args:
            measure: the quantity drawn. By default the privacy cost; if algorithm is an axis, the loss of each run,
                because each algorithm's privacy cost is compared with that algorithm itself without privacy.

                - Online runs: "privacy cost", the regret beyond that of the same seeds of the non-private baseline;
                  "regret" at the end; or "share", the share of V* that an average episode lost.
                - Runs on data sets: "privacy cost", the suboptimality beyond that of the non-private baseline on the
                  same data sets; or "suboptimality".
            dark: whether to use colours for a dark page.

        Raises:
            SpecError: This kind of run has no such measure, no axis is a number, or there are too many lines.
        """
        from dprl.research.frontiers import frontier_picture
        from dprl.research.pictures import told_plainly

        check_flags(dark=dark)
        return told_plainly(frontier_picture(self.sweep, self.curves, measure, dark=dark))

    def select(self, **values: Any) -> Trace[Any]:
        """Return one run with all its details, as in `result.select(epsilon=0.3, privacy="local")`.

        Args:
            values: values of axes, enough to identify one run.

        Raises:
            SpecError: An axis or value does not exist, or several runs have these values.
        """
        axes, known = dict(self.sweep.axes), kind_of(self.sweep.base).axes(self.sweep.base)
        points = self.sweep.points
        for name, value in values.items():
            if name not in axes:
                wrong = f"{shown(name)} is not an axis of this sweep{similar(name, axes)}"
                raise SpecError("axis", f"{wrong}; give one of {', '.join(axes)}.")
            called = [one for one in axes[name] if str(one) == str(value)]
            place, asked = list(axes).index(name), called[0] if called else known[name](value)
            points = tuple(point for point in points if point.values[place] == asked)
        runs = {point.spec for point in points if point.spec is not None}
        if len(runs) != 1:
            some = "; ".join(f"{name} {', '.join(map(str, of[:10]))}" for name, of in axes.items())
            raise SpecError("axis", f"{len(runs)} runs have these values; give the values of one: {some}.")
        return run(runs.pop(), store=self.store)

    def summary(self) -> pd.DataFrame:
        """Return a row for each combination, with the final mean and 95% t interval over seeds of the measure and of
        its excess over the non-private baseline. If a measure is never negative, its interval begins at 0 or above.

        Columns: the axes, then the columns of a measure such as regret: regret_mean, regret_low, regret_high,
        extra_regret_mean, extra_regret_low, extra_regret_high.
        """
        import pandas as pd

        ends = self.frame()
        names, rows = [name for name, _ in self.sweep.axes], []
        measure = kind_of(self.sweep.base).measure
        for values, seeds in ends.groupby(names, sort=False):
            row = dict(zip(names, values, strict=True))
            for name in (measure, f"extra_{measure}"):
                mean, low, high = center_of(seeds[name].to_numpy())
                low = max(low, 0.0) if name in NONNEGATIVE else low
                row |= {f"{name}_mean": mean, f"{name}_low": low, f"{name}_high": high}
            rows.append(row)
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        return f"Results of {self.sweep!r}: {len(self.curves)} runs"

    def _repr_html_(self) -> str:
        means = self.summary().filter(regex="^(?!.*_(low|high)$)")
        means.columns = [str(name).removesuffix("_mean") for name in means]
        table = means.to_html(index=False, max_rows=10, float_format=lambda value: f"{value:.4g}")
        return f"<p>{escape(repr(self.sweep))}: means over seeds at the end</p>{table}"


def check_runs(sweep: Sweep[Any]) -> None:
    """Raise SpecError if a combination of a sweep cannot run."""
    for point in sweep.points:
        if point.spec is None:
            raise SpecError("axis", f"{', '.join(map(str, point.values))} cannot be run; {point.refusal}")


def _spread(count: int) -> list[int]:
    """Return 0 .. count - 1 in an order that starts with distant numbers: the ends, the middle, the quarters, ..."""
    order: dict[int, None] = dict.fromkeys([0, count - 1]) if count else {}
    step = 1.0
    while len(order) < count:
        step /= 2
        order |= dict.fromkeys(round(i * step * (count - 1)) for i in range(1, int(1 / step), 2))
    return list(order)
