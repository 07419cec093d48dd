"""Links to a comparison and its view, written as query parameters and read back.

    v=1 & c=<first curve> & c=<each later one, as differences from the first> & ... & tab=counts & k=1000 & ...

See dprl/links.py for the form of a curve's spec. Reading never raises. A view, the visible content of a page, is a
frozen dataclass whose attributes have allowed values:

    tab: str = looked("regret", "the open tab", "tab", choices=("regret", "data"))

Links leave its defaults out, so they must never change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any

from dprl import links
from dprl.fields import Field, Kind, SpecError
from dprl.links import MAX_CURVES
from dprl.metrics.curves import Statistic
from dprl.privacy import PRIVATIZERS
from dprl.simulation import RunSpec
from dprl.words import typed
from pages.shared.visitor.address import one_line

MAX_NAME = 60

_FIELD = "field"


def looked(
    default: Any,
    help: str,
    query: str,
    *,
    choices: tuple[str, ...] = (),
    low: float | None = None,
    high: float | None = None,
) -> Any:
    """Declare an attribute of a view, which is a word in `choices` or a number. Links call it `query`."""
    kind: Kind = "choice" if choices else "int" if isinstance(default, int) else "float"
    described = Field("", kind, default, help, low, high, choices=choices, query=query)
    return field(default=default, metadata={_FIELD: described})


@cache
def fields_of(view: type) -> dict[str, Field]:
    """Return the Field of each attribute declared with `looked`, by the attribute's name."""
    made = [one for one in fields(view) if _FIELD in one.metadata]
    return {one.name: replace(one.metadata[_FIELD], name=one.name) for one in made}


def pairs_of(view: Any) -> list[tuple[str, str]]:
    """Return the unescaped query parameters, in order, for the values of a view that are not defaults."""
    values = [(one, getattr(view, name)) for name, one in fields_of(view.__class__).items()]
    return [(one.query, links.written(value)) for one, value in values if value != one.default]


def read(view: type, parameters: Mapping[str, Sequence[str]], problems: list[str]) -> dict[str, Any]:
    """Read a view's attributes from a link. For a wrong value, use the default and add a sentence to `problems`."""
    return {
        name: links.checked(one, links.last(parameters, one.query), one.default, problems)
        for name, one in fields_of(view).items()
    }


HIDDEN = Field("hidden", "choice", "no", "left out of the charts", choices=("no", "yes"), query=links.HIDE)
_OWN = frozenset({HIDDEN.query, links.NAME})  # never inherited from the first curve

TABS = ("regret", "counts", "policy", "ellipsoid", "guarantee", "data")
MEASURES = ("cumulative", "per-episode", "extra", "share")
STATISTICS: tuple[Statistic, ...] = ("mean", "median")
POLICY_CHARTS = ("steps", "chances", "map", "visits", "V", "Q")
MOST_WEIGHTS = 1000


@dataclass(frozen=True)
class View:
    """The view of Online. Links leave these defaults out, so they must never change."""

    tab: str = looked("regret", "the open tab", "tab", choices=TABS)
    measure: str = looked("cumulative", "the regret that is drawn", "m", choices=MEASURES)
    statistic: Statistic = looked("mean", "the statistic over seeds", "stat", choices=STATISTICS)  # noqa: RUF009
    x: str = looked("log", "the episode axis", "x", choices=("log", "linear"))
    y: str = looked("log", "the regret axis", "y", choices=("log", "linear"))
    each: str = looked("off", "whether each seed has its own line", "each", choices=("on", "off"))
    curve: int = looked(-1, "the curve in detail; -1: the most private", "i", low=-1, high=MAX_CURVES - 1)
    seed: int = looked(0, "the seed in detail", "seed", low=0, high=10_000)
    episode: int = looked(10**15, "the episode in detail", "k", low=1, high=10**15)
    family: str = looked("visits", "the counts shown", "of", choices=("visits", "rewards"))
    seen: str = looked("noisy", "counts shown with the true counts", "see", choices=("noisy", "released"))
    drawn: str = looked("steps", "the chart of the policy", "pol", choices=POLICY_CHARTS)
    h: int = looked(-1, "the step of the episode; -1: all", "h", low=-1, high=999)
    first: int = looked(0, "the weight along the horizontal axis", "w1", low=0, high=MOST_WEIGHTS)
    second: int = looked(1, "the weight along the vertical axis", "w2", low=0, high=MOST_WEIGHTS)
    near: str = looked("on", "whether the axes fit the confidence set", "near", choices=("on", "off"))


# The view until the visitor makes a choice.
AT_FIRST = View(measure="share", y="linear")


@dataclass(frozen=True)
class Curve:
    """One curve in a comparison."""

    spec: RunSpec
    name: str = ""  # "" for an automatic label
    hidden: bool = False
    draft: bool = False  # whether it follows the controls


@dataclass(frozen=True)
class Link:
    """The content of a link."""

    curves: tuple[Curve, ...]
    view: Any
    problems: tuple[str, ...]  # one plain sentence for each unusable value


def most_private(curves: Sequence[Curve]) -> int:
    """Return the index of the visible run with the strongest guarantee, or of any run if all are hidden. The smallest
    epsilon counts first, then the fewest trusted parties, the smallest delta, and noise as in the paper."""
    trusted = list(PRIVATIZERS)  # none, then from the most trust to no trusted party

    def promise(i: int) -> tuple[float, ...]:
        spec = curves[i].spec
        epsilon = math.inf if spec.epsilon is None else spec.epsilon
        delta = math.inf if spec.delta is None else spec.delta
        return (curves[i].hidden, epsilon, -trusted.index(spec.privacy), delta, spec.calibration != "paper")

    return min(range(len(curves)), key=promise)


def clean_name(text: str) -> str:
    """Clean a curve's name for storage: at most MAX_NAME printable characters on one line, without `~`."""
    # A spreadsheet that opens the CSV would read a name with a leading sign as a formula.
    return one_line(text[: 4 * MAX_NAME].replace("~", "-")).lstrip("=+-@ ")[:MAX_NAME].strip()


def encode(curves: Sequence[Curve], view: Any = None) -> list[tuple[str, str]]:
    """Return the query parameters in order, with unescaped keys and values."""
    items = links.link_heading()
    for index, curve in enumerate(curves):
        pairs = links.differences(curve.spec, curves[0].spec if index else None)
        pairs |= {HIDDEN.query: "yes"} if curve.hidden else {}
        pairs |= {links.NAME: clean_name(curve.name)} if curve.name else {}
        items.append(("c", "~".join(f"{k}.{v}" for k, v in pairs.items())))
    return items + ([] if view is None else pairs_of(view))


def encode_specs(specs: Sequence[Any], view: Any = None) -> list[tuple[str, str]]:
    """Return the query parameters for a comparison of unnamed runs of any kind."""
    return encode(list(map(Curve, specs)), view)


def decode(
    parameters: Mapping[str, Sequence[str]],
    files: Mapping[str, str] | None = None,
    view: type = View,
    kind: str = RunSpec.kind,
) -> Link:
    """Read a link to runs of one kind, with a view. `files` has texts that are too long for a link, by digest."""
    problems: list[str] = []
    values = read(view, parameters, problems)
    given = list(parameters.get("c", ()))
    if len(given) > MAX_CURVES:
        problems.append(f"The link has {len(given)} curves; the first {MAX_CURVES} are shown.")
    own = _OWN if kind == RunSpec.kind else ()
    curves = []
    decoded = links.decode_curves(given[:MAX_CURVES], own, files, kind)
    for index, (spec, settings, wrong) in enumerate(decoded, 1):
        problems += [f"Curve {index}: {sentence}" for sentence in wrong]
        if spec is not None:
            hidden = links.checked(HIDDEN, settings.get(HIDDEN.query), "no", problems) == "yes"
            curves.append(Curve(spec, clean_name(settings.get(links.NAME, "")), hidden))
    if values["curve"] >= max(len(curves), 1):
        values["curve"] = View.curve
    return Link(tuple(curves), view(**values), tuple(problems))


def read_values(field: Field, text: str, most: int) -> tuple[Any, ...]:
    """Read comma-separated values, and sort them. Raises SpecError if one is wrong or there are more than `most`."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not 1 <= len(words) <= most:
        raise SpecError("values", f"{len(words)} values were given; give 1 to {most}, separated by commas.")
    found = [field.parse(word) for word in words]
    if None in found:
        raise field.refuse("none")
    if len(set(found)) < len(found):
        raise SpecError("values", "one value was given twice; give each value once.")
    return tuple(sorted(found))


def values_text(given: Sequence[Any]) -> str:
    """Write values as `read_values` reads them: 0.1, 20, 1e6."""
    return ", ".join(typed(float(value)) for value in given)
