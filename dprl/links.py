"""Links: a comparison and the view of it, written as query parameters and read back.

    v=1 & c=<first curve, whole> & c=<the second, as differences from the first> & ... & tab=regret & m=cumulative & ...

A curve is `key.value` pairs joined by `~`, where key is the field's `query` key in `RunSpec`'s table; a parameter of
the environment or of the algorithm is `key.name.value`. Every value is written, defaults included, so a link keeps its
meaning when a default changes. A store id never stands in a link. Reading never raises: what is wrong is left out or
replaced by its default and said in one sentence each, and everything else is kept.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from dprl.fields import Field, SpecError, shown
from dprl.privacy import PRIVATIZERS
from dprl.simulation.spec import FIELDS, RunSpec

VERSION = "1"
MAX_CURVES = 8
MAX_NAME = 60
MAX_MODEL = 4000  # characters of a text among the parameters; a longer one travels as a file
MAX_LENGTH = 3 * MAX_MODEL  # characters of one curve
FILE = "file:"

SLOT = Field("colour", "int", 0, "place in the palette", low=0, high=MAX_CURVES - 1, query="col")
HIDDEN = Field("hidden", "choice", "no", "left out of the charts", choices=("no", "yes"), query="hide")
NAME = "name"

TABS = ("regret", "counts", "policy", "guarantee", "data")
MEASURES = ("cumulative", "per-episode", "extra", "pac")
COUNTS_CHARTS = ("map", "scatter", "cell", "coverage", "pulls")
POLICY_CHARTS = ("steps", "map", "visits", "V", "Q", "stages")

# What is looked at, and how. Query keys are short because every link carries all of them.
VIEW_FIELDS: dict[str, Field] = {
    f.name: f
    for f in (
        Field("tab", "choice", "regret", "the open tab", choices=TABS, query="tab"),
        Field("measure", "choice", "cumulative", "which regret is drawn", choices=MEASURES, query="m"),
        Field("x", "choice", "log", "the episode axis", choices=("log", "linear"), query="x"),
        Field("y", "choice", "log", "the regret axis", choices=("log", "linear"), query="y"),
        Field("each", "choice", "off", "a line for every seed", choices=("on", "off"), query="each"),
        Field("curve", "int", -1, "the curve looked at, -1: the most private", low=-1, high=MAX_CURVES - 1, query="i"),
        Field("seed", "int", 0, "which seed is looked at", low=0, high=10_000, query="seed"),
        Field("episode", "int", 10**15, "the episode looked at", low=1, high=10**15, query="k"),
        Field("chart", "choice", "map", "the chart of counts", choices=COUNTS_CHARTS, query="ch"),
        Field("family", "choice", "visits", "what is counted", choices=("visits", "rewards"), query="of"),
        Field("seen", "choice", "noisy", "what is held against the truth", choices=("noisy", "released"), query="see"),
        Field("drawn", "choice", "steps", "the chart of the policy", choices=POLICY_CHARTS, query="pol"),
        Field("h", "int", -1, "the step of the episode, -1 for all", low=-1, high=999, query="h"),
        Field("s", "int", 0, "the state", low=0, high=299, query="s"),
        Field("a", "int", 0, "the action", low=0, high=99, query="a"),
    )
}  # fmt: skip


@dataclass(frozen=True)
class View:
    """What is looked at. One attribute for each of VIEW_FIELDS; always valid."""

    tab: str = "regret"
    measure: str = "cumulative"
    x: str = "log"
    y: str = "log"
    each: str = "off"
    curve: int = -1
    seed: int = 0
    episode: int = 10**15
    chart: str = "map"
    family: str = "visits"
    seen: str = "noisy"
    drawn: str = "steps"
    h: int = -1
    s: int = 0
    a: int = 0


@dataclass(frozen=True)
class Curve:
    """One curve of a comparison. slot: its place among the colours of its privacy model, kept when
    others are removed; name: "" for the label."""

    spec: RunSpec
    slot: int = 0
    name: str = ""
    hidden: bool = False

    @property
    def title(self) -> str:
        """The visitor's name for it, or the spec's own label. Plain text: escape it where it is shown."""
        return self.name or self.spec.label()


@dataclass(frozen=True)
class Link:
    """What a link says. problems: one plain sentence for each thing that could not be used."""

    curves: tuple[Curve, ...]
    view: View
    problems: tuple[str, ...]


def most_private(curves: Sequence[Curve]) -> int:
    """Which of them (of those not hidden, if any) promises most: the smallest epsilon, then the fewest who are
    trusted, then the smallest delta; with the printed noise, which is never the smaller, before the least. Of several
    the first."""
    trusted = list(PRIVATIZERS)  # none, then from the most trusted to nobody

    def promise(i: int) -> tuple[float, ...]:
        spec = curves[i].spec
        epsilon = math.inf if spec.epsilon is None else spec.epsilon
        delta = math.inf if spec.delta is None else spec.delta
        return (curves[i].hidden, epsilon, -trusted.index(spec.privacy), delta, spec.calibration != "paper")

    return min(range(len(curves)), key=promise)


def clean_name(text: str) -> str:
    """A curve's name as it is kept: printable, on one line, at most MAX_NAME characters, without the separator `~`."""
    kept = "".join(c if c.isprintable() else " " for c in text[: 4 * MAX_NAME]).replace("~", "-")
    # A leading sign would make a formula of it in a spreadsheet that opens the CSV.
    return " ".join(kept.split()).lstrip("=+-@ ")[:MAX_NAME].strip()


def digest(text: str) -> str:
    """By which a link names a text that is too long for it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def encode(curves: Sequence[Curve], view: View) -> list[tuple[str, str]]:
    """The query parameters, in order, each key and value unescaped."""
    written = [_pairs(curve) for curve in curves]
    items = [("v", VERSION)]
    for index, pairs in enumerate(written):
        base = _inherited(written[0], pairs) if index else {}
        items.append(("c", "~".join(f"{k}.{v}" for k, v in pairs.items() if base.get(k) != v)))
    values = asdict(view)
    return items + [(f.query, str(values[name])) for name, f in VIEW_FIELDS.items()]


def query(curves: Sequence[Curve], view: View) -> str:
    """The query string, without the question mark."""
    return urlencode(encode(curves, view))


def decode(parameters: Mapping[str, Sequence[str]], files: Mapping[str, str] | None = None) -> Link:
    """Reads the query parameters (each key with all its values). Unknown keys are ignored.

    files: texts too long for a link that are known here, by their digest.
    """
    problems: list[str] = []
    version = _last(parameters, "v")
    if version is not None and version != VERSION:
        problems.append(f"The link says version {shown(version)} and was read as version {VERSION}.")
    view = _view(parameters, problems)
    given = list(parameters.get("c", ()))
    if len(given) > MAX_CURVES:
        problems.append(f"The link has {len(given)} curves; the first {MAX_CURVES} are shown.")
    curves: list[Curve] = []
    base: dict[str, str] = {}
    for index, text in enumerate(given[:MAX_CURVES]):
        pairs, wrong = _split(text)
        if index:
            pairs = _inherited(base, pairs) | pairs
        curve, more = _curve(pairs, index, files or {})
        problems += [f"Curve {index + 1}: {sentence}" for sentence in wrong + more]
        if index == 0:
            base = pairs if curve is None else _pairs(curve)  # what was wrong in the first is said only once
        if curve is not None:
            curves.append(curve)
    if view.curve >= max(len(curves), 1):
        view = replace(view, curve=View.curve)
    return Link(tuple(curves), view, tuple(problems))


def encode_spec(spec: RunSpec) -> str:
    """One whole spec as the value of a query parameter."""
    return "~".join(f"{k}.{v}" for k, v in _spec_pairs(spec).items())


def decode_spec(text: str, files: Mapping[str, str] | None = None) -> tuple[RunSpec | None, list[str]]:
    """The spec that `encode_spec` wrote; what is wrong is replaced by its default, and said in a sentence each."""
    pairs, wrong = _split(text)
    spec, more = _spec(pairs, files or {})
    return spec, wrong + more


def _spec_pairs(spec: RunSpec) -> dict[str, str]:
    """Everything a spec is, as text by query key; parameters under `key.name`; values that are None left out."""
    pairs: dict[str, str] = {}
    for name, value in spec.to_dict().items():
        key = FIELDS[name].query
        if isinstance(value, Mapping):
            pairs |= {f"{key}.{k}": _text(v) for k, v in value.items() if v is not None}
        elif value is not None:
            pairs[key] = _text(value)
    return pairs


def _pairs(curve: Curve) -> dict[str, str]:
    """Everything a curve is, as text by query key."""
    pairs = _spec_pairs(curve.spec)
    pairs[SLOT.query] = str(curve.slot)
    pairs[HIDDEN.query] = "yes" if curve.hidden else "no"
    if curve.name:
        pairs[NAME] = clean_name(curve.name)
    return pairs


def _text(value: Any) -> str:
    """A value as it stands in a link. The separator ~ may be part of a text, and is escaped with %."""
    text = repr(value) if isinstance(value, float) else str(value)
    return FILE + digest(text) if len(text) > MAX_MODEL else text.replace("%", "%25").replace("~", "%7E")


def _whole(text: str, files: Mapping[str, str]) -> str | None:
    """The value that `_text` wrote; None for a file that is not known here."""
    if text.startswith(FILE):
        return files.get(text.removeprefix(FILE))
    return text.replace("%7E", "~").replace("%25", "%")


def _split(text: str) -> tuple[dict[str, str], list[str]]:
    """One `c` value as text by key, with a sentence for each pair that is none."""
    if len(text) > MAX_LENGTH:
        return {}, [f"it is longer than {MAX_LENGTH} characters and was not read."]
    pairs: dict[str, str] = {}
    problems = []
    for part in filter(None, text.split("~")):
        key, dot, value = part.partition(".")
        if dot and key in _PARAMS:
            name, dot, value = value.partition(".")
            key = f"{key}.{name}"
        if dot and key.split(".")[0] in _KNOWN:
            pairs[key] = value
        else:
            problems.append(f"{shown(part)} is not part of a curve and was left out.")
    return pairs, problems[:3]


def _inherited(base: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """What a curve has from the first one: not its name, nor parameters of another environment or algorithm."""
    dropped = set(_OWN)
    for owner, params in _OWNERS:
        if owner in given and given[owner] != base.get(owner):
            dropped |= {key for key in base if key.startswith(f"{params}.")}
    return {k: v for k, v in base.items() if k not in dropped}


def _curve(
    pairs: Mapping[str, str], default_slot: int, files: Mapping[str, str]
) -> tuple[Curve | None, list[str]]:
    """The curve that `pairs` describe, each value that is wrong replaced by its default, and a sentence for each."""
    spec, problems = _spec(pairs, files)
    if spec is None:
        return None, problems
    slot = _checked(SLOT, pairs.get(SLOT.query), default_slot, problems)
    hidden = _checked(HIDDEN, pairs.get(HIDDEN.query), "no", problems) == "yes"
    return Curve(spec, slot, clean_name(pairs.get(NAME, "")), hidden), problems


def _spec(pairs: Mapping[str, str], files: Mapping[str, str]) -> tuple[RunSpec | None, list[str]]:
    """The spec that `pairs` describe, each value that is wrong replaced by its default, and a sentence for each.

    One whose environment is in a file that is not known here is left out: another one would be a lie.
    """
    problems: list[str] = []
    values: dict[str, Any] = {}
    for name, field in FIELDS.items():
        if field.kind == "params":
            given = {k.partition(".")[2]: v for k, v in pairs.items() if k.startswith(f"{field.query}.")}
            values[name] = {k: _whole(v, files) for k, v in given.items()}
            if None in values[name].values():
                return None, [
                    "its environment is in a file that did not fit into the link: upload that file."
                ]
        elif field.query in pairs:
            values[name] = pairs[field.query]
    for _ in range(len(pairs) + 1):  # each round leaves out the one value that is wrong, so this ends
        try:
            return RunSpec(**_parsed(values)), problems
        except SpecError as error:
            if not _leave_out(values, error.field):
                return None, [*problems, f"it was left out; {error}"]
            problems.append(str(error))
    return None, problems


def _parsed(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v if isinstance(v, dict) else FIELDS[k].parse(v) for k, v in values.items()}


def _leave_out(values: dict[str, Any], where: str) -> bool:
    """Removes the value that a SpecError names ("epsilon", "environment_params.S"); whether there was one."""
    name, _, param = where.partition(".")
    if isinstance(values.get(name), dict):
        params = values[name]
        if param in params:
            del params[param]
            return True
        had = bool(params)
        params.clear()
        return had
    return values.pop(name, None) is not None


def _view(parameters: Mapping[str, Sequence[str]], problems: list[str]) -> View:
    values = {
        name: _checked(field, _last(parameters, field.query), field.default, problems)
        for name, field in VIEW_FIELDS.items()
    }
    return View(**values)


def _checked(field: Field, text: str | None, otherwise: Any, problems: list[str]) -> Any:
    """`text` read by `field`; `otherwise` when it is missing, or wrong, which is said."""
    if text is None:
        return otherwise
    try:
        return field.parse(text)
    except SpecError as error:
        problems.append(str(error))
        return otherwise


def _last(parameters: Mapping[str, Sequence[str]], key: str) -> str | None:
    values = parameters.get(key, ())
    return values[-1] if values else None


def _queries(kinds: Iterable[Field]) -> frozenset[str]:
    return frozenset(f.query for f in kinds)


_PARAMS = _queries(f for f in FIELDS.values() if f.kind == "params")
_OWN = frozenset({SLOT.query, HIDDEN.query, NAME})  # a curve's own, never inherited from the first
_KNOWN = _queries(FIELDS.values()) | _OWN
_OWNERS = tuple(
    (FIELDS[owner].query, FIELDS[f"{owner}_params"].query) for owner in ("environment", "algorithm")
)
assert {f.name for f in fields(View)} == set(VIEW_FIELDS)
