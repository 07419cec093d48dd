"""Describe the program's inputs, and check their values in the same way wherever they come from."""

from __future__ import annotations

import codecs
import difflib
import functools
import inspect
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from dprl.messages import filled, messages

T = TypeVar("T")
Kind = Literal["int", "float", "choice", "text", "params"]

SAID = messages("refusals")["field"]
SIZES = ("S", "A", "H", "d")  # parameters of environments that may be mistaken for fields of a spec
SPEC = "an object with fields such as environment"
_BOM = "\ufeff"
_JSON = re.compile(r"[^=,]*=\s*(?=[{\[])")  # name= before an object or a list


class SpecError(ValueError):
    """The error for an invalid input. `field` names the input; `sentence` gives the wrong and the allowed values."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.sentence = message

    def __reduce__(self) -> tuple[type[SpecError], tuple[str, str]]:
        """Pickle the field and the sentence instead of the message, so that a worker process can send the error."""
        return type(self), (self.field, self.sentence)


def reject(field: str, template: str, **given: object) -> SpecError:
    """Return the error for a bad input, with a message template and its fields."""
    return SpecError(field, filled(template, **given))


def not_allowed(field: str, value: object, allowed: str) -> SpecError:
    """Return the error for a value that is not allowed. allowed: the allowed values, in words."""
    return reject(field, SAID["not_allowed"], value=shown(value), allowed=allowed)


def unknown(field: str, value: object, known: Iterable[str]) -> SpecError:
    """Return the error for a value that is not one of the known words, which suggests a similar word."""
    near = similar(value, known)
    return reject(field, SAID["unknown"], value=shown(value), near=near, known=", ".join(known))


def shown(value: object) -> str:
    """Format a value for a message: short, on one line, without control characters."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:  # Python refuses to print an int of more than 4,300 digits
        text = "a number with thousands of digits"
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= 40 else text[:37] + "..."


class Frozen(dict[str, T]):
    """A read-only mapping that prints, compares and converts to JSON like a dict."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError(SAID["read_only"])

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[Frozen[T]], tuple[dict[str, T]]]:
        """Pickle and copy the mapping through its constructor, because its items cannot be set one by one."""
        return type(self), (dict(self),)


def check_type(name: str, value: object, kinds: Any, allowed: str) -> None:
    """Raise SpecError unless a value has one of these types. `allowed` describes the allowed values."""
    if not isinstance(value, kinds):
        raise not_allowed(name, value, allowed)


def check_flags(**flags: object) -> None:
    """Raise SpecError for the first value that is neither True nor False."""
    for name, value in flags.items():
        check_type(name, value, bool, "True or False")


def similar(word: object, known: Iterable[str]) -> str:
    """Return " (did you mean ...?)" with the known word most similar to a wrong one, or "" if none is similar."""
    if not isinstance(word, str) or len(word) < 2:
        return ""
    words = list(known)
    found = [one for one in words if one.startswith(word)] or difflib.get_close_matches(word, words, 1)
    return f" (did you mean {found[0]}?)" if found else ""


def either(words: Sequence[str]) -> str:
    """List alternatives in words: `a`, `a or b`, `a, b or c`."""
    some, last = str(SAID["comma"]).join(words[:-1]), words[-1]
    return filled(SAID["either"], some=some, last=last) if some else last


def number(value: float) -> str:
    """Write a number briefly: 20, 0.05, 1e+09."""
    if float(value).is_integer() and abs(value) < 1e7:
        return f"{int(value):,}".replace(",", "")
    return f"{value:g}"


@dataclass(frozen=True)
class Field:
    """An input of a spec, an environment or an algorithm."""

    name: str  # its key in JSON and in Python
    kind: Kind
    default: Any  # its value if none is given
    help: str
    # low, high: the inclusive range of a number (`low_open`: low itself is excluded)
    low: float | None = None
    high: float | None = None
    low_open: bool = False
    choices: tuple[str, ...] = ()  # the allowed words of a choice
    optional: bool = False  # whether None is allowed, for "chosen for you" or "not used"
    query: str = ""  # its short key in links
    flag: str = ""  # its command-line option
    # for an algorithm's parameter: the runs that use it (all, or those with bonus `anytime` or `not anytime`)
    when: str = ""
    # for a text of rows joined by /, edited with one row per line: the meaning of the capital letters
    rows: str = ""
    words: tuple[str, ...] = ()  # texts allowed instead of a number, which then follows from other fields

    def used(self, bonus: str) -> bool:
        """Return whether an algorithm uses this parameter when it runs with the given bonus."""
        return self.when != "not anytime" or bonus != "anytime"

    @property
    def allowed(self) -> str:
        """Describe the allowed values."""
        if self.kind == "choice":
            return filled(SAID["choice"], words=str(SAID["comma"]).join(self.choices))
        if self.kind == "params":
            return str(SAID["params"])
        if self.kind == "text":
            return self.help
        what = "whole" if self.kind == "int" else "number"
        if self.low is None or self.high is None:
            return str(SAID[what])
        ends = {"low": number(self.low), "high": number(self.high)}
        said = filled(SAID[f"{what}_{'above' if self.low_open else 'from'}"], **ends)
        for word in self.words:
            said = filled(SAID["either"], some=said, last=word)
        return said

    @property
    def way(self) -> str:
        """Describe the field, its allowed values, and its default."""
        given: dict[str, object] = {"help": self.help}
        if self.kind != "text":
            given["allowed"] = self.allowed
        if self.kind != "params" and self.default not in (None, ""):
            given["default"] = self.default
        return filled(SAID["_".join(["way", *list(given)[1:]])], **given)

    def refuse(self, value: object) -> SpecError:
        """Return the error for a value that is not allowed."""
        wrong = f"{shown(value) or 'an empty value'} is not allowed{similar(value, self.choices)}"
        return SpecError(self.name, f"{wrong}; give {self.allowed}.")

    def check(self, value: Any) -> Any:
        """Convert a value to the field's type, such as 1.0 to 1. Raises SpecError if it is not allowed."""
        if (value is None and self.optional) or (isinstance(value, str) and value in self.words):
            return value
        if self.kind in ("text", "choice"):
            if not isinstance(value, str) or (self.kind == "choice" and value not in self.choices):
                raise self.refuse(value)
            return value
        if self.kind == "params":
            if not isinstance(value, Mapping) or not all(isinstance(k, str) for k in value):
                raise self.refuse(value)
            return Frozen(value)
        if isinstance(value, str):
            raise self.refuse(repr(value))  # the quotes show that a number was given as text
        counts = hasattr(value, "__float__") and not isinstance(value, bool)
        try:
            as_float = float(value) if counts else math.nan
        except (OverflowError, ValueError, TypeError):
            raise self.refuse(value) from None
        if not math.isfinite(as_float) or (self.kind == "int" and not as_float.is_integer()):
            raise self.refuse(value)
        result = int(value) if self.kind == "int" else as_float + 0.0  # + 0.0 turns -0.0 into 0.0
        below = self.low is not None and (result <= self.low if self.low_open else result < self.low)
        if below or (self.high is not None and result > self.high):
            raise self.refuse(value)
        return result

    def parse(self, text: str) -> Any:
        """Parse a value from a link or the command line. Integers may be written as 1e9."""
        text = text.strip()
        if self.optional and text in ("", "none") and self.kind != "choice":
            return None
        if (word := text.replace(" ", "")) in self.words:
            return word
        if self.kind == "params":
            return parse_params(self.name, text)
        if self.kind in ("text", "choice"):
            return self.check(text)
        if len(text) > 40:
            raise self.refuse(text)
        try:
            whole = re.fullmatch(r"[+-]?[\d_]+", text)
            return self.check(int(text) if whole else float(text))
        except ValueError:
            raise self.refuse(text) from None

    def add_to(self, parser: Any, help: str) -> None:
        """Add the field's flag to an argparse parser. The flag for parameters may be repeated."""
        many = self.kind == "params"
        action, form = ("append", "NAME=VALUE") if many else ("store", self.kind.upper())
        text = help.replace("%", "%%")
        parser.add_argument(self.flag, dest=self.name, action=action, metavar=form, help=text)


_READ = {"int": "int", "float": "float", "params": "Mapping"}  # the type that signatures show for each kind


def check_names(table: Iterable[str], given: Iterable[object]) -> None:
    """Raise SpecError for the first name that is not one of the fields."""
    known = tuple(table)
    for name in given:
        if name not in known:
            wrong = f"{shown(name)} is not a field{similar(name, known)}"
            if "environment_params" in known and name in SIZES:
                wrong += f"; give environment_params={{'{name}': ...}}"
            raise SpecError("spec", f"{wrong}; the fields are {', '.join(known)}.")


def documented(table: Mapping[str, Field]) -> Callable[[type[T]], type[T]]:
    """Describe each field in a spec class's docstring, and make its constructor reject wrong or missing names."""

    def with_fields(spec: type[T]) -> type[T]:
        made: Any = spec.__init__
        first, plain = next(iter(table)), inspect.signature(made).parameters

        @functools.wraps(made)
        def init(self: T, *given: Any, **named: Any) -> None:
            check_names(table, named)
            if len(given) > 1 or (given and first in named):
                raise SpecError(first, "only this field may be given without a name, and only once.")
            made(self, *given, **named)

        shown_as = [
            plain[name].replace(annotation=_READ.get(field.kind, "str") + " | None" * field.optional)
            for name, field in table.items()
        ]
        init.__signature__ = inspect.Signature([plain["self"], *shown_as])  # type: ignore[attr-defined]
        spec.__init__ = init  # type: ignore[method-assign, assignment]
        text, _, raises = inspect.cleandoc(spec.__doc__ or "").partition("\nRaises:")
        told = "\n".join([text.rstrip(), "", "Attributes:", *map(_attribute, table.values())])
        spec.__doc__ = told + (f"\n\nRaises:{raises}" if raises else "")
        return spec

    return with_fields


def _attribute(field: Field) -> str:
    """Return the text that describes a field in a spec's docstring."""
    said = f"{field.name}: {field.help}."
    if field.kind == "params":
        said += " A dict."
    elif field.kind != "text":
        said += f" Allowed: {field.allowed}."
    if field.kind != "params" and field.default not in (None, ""):
        said += f" Default: {field.default}."
    return textwrap.fill(said, 100, initial_indent="    ", subsequent_indent=" " * 8, break_on_hyphens=False)


def decode(name: str, content: bytes) -> str:
    """Decode a UTF-8 file without its byte order mark. Raises SpecError if it is not UTF-8."""
    if content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise SpecError(name, "this is text in UTF-32; save it as UTF-8.")
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in content[:2]:
        raise SpecError(name, "this is text in UTF-16; save it as UTF-8.")
    try:
        return content.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError:
        raise SpecError(name, "this is not text in UTF-8; save it as UTF-8.") from None


def read_text(name: str, path: str | Path, allowed: str) -> str:
    """Read a UTF-8 text file. Raises SpecError, whose message describes the `allowed` input."""
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError):  # ValueError: the path contains a null byte
        raise SpecError(name, f"{shown(str(path))} cannot be read; give {allowed}.") from None
    return decode(name, content)


def read_json(name: str, text: str | bytes, allowed: str = SPEC) -> Any:
    """Parse JSON from text or bytes. Raises SpecError, whose message describes the `allowed` input."""
    if not isinstance(text, str | bytes):
        raise SpecError(name, f"{shown(text)} is not JSON text; give {allowed} as text.")
    plain = decode(name, text) if isinstance(text, bytes) else text.removeprefix(_BOM)
    try:
        return json.loads(plain)
    except (ValueError, RecursionError):
        raise SpecError(name, f"this is not JSON; give {allowed}.") from None


def parse_params(name: str, *texts: str) -> dict[str, str]:
    """Parse `S=6,model={...},H=20` into {"S": "6", "model": "{...}", "H": "20"}. Values may be JSON with commas.

    Raises SpecError if a part has no `=` or a name occurs twice.
    """
    params: dict[str, str] = {}
    for part in filter(None, (p.strip() for text in texts for p in _parts(text))):
        key, sign, value = (x.strip() for x in part.partition("="))
        if not sign or not key or key in params:
            raise SpecError(name, f"{shown(part)} is not allowed; give name=value pairs, each name once.")
        params[key] = value
    return params


def _parts(text: str) -> Iterator[str]:
    """Split a text at its commas, except at those inside a JSON value."""
    while text:
        end = 0
        if begun := _JSON.match(text):
            try:
                _, end = json.JSONDecoder().raw_decode(text, begun.end())
            except (ValueError, RecursionError):
                end = len(text)  # broken JSON is reported when the value is read
        rest, _, after = text[end:].partition(",")
        yield text[:end] + rest
        text = after


def check_params(name: str, owner: str, fields: Iterable[Field], given: Mapping[str, Any]) -> dict[str, Any]:
    """Check parameters, and return them in the order of `fields` with the defaults filled in.

    Text values are parsed: S="6" from a link equals S=6 from JSON. Raises SpecError, naming the parameter.
    """
    table = {f.name: f for f in fields}
    for key in given:
        if key not in table:
            near, known = similar(key, table), ", ".join(table) or "none"
            raise reject(name, SAID["parameter"], owner=owner, key=shown(key), near=near, known=known)
    result = {}
    for key, field in table.items():
        value = given.get(key)
        value = field.default if value is None else value
        numeric = field.kind in ("int", "float")
        try:
            result[key] = field.parse(value) if isinstance(value, str) and numeric else field.check(value)
        except SpecError:
            raise not_allowed(f"{name}.{key}", value, field.allowed) from None
    return result
