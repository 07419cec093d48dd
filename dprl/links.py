"""A spec as text: how links write it, and read it back for ever.

A spec is `key.value` pairs joined by `~`, where key is the field's `query` key in `RunSpec`'s table; a parameter of the
environment or of the learner is `key.name.value`:

    v=2 & t=3 & ... priv.local~eps.0.3~K.1e7

What equals the defaults is left out. So that a link keeps its meaning when a default changes, it names the table of
defaults it was written with (`t`), and those tables are frozen: a changed default gets a new one. Links of version 1
wrote every value; what a hand-written one leaves out is what was the default then. A store id never stands in a link.
Reading never raises: what is wrong takes its default and is said in one sentence each, and all else is kept.

A spec of another kind than online is written by the table of its kind, and the first of a link says everything: there
is no frozen table of its defaults yet. Which kind it is follows from the page.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from types import MappingProxyType
from typing import Any

from dprl.fields import Field, SpecError, shown
from dprl.simulation.kinds import FIRST, KINDS, Spec
from dprl.simulation.table import FIELDS, LATER

VERSION = "2"
READ = ("1", VERSION)
MAX_MODEL = 4000  # characters of a text among the parameters; a longer one travels as a file
MAX_LENGTH = 3 * MAX_MODEL  # characters of one spec
FILE = "file:"
MAX_CURVES = 8  # of a comparison, more of which nobody can tell apart
NAME, HIDE, COLOUR = "name", "hide", "col"  # of a curve; the last is read, and passed over

Pairs = dict[str, str]


@dataclass(frozen=True)
class Defaults:
    """One frozen table.

    Attributes:
        always: of every spec.
        by_environment, by_learner, by_privacy: what depends on these.
        models: what a privacy model alone stood for on Trade-offs, where it is not what it is now.
    """

    always: Pairs
    by_environment: Mapping[str, Pairs]
    by_learner: Mapping[str, Pairs]
    by_privacy: Mapping[str, Pairs]
    models: Pairs = attribute(default_factory=dict, repr=False)

    def completed(self, pairs: Mapping[str, str]) -> Pairs:
        """`pairs`, and the defaults of what they leave out."""
        found = {**self.always, **pairs}
        for key, table in (("env", self.by_environment), ("alg", self.by_learner), ("priv", self.by_privacy)):
            found = {**table.get(found.get(key, ""), {}), **found}
        return found


_OPTIMISTIC = {"algp.cap": "H"}
_ELIMINATING = {"algp.C": "1", "algp.C1": "6"}
_GAUSSIAN = {"local": "local:gaussian:tight"}

# Never change a table that has been released: add one. What no table has is written out, so a new environment or
# learner needs no entry.
TABLES: dict[str, Defaults] = {
    "1": Defaults(
        always={
            "env": "riverswim", "alg": "dp-ucbvi", "priv": "central", "cal": "tight", "eps": "1", "delta": "1e-6",
            "beta": "0.1", "bonus": "anytime", "K": "1e9", "sched": "geometric:0.02", "seeds": "5", "seed": "0",
        },
        by_environment={
            "riverswim": {"envp.S": "6", "envp.H": "20", "envp.variant": "osband"},
            "gridworld": {"envp.map": "S---/-WX-/---G", "envp.H": "12", "envp.slip": "0.1"},
            "chain": {"envp.S": "5", "envp.A": "3", "envp.H": "10", "envp.slip": "0.1"},
            "clinic": {
                "envp.levels": "3", "envp.doses": "3", "envp.H": "8", "envp.effect": "0.7", "envp.toxicity": "0.5",
            },
            "hard-jdp": {"envp.n": "2", "envp.m": "2", "envp.alpha": "0.1", "envp.H": "5", "envp.seed": "0"},
            "random": {
                "envp.S": "5", "envp.A": "3", "envp.H": "10", "envp.concentration": "0.3", "envp.seed": "0",
            },
            "gymnasium": {"envp.id": "FrozenLake-v1", "envp.H": "20"},
            "custom": {"envp.H": "10"},
        },
        by_learner={
            "dp-ucbvi": _OPTIMISTIC, "pucb": _OPTIMISTIC, "private-ucb-vi": _OPTIMISTIC,
            "ucbvi": _OPTIMISTIC, "ucbvi-hoeffding": _OPTIMISTIC, "ubev": _OPTIMISTIC,
            "sdp-pe": _ELIMINATING, "apeve": _ELIMINATING,
            "sdp-pe-relaxed": _ELIMINATING, "apeve-relaxed": _ELIMINATING,
        },
        by_privacy={
            "central": {"mech": "gaussian-toeplitz"},
            "shuffle": {"mech": "binomial-sum"},
            "local": {"mech": "gaussian"},
        },
        models=_GAUSSIAN,
    ),
}  # fmt: skip
_ANYTIME = {"bonus": "anytime", "sched": "adaptive:0.1"}
_STAGES = {"bonus": "practical", "sched": "own"}
TABLES["2"] = Defaults(
    {key: value for key, value in TABLES["1"].always.items() if key not in _ANYTIME},
    TABLES["1"].by_environment,
    {
        **{key: {**table, **_ANYTIME} for key, table in TABLES["1"].by_learner.items()},
        **{
            key: {**TABLES["1"].by_learner[key], **_STAGES}
            for key in ("sdp-pe", "apeve", "sdp-pe-relaxed", "apeve-relaxed")
        },
    },
    TABLES["1"].by_privacy,
    _GAUSSIAN,
)
TABLES["3"] = replace(
    TABLES["2"], by_privacy={**TABLES["2"].by_privacy, "central": {"mech": "gaussian-optimal"}}
)
TABLES["4"] = replace(
    TABLES["3"], by_privacy={**TABLES["3"].by_privacy, "local": {"mech": "unary", "rep": "played"}}, models={}
)
NEWEST = "4"
# A link that names no version was written by hand: what it leaves out is what is the default now. One of version 1 says
# everything, unless written by hand; what was the default then is told where it does not depend on other fields.
BY_HAND = Defaults({}, {}, {}, {})
VERSION_1 = Defaults(
    {k: TABLES["1"].always[k] for k in ("env", "alg", "bonus", "K", "sched", "seeds", "seed")},
    TABLES["1"].by_environment,
    TABLES["1"].by_learner,
    {"local": TABLES["1"].by_privacy["local"]},
    _GAUSSIAN,
)


def link_heading() -> list[tuple[str, str]]:
    """The first query parameters of every link: its version, and its table of defaults."""
    return [("v", VERSION), ("t", NEWEST)]


def defaults_of(parameters: Mapping[str, Sequence[str]], problems: list[str]) -> Defaults:
    """The defaults that a link was written with.

    Args:
        parameters: Each key of the query with all its values.
        problems: A sentence is added to it for a version or a table that is not known here.
    """
    version, table = last(parameters, "v"), last(parameters, "t")
    if version not in (None, *READ):
        problems.append(f"The link says version {shown(version)} and was read as version {VERSION}.")
    if version in ("1", None):
        return VERSION_1 if version else BY_HAND
    if table not in (None, *TABLES):
        problems.append(f"t: {shown(table)} is no table of defaults that is known here; {NEWEST} was taken.")
    return TABLES.get(table or NEWEST, TABLES[NEWEST])


def last(parameters: Mapping[str, Sequence[str]], key: str) -> str | None:
    """The last value of a key, None where it has none."""
    values = parameters.get(key, ())
    return values[-1] if values else None


# Links of these kinds say everything. What one that was shortened by hand leaves out is what it was when such links
# were first written.
LEFT_OUT: Mapping[str, Pairs] = {"offline": {"alg": "dp-apvi"}, "upload": {"alg": "dp-apvi"}}


def text_digest(text: str) -> str:
    """By which a link names a text that is too long for it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def written(value: Any) -> str:
    """A number or word as a link says it: 0.5, 1e9, 1e-6."""
    if isinstance(value, float):
        short = re.sub(r"e([+-])0*", lambda m: "e" + m[1].strip("+"), repr(value))
        return short.removesuffix(".0")
    text = str(value)
    zeros = len(text) - len(text.rstrip("0"))
    return f"{text[:-zeros]}e{zeros}" if isinstance(value, int) and zeros > 3 else text


def encode_spec(spec: Spec, first: Spec | None = None) -> str:
    """A spec as the value of a query parameter, as differences from the defaults, or from the first spec of a link."""
    return "~".join(f"{k}.{v}" for k, v in differences(spec, first).items())


def differences(spec: Spec, first: Spec | None = None) -> Pairs:
    """What a link must say of a spec, beside what the first spec of the link and the table of defaults say."""
    whole, table = spec_pairs(spec), TABLES[NEWEST]
    known = inherited(spec_pairs(first), whole) if first else {}
    if spec.kind != FIRST:
        expected = known if first else BEFORE
        return {k: v for k, v in whole.items() if expected.get(k) != v} or {"priv": whole["priv"]}
    expected = BEFORE | table.completed(known | {key: whole[key] for key in OWNERS})
    expected |= {key: known.get(key, table.always[key]) for key in OWNERS}
    said = {k: v for k, v in whole.items() if expected.get(k) != v}
    return said or {"priv": whole["priv"]}  # a parameter without a value is lost on many ways that links take


def decode_spec(
    text: str, defaults: Defaults, files: Mapping[str, str] | None = None, kind: str = FIRST
) -> tuple[Any, list[str]]:
    """The spec that `encode_spec` wrote, None where there is none; what is wrong takes its default, and is said.

    Args:
        text: The value of the query parameter.
        defaults: As `defaults_of` gives them.
        files: Texts too long for a link that are known here, by their digest.
        kind: Of the spec.

    Returns:
        The spec, and a sentence for each thing that was wrong.
    """
    pairs, wrong = split(text, kind=kind)
    completed = defaults.completed(pairs) if kind == FIRST else pairs
    spec, more = spec_from(completed, files or {}, kind, usual=defaults.by_privacy)
    return spec, wrong + more


def decode_curves(
    given: Sequence[str], defaults: Defaults, own: Collection[str], files: Mapping[str, str] | None = None
) -> Iterator[tuple[Any, Pairs, list[str]]]:
    """Reads the curves of a comparison of online runs, each written as differences from the first. Yields of each its
    spec (None where there is none), its own pairs, and a sentence for each thing that was wrong.

    own: keys of what a curve has beside its spec, and never has from the first. For the rest see `decode_spec`.
    """
    first: Pairs = {}
    for index, text in enumerate(given):
        pairs, wrong = split(text, own)
        whole = {k: v for k, v in pairs.items() if k not in own}
        told = defaults.completed(inherited(first, whole) | whole)
        spec, more = spec_from(told, files or {}, usual=defaults.by_privacy)
        if index == 0:
            first = (
                whole if spec is None else spec_pairs(spec)
            )  # what was wrong in the first is said only once
        yield spec, {k: v for k, v in pairs.items() if k in own}, wrong + more


def spec_pairs(spec: Spec) -> Pairs:
    """Everything a spec is, as text by query key; parameters under `key.name`; values that are None left out, and
    fields without a key, which a link may not carry."""
    pairs: Pairs = {}
    values = spec.to_dict()
    for name, field in KINDS[spec.kind].fields.items():
        key = field.query
        value = values.get(name, BEFORE.get(key))
        if not key:
            continue
        if isinstance(value, Mapping):
            pairs |= {f"{key}.{k}": _text(v) for k, v in value.items() if v is not None}
        elif value is not None:
            pairs[key] = _text(value)
    return pairs


def _text(value: Any) -> str:
    """A value as it stands in a link. The separator ~ may be part of a text, and is escaped with %."""
    text = written(value)
    return FILE + text_digest(text) if len(text) > MAX_MODEL else text.replace("%", "%25").replace("~", "%7E")


def _whole(text: str, files: Mapping[str, str]) -> str | None:
    """The value that `_text` wrote; None for a file that is not known here."""
    if text.startswith(FILE):
        return files.get(text.removeprefix(FILE))
    return text.replace("%7E", "~").replace("%25", "%")


def split(text: str, more: Iterable[str] = (), kind: str = FIRST) -> tuple[Pairs, list[str]]:
    """The pairs of a text, and a sentence for each part that is none. more: keys allowed beside those of the kind."""
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
    """What a later spec has from the first one: not the parameters of another environment or learner, nor whose reports
    count where the first has no noise."""
    dropped: set[str] = set() if "mech" in first else {"rep"}
    for owner, params in OWNERS.items():
        if params and owner in given and given[owner] != first.get(owner):
            dropped |= {key for key in first if key.startswith(f"{params}.")}
    return {k: v for k, v in first.items() if k not in dropped}


def spec_from(
    pairs: Mapping[str, str],
    files: Mapping[str, str],
    kind: str = FIRST,
    beside: Mapping[str, Any] = MappingProxyType({}),
    usual: Mapping[str, Pairs] = MappingProxyType({}),
) -> tuple[Any, list[str]]:
    """The spec that `pairs` describe, each value that is wrong replaced by its default, and a sentence for each.

    usual: what takes the place of a mechanism that does not go with a privacy model, by model.
    beside: fields that no link carries. One whose environment is in a file that is not known here is left out: another
    one would be a lie.
    """
    problems: list[str] = []
    values: dict[str, Any] = dict(beside)
    fields = KINDS[kind].fields
    pairs = LEFT_OUT.get(kind, {}) | dict(pairs)
    fields_by_key = {field.query: name for name, field in fields.items()}
    for name, field in fields.items():
        if field.kind == "params":
            given = {k.partition(".")[2]: v for k, v in pairs.items() if k.startswith(f"{field.query}.")}
            values[name] = {k: _whole(v, files) for k, v in given.items()}
            if None in values[name].values():
                return None, [
                    "Its environment is in a file that did not fit into the link: upload that file."
                ]
        elif field.query in pairs:
            text = pairs[field.query]
            values[name] = _whole(text, files) if field.kind == "text" else text
            if values[name] is None:
                return None, [f"{name}: this did not fit into the link."]
    for _ in range(len(pairs) + 1):  # each round leaves out the one value that is wrong, so this ends
        try:
            return KINDS[kind].from_dict(_parsed(values, fields)), problems
        except SpecError as error:
            wrong = values.get("mechanism")
            if not _leave_out(values, error.field):
                return None, [*problems, f"it was left out; {error}"]
            problems.append(str(error))
            if error.field == "mechanism":
                values.pop("reports", None)  # whose reports count was said of that mechanism
                instead = usual.get(str(values.get("privacy")), {})
                values |= {fields_by_key[key]: text for key, text in instead.items() if text != wrong}
            values = {fields_by_key[key]: text for key, text in LEFT_OUT.get(kind, {}).items()} | values
    return None, problems


def _parsed(values: Mapping[str, Any], fields: Mapping[str, Field]) -> dict[str, Any]:
    return {k: fields[k].parse(v) if isinstance(v, str) else v for k, v in values.items()}


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


def checked(field: Field, text: str | None, otherwise: Any, problems: list[str]) -> Any:
    """`text` read by `field`; `otherwise` when it is missing, or wrong, which is said."""
    if text is None:
        return otherwise
    try:
        return field.parse(text)
    except SpecError as error:
        problems.append(str(error))
        return otherwise


_PARAMS = frozenset(f.query for f in FIELDS.values() if f.kind == "params")
# Fields whose value decides which defaults others have, with the key of the parameters that are theirs.
OWNERS = {"env": "envp", "alg": "algp", "priv": ""}
# Of fields that came after the tables: what was so before, which a link does not say.
BEFORE = {FIELDS[name].query: str(value or "none") for name, value in LATER.items()}


def chosen(field: str, text: str | None, among: Collection[str], problems: list[str]) -> str:
    """`text` when it is one of `among`; "" when it is missing, or is none of them, which is said."""
    if not text or text in among:
        return text or ""
    problems.append(f"{field}: {shown(text)} is not allowed; give one of {', '.join(among)}.")
    return ""


def place(field: Field, text: str | None, most: int, problems: list[str]) -> int:
    """The place that `text` names, which counts from 1 to `most`, from 0; the first when it is missing or wrong."""
    return int(checked(replace(field, high=most), text, field.default, problems)) - 1
