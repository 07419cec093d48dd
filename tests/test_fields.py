"""Fields: what is allowed comes through in one type, what is not is refused in one sentence."""

from __future__ import annotations

import json
import pickle
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dprl.fields import Field, SpecError, decode, parse_params, read_json, read_text, shown
from dprl.simulation import RunSpec, spec_from_json
from tests.problems import refused

INT = Field("K", "int", 5, "users", low=1, high=10**15)
FLOAT = Field("eps", "float", 1.0, "budget", low=0.0, high=10.0, low_open=True)
PARAMS = Field("params", "params", {}, "parameters")
OPTIONAL = Field("delta", "float", None, "budget", low=0.0, high=1.0, optional=True)
WORDS = Field("name", "text", "x", "any words"), Field("model", "choice", "a", "which", choices=("a", "b"))
ALL = (INT, FLOAT, *WORDS, PARAMS, OPTIONAL)


@pytest.mark.parametrize(
    ("read", "given", "meant"),
    [
        *((INT.check, value, 7) for value in (7, 7.0, np.int64(7), np.float64(7), Fraction(7), Decimal(7))),
        *((INT.parse, text, 10**9) for text in ("1e9", "1000000000", " 1E9 ", "1e+9", "1000000000.0")),
        *((INT.check, end, end) for end in (1, 10**15)),
        (FLOAT.check, 10, 10.0),
    ],
)
def test_numbers_of_any_type_or_as_people_write_them_are_of_one_type(
    read: Any, given: Any, meant: Any
) -> None:
    found = read(given)
    assert (found, type(found)) == (meant, type(meant))


def test_minus_zero_is_zero() -> None:
    """Otherwise two specs that mean the same would have two keys."""
    assert str(OPTIONAL.check(-0.0)) == "0.0"
    assert str(OPTIONAL.parse("-0")) == "0.0"


@pytest.mark.parametrize(
    ("field", "value"),
    [*((INT, value) for value in (7.5, 1e-9, 0.999999, 0, 10**15 + 1)), (FLOAT, 0.0), (FLOAT, 10.000001)],
)
def test_fractions_are_not_ints_and_ranges_are_inclusive_unless_open(field: Field, value: float) -> None:
    with refused(f"{field.name}: "):
        field.check(value)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.sampled_from(ALL), st.text() | st.from_regex(r"[-+0-9.eE_x]{1,12}"))
def test_any_text_is_parsed_or_refused_in_one_sentence(field: Field, text: str) -> None:
    try:
        value = field.parse(text)
    except SpecError:
        with refused(f"{field.name}: "):
            field.parse(text)
    else:
        assert field is PARAMS or field.check(value) == value or value is None


def test_optional_fields_may_be_left_open() -> None:
    assert OPTIONAL.check(None) is None
    assert OPTIONAL.parse("") is None
    assert OPTIONAL.parse("none") is None
    with pytest.raises(SpecError):
        FLOAT.parse("")


def test_parse_params() -> None:
    assert parse_params("p", " S = 6, H=20 ,,variant=osband") == {"S": "6", "H": "20", "variant": "osband"}
    assert parse_params("p", "") == {}
    assert parse_params("p", "S=6,A=2", "H=20") == {"S": "6", "A": "2", "H": "20"}
    assert parse_params("p", 'model = {"a=": [1, 2]} ', "H=4") == {"model": '{"a=": [1, 2]}', "H": "4"}
    for text in ('H=4,model={"a=": [1, 2]}', 'model={"a=": [1, 2]} , H=4', ',H=4, model = {"a=": [1, 2]},'):
        assert parse_params("p", text) == {"model": '{"a=": [1, 2]}', "H": "4"}
    assert parse_params("p", "a=[1, 2],b=[3, [4, 5]],c=6") == {"a": "[1, 2]", "b": "[3, [4, 5]]", "c": "6"}
    assert parse_params("p", "a={1,b=2") == {"a": "{1,b=2"}  # broken JSON is for whoever reads `a` to refuse
    assert parse_params("p", 'a={"b": 1}c,d=2') == {"a": '{"b": 1}c', "d": "2"}
    with pytest.raises(SpecError):
        parse_params("p", "model={1,2}", "model={3,4}")
    for text in ("S", "=6", "S=6,S=7", "S=6,H", "\n=\x00", "S:6"):
        with refused("p: "):
            parse_params("p", text)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text() | st.integers() | st.floats() | st.lists(st.text()) | st.binary())
def test_what_is_repeated_in_a_message_is_short_and_on_one_line(value: object) -> None:
    assert len(shown(value)) <= 40
    assert shown(value).isprintable()


def test_an_error_comes_out_of_a_process_of_workers_as_it_went_in() -> None:
    """Pickled by its message alone, it was another error there."""
    error = SpecError("episodes", "0 is not allowed; give a whole number from 1.")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (SpecError, str(error))
    assert (again.field, again.sentence) == (error.field, error.sentence)


def test_json_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """As Notepad and PowerShell write UTF-8."""
    text = '{"name": "Ä"}'
    (tmp_path / "a.json").write_bytes(text.encode("utf-8-sig"))
    assert read_text("spec", tmp_path / "a.json", "a file") == text
    for same in (text, "\ufeff" + text, text.encode(), text.encode("utf-8-sig")):
        assert read_json("spec", same) == {"name": "Ä"}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_another_encoding_is_named(encoding: str) -> None:
    named = encoding[:6].upper() if encoding.startswith("utf") else "not text in UTF-8"
    with pytest.raises(SpecError, match=rf"^spec: this is .*{named}.*; save it as UTF-8\.$"):
        decode("spec", '{"name": "Ä"}'.encode(encoding))


@pytest.mark.parametrize("given", [{"epsilon": 1.0}, None, 3, RunSpec()])
def test_what_is_no_text_is_no_json(given: Any) -> None:
    with pytest.raises(SpecError, match=r"^spec: .* is not JSON text; give an object .* as text\.$"):
        spec_from_json(given)
    assert spec_from_json(json.dumps({"epsilon": 2.0})) == RunSpec(epsilon=2.0)


@pytest.mark.parametrize("path", ["nowhere", "a\0b", "."])
def test_a_file_that_cannot_be_read_is_one_sentence(path: str) -> None:
    with pytest.raises(SpecError, match=r"^spec: .* cannot be read; give a file\.$"):
        read_text("spec", path, "a file")
