"""Write a spec to a link, and read it back.

A spec is written as `key.value` pairs joined by `~`, where the key is the field's `query`. A parameter of the
environment or the algorithm is written as `key.name.value`:

    v=1 & ... priv.local~eps.0.3~K.1e7

Values equal to the defaults are left out. A link never contains a store id. Reading never raises: each wrong value is
replaced by its default and reported in one sentence.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.fields import Field, SpecError, shown
from dprl.learners import ALGORITHMS, OFFLINE
from dprl.privacy import PRIVATIZERS
from dprl.simulation import FIELDS, KINDS, RunSpec, Spec
from dprl.simulation.base import FIRST

VERSION = "1"
MAX_MODEL = 4000  # the longest text in a link; a longer one is shared as a file
MAX_LENGTH = 3 * MAX_MODEL  # maximum number of characters of one spec
FILE = "file:"
MAX_CURVES = 8  # maximum number of curves in a comparison; more could not be distinguished
NAME, HIDE = "name", "hide"  # keys of a curve

Pairs = dict[str, str]


@cache
def defaults(kind: str = FIRST) -> dict[str, Mapping[str, Any]]:
    """Return the default values that links leave out, for all specs and by environment, algorithm and privacy model."""
    always = _usual(KINDS[kind].fields.values())
    worlds = {key: _usual(world.fields, "envp.") for key, world in ENVIRONMENTS.items()}
    learners = {
        key: _usual(one.fields, "algp.") for table in (OFFLINE, ALGORITHMS) for key, one in table.items()
    }
    if kind != FIRST:
        return {"always": always, "env": worlds, "alg": learners, "priv": {}}
    usual = spec_pairs(RunSpec())
    always |= {key: usual[key] for key in ("priv", "cal", "delta", "str")}
    schedule = always.pop("sched")
    for key, learner in ALGORITHMS.items():
        learners[key] |= {"bonus": learner.bonuses[0], "sched": learner.schedule or schedule}
    models = {
        key: {"rep": one.reports, **dict(zip(["mech"], one.mechanisms, strict=False))}
        for key, one in PRIVATIZERS.items()
    }
    return {"always": always, "env": worlds, "alg": learners, "priv": models}


def completed(pairs: Mapping[str, str], kind: str) -> Pairs:
    """Fill in the defaults of the keys that are missing from `pairs`."""
    found = {**defaults(kind)["always"], **pairs}
    for key in ("env", "alg", "priv"):
        found = {**defaults(kind)[key].get(found.get(key, ""), {}), **found}
    return found


def _usual(fields: Iterable[Field], owner: str = "") -> Pairs:
    """Return the default values of fields, by the key that each field has in a link."""
    return {
        owner + (f.name if owner else f.query): _text(f.default)
        for f in fields
        if (owner or f.query) and f.kind != "params" and f.default not in (None, "")
    }


def link_heading() -> list[tuple[str, str]]:
    """Return the first query parameter of every link: its version."""
    return [("v", VERSION)]


def check_version(parameters: Mapping[str, Sequence[str]], problems: list[str]) -> None:
    """Add a sentence to `problems` if another version made the link."""
    version = last(parameters, "v")
    if version not in (None, VERSION):
        problems.append(f"The link has version {shown(version)} and was read as version {VERSION}.")


def last(parameters: Mapping[str, Sequence[str]], key: str) -> str | None:
    """Return the last value of a key, or None if the key has no value."""
    values = parameters.get(key, ())
    return values[-1] if values else None


def text_digest(text: str) -> str:
    """Return the digest that a link contains instead of a text that is too long."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def written(value: Any) -> str:
    """Write a number or a word as in links: 0.5, 1e9, 1e-6."""
    if isinstance(value, float):
        short = re.sub(r"e([+-])0*", lambda m: "e" + m[1].strip("+"), repr(value))
        return short.removesuffix(".0")
    text = str(value)
    zeros = len(text) - len(text.rstrip("0"))
    return f"{text[:-zeros]}e{zeros}" if isinstance(value, int) and zeros > 3 else text


def encode_spec(spec: Spec) -> str:
    """Encode a spec for a query parameter, as its differences from the defaults."""
    return "~".join(f"{k}.{v}" for k, v in differences(spec, None).items())


def differences(spec: Spec, first: Spec | None) -> Pairs:
    """Return the key-value pairs of a spec that do not follow from the defaults or the first spec of its link."""
    whole, always = spec_pairs(spec), defaults(spec.kind)["always"]
    known = inherited(spec_pairs(first), whole) if first else {}
    expected = completed(known | {key: whole[key] for key in OWNERS if key in whole}, spec.kind)
    expected |= {key: known.get(key, always.get(key, "")) for key in OWNERS}
    said = {k: v for k, v in whole.items() if expected.get(k) != v}
    return said or {"priv": whole["priv"]}  # some programs drop empty parameters from a link


def decode_spec(
    text: str, files: Mapping[str, str] | None = None, kind: str = FIRST
) -> tuple[Any, list[str]]:
    """Decode a spec, which is None if its environment is in an unknown file. Replace each wrong value by its default,
    and return a sentence about it. `files` has the texts that are too long for a link, by digest."""
    pairs, wrong = split(text, kind=kind)
    spec, more = spec_from(pairs, files or {}, kind)
    return spec, wrong + more


def decode_curves(
    given: Sequence[str], own: Collection[str], files: Mapping[str, str] | None, kind: str
) -> Iterator[tuple[Any, Pairs, list[str]]]:
    """Decode the curves of a comparison. Yield the spec of each (or None), its other settings, and its error messages.
    A curve inherits values from the first curve, except for the settings named in `own`."""
    first: Pairs = {}
    for index, text in enumerate(given):
        pairs, wrong = split(text, own, kind)
        whole = {k: v for k, v in pairs.items() if k not in own}
        spec, more = spec_from(inherited(first, whole) | whole, files or {}, kind)
        if index == 0:  # a fault of the first curve is reported only once
            first = whole if spec is None else spec_pairs(spec)
        yield spec, {k: v for k, v in pairs.items() if k in own}, wrong + more


def spec_pairs(spec: Spec) -> Pairs:
    """Return all values of a spec other than None, as text. Each parameter has a key of the form `key.name`."""
    pairs: Pairs = {}
    values = spec.to_dict()
    for name, field in KINDS[spec.kind].fields.items():
        key, value = field.query, values[name]
        if value is None and field.kind == "text":
            value = "none"  # lets a later curve override a text of the first
        if key and isinstance(value, Mapping):
            pairs |= {f"{key}.{k}": _text(v) for k, v in value.items() if v is not None}
        elif key and value is not None:
            pairs[key] = _text(value)
    return pairs


def _text(value: Any) -> str:
    """Write a value for a link, with the separator ~ escaped."""
    text = written(value)
    return FILE + text_digest(text) if len(text) > MAX_MODEL else text.replace("%", "%25").replace("~", "%7E")


def _whole(text: str, files: Mapping[str, str]) -> str | None:
    """Undo `_text`. Return None if the text refers to an unknown file."""
    if text.startswith(FILE):
        return files.get(text.removeprefix(FILE))
    return text.replace("%7E", "~").replace("%25", "%")


def split(text: str, more: Iterable[str] = (), kind: str = FIRST) -> tuple[Pairs, list[str]]:
    """Split a text into key-value pairs, and report each part that is not one. `more` has further allowed keys."""
    if len(text) > MAX_LENGTH:
        return {}, [f"it is longer than {MAX_LENGTH} characters and was not read."]
    known = {field.query for field in KINDS[kind].fields.values() if field.query} | set(more)
    pairs: Pairs = {}
    problems = []
    for part in filter(None, text.split("~")):
        key, dot, value = part.partition(".")
        if dot and key in _PARAMS:
            name, dot, value = value.partition(".")
            key = f"{key}.{name}"
        if dot and key.split(".")[0] in known:
            pairs[key] = value
        else:
            problems.append(f"{shown(part)} is not part of a curve and was left out.")
    return pairs, problems[:3]


def inherited(first: Mapping[str, str], given: Mapping[str, str]) -> Pairs:
    """Return the pairs that a later spec in a link inherits from the first: all except the parameters of a different
    environment or algorithm, and the choice of reports if the first spec has no noise."""
    dropped: set[str] = set() if "mech" in first else {"rep"}
    for owner, params in OWNERS.items():
        if params and owner in given and given[owner] != first.get(owner):
            dropped |= {key for key in first if key.startswith(f"{params}.")}
    return {k: v for k, v in first.items() if k not in dropped}


def spec_from(pairs: Mapping[str, str], files: Mapping[str, str], kind: str) -> tuple[Any, list[str]]:
    """Build the spec from `pairs`. Replace each wrong value by its default, and return a sentence about it. Return None
    instead of the spec if its environment is in an unknown file."""
    values = _values(pairs, files, kind)
    for name, value in values.items():
        if value is None:
            return None, [f"{name}: this did not fit into the link."]
        if isinstance(value, dict) and None in value.values():
            return None, ["The environment is in a file that did not fit into the link; upload that file."]
    whole = _values(completed(pairs, kind), files, kind)
    try:
        return KINDS[kind].from_dict(_parsed(whole, kind)), []
    except SpecError:
        pass  # next, report the values that are wrong in the link itself, without the defaults added above
    problems: list[str] = []
    while True:  # each round leaves out one wrong value, so the loop ends
        try:
            return KINDS[kind].from_dict(_parsed(values, kind)), problems
        except SpecError as error:
            name, _, param = error.field.partition(".")  # "epsilon" or "environment_params.S"
            own = values.get(name)
            left_out = own.pop(param) if isinstance(own, dict) and param in own else values.pop(name, None)
            if left_out in (None, {}):
                return None, [*problems, f"it was left out; {error}"]
            problems.append(str(error))
            if error.field == "mechanism":
                values.pop("reports", None)  # the reports were chosen for that mechanism


def _values(pairs: Mapping[str, str], files: Mapping[str, str], kind: str) -> dict[str, Any]:
    """Return the values of `pairs` as text by field name, with None for a text in an unknown file."""
    values: dict[str, Any] = {}
    for name, field in KINDS[kind].fields.items():
        if field.kind == "params":
            given = {k.partition(".")[2]: v for k, v in pairs.items() if k.startswith(f"{field.query}.")}
            values[name] = {k: _whole(v, files) for k, v in given.items()}
        elif field.query in pairs:
            text = pairs[field.query]
            values[name] = _whole(text, files) if field.kind == "text" else text
    return values


def _parsed(values: Mapping[str, Any], kind: str) -> dict[str, Any]:
    fields = KINDS[kind].fields
    return {k: fields[k].parse(v) if isinstance(v, str) else v for k, v in values.items()}


def checked(field: Field, text: str | None, otherwise: Any, problems: list[str]) -> Any:
    """Parse a field's value. Return `otherwise` if it is missing or wrong; report a wrong value in `problems`."""
    if text is None:
        return otherwise
    try:
        return field.parse(text)
    except SpecError as error:
        problems.append(str(error))
        return otherwise


_PARAMS = frozenset(f.query for f in FIELDS.values() if f.kind == "params")
# Keys of the fields that determine the defaults of others, each with the key of its parameters.
OWNERS = {"env": "envp", "alg": "algp", "priv": ""}


def chosen(field: str, text: str | None, among: Collection[str], problems: list[str]) -> str:
    """Return `text` if it is allowed. Otherwise, return "" and report the text in `problems`."""
    if not text or text in among:
        return text or ""
    problems.append(f"{field}: {shown(text)} is not allowed; give one of {', '.join(among)}.")
    return ""


def place(field: Field, text: str | None, most: int, problems: list[str]) -> int:
    """Convert a position from 1 to `most`, given as text, to an index from 0; return 0 if it is missing or wrong."""
    return int(checked(replace(field, high=most), text, field.default, problems)) - 1
