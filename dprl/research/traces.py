"""Traces of finished runs with charts, comparisons of runs, and citations of the sources behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from dprl import simulation
from dprl.fields import SpecError, check_flags, check_type
from dprl.learners import ALGORITHMS, OFFLINE
from dprl.messages.brief import cut, table_of
from dprl.metrics.curves import Statistic
from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.privacy.curator import PROMISES
from dprl.privacy.guarantee import Guarantee, budget
from dprl.simulation import (
    AttackSpec,
    AttackTrace,
    OfflineSpec,
    OfflineTrace,
    RunSpec,
    SeedTrace,
    Spec,
    UploadSpec,
    UploadTrace,
)
from dprl.simulation.kinds import given_spec
from dprl.simulation.trace import TraceCore
from dprl.theory.papers import bibliography
from dprl.version import VERSION
from dprl.words import upward

if TYPE_CHECKING:
    import pandas as pd

    from dprl.research.pictures import Picture

T_co = TypeVar("T_co", bound=TraceCore, covariant=True)
RUNS = "finished runs, such as dprl.run(spec)"
Progress = Callable[[float], None]
Measure = Literal[
    "regret", "share", "regret per episode", "privacy cost", "suboptimal episodes", "suboptimality", "policy"
]
Source = tuple[str, str]  # the subject of a source, and the text that names its papers
NOTIONS = {"zcdp": "Bun, Steinke 2016"}  # the paper that introduced each notion of privacy, if we know it


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Trace(simulation.Trace[T_co]):
    """A finished run: all its seeds, at the same points of the axis. A notebook shows it as a card.

    Attributes:
        spec: the run; its type matches the seeds, such as `RunSpec` for `SeedTrace`.
        seeds: the trace of each seed, with the details of its kind, such as `SeedTrace`.
    """

    def plot(
        self, measure: Measure | None = None, *, statistic: Statistic = "mean", dark: bool = False
    ) -> Picture:
        """Draw the run in the dashboard's chart.

        Args:
            measure: see `Comparison.plot`. The default is "regret" for an online run, "suboptimality" for a run on
                simulated data sets, and "policy", the action in each state at each step, for a run on your own file.
            statistic, dark: see `Comparison.plot`.
        """
        from dprl.research import pictures

        check_flags(dark=dark)
        check_type("measure", measure, str | None, "the name of one, such as regret")
        if measure == "policy" or (measure is None and self.spec.kind == UploadSpec.kind):
            return pictures.told_plainly(pictures.policy(self, dark=dark))
        return compare([self]).plot(measure, statistic=statistic, dark=dark)

    def cite(self) -> str:
        """Return the sources to cite for this run, as the text of a BibTeX file (`dprl.cite`)."""
        return cite(self)

    def _repr_html_(self) -> str:
        return card("Trace", {repr(self).partition("\n")[0].removeprefix("Trace of "): self})


# A spec and a trace of any kind; `isinstance` narrows the type for a type checker.
AnySpec = RunSpec | OfflineSpec | UploadSpec | AttackSpec
OneOfAny = simulation.Trace[TraceCore[Spec]]
AnyTrace = Trace[SeedTrace] | Trace[OfflineTrace] | Trace[UploadTrace] | Trace[AttackTrace]


def spec_from_json(text: str) -> AnySpec:
    """Read a spec of any kind from JSON text; for a type checker, narrow the result with `isinstance`.

    Raises:
        SpecError: A field is not allowed, or the text is not JSON.

    Example:
        >>> dprl.spec_from_json('{"environment": "clinic", "seeds": 3}').seeds
        3
    """
    spec: AnySpec = simulation.spec_from_json(text)
    return spec


@dataclass(frozen=True, eq=False)
class Comparison:
    """Finished runs to compare, made by `compare`.

    Attributes:
        traces: the runs by name, in the order in which they are drawn.
    """

    traces: Mapping[str, OneOfAny]

    def plot(
        self,
        measure: Measure | None = None,
        *,
        statistic: Statistic = "mean",
        log_x: bool = True,
        log_y: bool = True,
        seeds: bool = False,
        dark: bool = False,
    ) -> Picture:
        """Draw runs of one kind in the dashboard's chart: a curve for each, with its 95% interval over seeds.

        Args:
            measure: the quantity drawn; by default the first one listed for the kind.

                - Online runs: "regret" so far; "share" of V* that an average episode lost so far; "regret per
                  episode" so far; "privacy cost", the regret beyond that of the same seeds of the non-private
                  baseline, `spec.baseline()`, which has to be among the runs; or "suboptimal episodes", the number
                  of episodes that fell short of V* by more than alpha, against alpha.
                - Runs on simulated data sets: "suboptimality" of the learned policy over n; or "privacy cost", the
                  distance of its lower bound below that of `spec.baseline()`, which has to be among the runs.
            statistic: "mean" or "median" over seeds; only the mean for runs on data sets.
            log_x, log_y: whether an axis is logarithmic; the axes of n and alpha always are.
            seeds: whether to draw each seed, too; not possible for suboptimal episodes.
            dark: whether to use colours for a dark page.

        Returns:
            A picture: its `figure` is Plotly's, its `table` has the numbers drawn, and `see` describes it in words
            (`see_markdown` is the same text in Markdown).

        Raises:
            SpecError: This kind has no such measure, the runs are of several kinds, a baseline is missing, or
                there are too many runs.
        """
        from dprl.research import pictures

        check_flags(log_x=log_x, log_y=log_y, seeds=seeds, dark=dark)
        how = {"log_x": log_x, "log_y": log_y, "show_seeds": seeds, "dark": dark}
        return pictures.draw(self.traces, measure, statistic, **how)

    def summary(self) -> pd.DataFrame:
        """Return a row for each run: the final measure's mean and 95% interval over seeds, and the proved budget."""
        import pandas as pd

        rows = [{"run": name, **trace.summary()} for name, trace in self.traces.items()]
        shown = ("run", "final_", "proved_")
        return pd.DataFrame(rows).filter(regex=f"^({'|'.join(shown)})")

    def frame(self, *, whole: bool = True) -> pd.DataFrame:
        """Return a tidy table of all curves: the name of the run and the columns of `Trace.frame`.

        Args:
            whole: whether each point of a curve has a row; otherwise only its end has one.
        """
        import pandas as pd

        parts = [trace.frame(whole=whole).assign(run=name) for name, trace in self.traces.items()]
        table = pd.concat(parts, ignore_index=True)
        return table[["run", *(column for column in table if column != "run")]]

    def __repr__(self) -> str:
        return f"Comparison of {len(self.traces)} runs: {cut('; '.join(self.traces))}"

    def _repr_html_(self) -> str:
        return card("Comparison", self.traces)


def compare(traces: Iterable[simulation.Trace] | Mapping[str, simulation.Trace]) -> Comparison:
    """Compare runs, for a chart or a table.

    Args:
        traces: finished runs, or a dict of runs by their names in the legend. The default names are the runs' labels.

    Raises:
        SpecError: There are no runs.

    Example:
        >>> spec = dprl.RunSpec("riverswim", environment_params={"S": 3, "H": 4}, episodes=1000, seeds=2)
        >>> runs = dprl.compare({"central": dprl.run(spec), "baseline": dprl.run(spec.baseline())})
        >>> list(runs.traces)
        ['central', 'baseline']
    """
    from dprl.figures.regret import distinct

    check_type("traces", traces, Iterable, RUNS)
    found = list(traces.values() if isinstance(traces, Mapping) else traces)
    if not found:
        raise SpecError("traces", "there is none; give at least one, such as dprl.run(spec).")
    for trace in found:
        check_type("traces", trace, simulation.Trace, RUNS)
    names = traces if isinstance(traces, Mapping) else distinct([trace.spec.label() for trace in found])
    return Comparison(dict(zip(names, found, strict=True)))


def card(caption: str, traces: Mapping[str, simulation.Trace]) -> str:
    """Return an HTML table of runs: each one's name, proved guarantee and final measure."""
    told = (
        (name, f"{proved_in_words(one.guarantee)}; {repr(one).splitlines()[1]}")
        for name, one in traces.items()
    )
    return table_of(caption, told)


def proved_in_words(guarantee: Guarantee) -> str:
    """Describe a proved guarantee in words."""
    if guarantee.proved_rho is not None:
        return f"proved: rho {upward(guarantee.proved_rho, 4):.4g}"
    if guarantee.proved_epsilon is None:
        return "no privacy"
    return f"proved: (epsilon, delta) = {budget(guarantee.proved_epsilon, guarantee.proved_delta or 0.0)}"


def cite(*runs: Spec | simulation.Trace | Mapping[str, Any]) -> str:
    """Return the sources to cite for these runs as a BibTeX file.

    Args:
        runs: specs, finished runs, or dicts of a spec's fields.

    Returns:
        One entry each for dprl and for every paper behind the algorithms, privacy models and mechanisms. Comments
        state the subject of each paper.

    Raises:
        SpecError: One of the runs is not a spec, or one of its fields is not allowed.

    Example:
        >>> print(dprl.cite(dprl.RunSpec()).splitlines()[-1])
        }
    """
    specs = [given_spec(run.spec if isinstance(run, simulation.Trace) else run) for run in runs]
    return bibliography((source for spec in specs for source in SOURCES[spec.kind](spec)), VERSION)


def of_online(spec: Any) -> Iterator[Source]:
    """Yield the sources of an online run: its algorithm and, if it is private, its privacy model and mechanism."""
    entries: list[Any] = [ALGORITHMS[spec.algorithm]]
    if spec.mechanism is not None:
        entries += PRIVATIZERS[spec.privacy], MECHANISMS[spec.mechanism]
    yield from ((entry.title, entry.source) for entry in entries)


def of_data_set(spec: Any) -> Iterator[Source]:
    """Yield the sources of a run on a data set: its algorithm and, if it is private, its guarantee and noise."""
    learner, promise = OFFLINE[spec.algorithm], PROMISES[spec.privacy]
    yield learner.title, learner.source
    if spec.privacy in NOTIONS:
        yield f"{promise.title} privacy", NOTIONS[spec.privacy]
    if promise.mechanism in MECHANISMS:
        noise = MECHANISMS[promise.mechanism]
        yield noise.title, noise.source


SOURCES: dict[str, Callable[[Any], Iterator[Source]]] = {
    RunSpec.kind: of_online,
    OfflineSpec.kind: of_data_set,
    UploadSpec.kind: of_data_set,
    AttackSpec.kind: lambda spec: of_online(spec.run),
}
