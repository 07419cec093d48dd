"""The public API: examples are true, fields are of one type, and whatever is given gets an answer in a sentence."""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import json
import pickle
import typing
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dprl
from dprl.fields import Field, SpecError, decode, parse_params, read_json, read_text, shown
from dprl.names import Given
from dprl.research.background import RunFailed
from dprl.runs.database import StoreError
from dprl.runs.store import Store, opened
from dprl.simulation import RunSpec, spec_from_json
from dprl.simulation.kinds import KINDS
from dprl.testing import CheckFailed
from tests.problems import refused


def test_the_example_is_true() -> None:
    result = doctest.testmod(dprl)
    assert result.attempted > 0
    assert result.failed == 0


FUNCTIONS = [
    getattr(module, name)
    for module in (dprl, dprl.privacy, dprl.testing)
    for name in module.__all__
    if inspect.isroutine(getattr(module, name)) or name == "Sweep"
]


def example_of(function: Any) -> doctest.DocTest:
    text = inspect.getdoc(function) or ""
    return doctest.DocTestParser().get_doctest(text, {"dprl": dprl}, function.__name__, None, None)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One store, whose workers start once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPRL_HOME", str(tmp_path_factory.mktemp("home")))
        yield
        opened().close()


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.usefixtures("home")
def test_every_public_function_has_an_example_that_runs(function: Any) -> None:
    example = example_of(function)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize("spec", [dprl.RunSpec, dprl.OfflineSpec, dprl.UploadSpec])
def test_help_says_what_each_field_is_and_may_be(spec: Any) -> None:
    attributes, _, raises = (
        " ".join((inspect.getdoc(spec) or "").split()).partition("Attributes:")[2].partition("Raises:")
    )
    table = KINDS[spec.kind].fields
    assert [f.name for f in dataclasses.fields(spec)] == list(table)
    for field in table.values():
        assert f" {field.name}: {' '.join(field.help.split())}" in attributes
        if field.kind in ("int", "float", "choice"):
            assert f"Allowed: {field.allowed}." in attributes, field.name
        if field.kind != "params" and field.default not in (None, ""):
            assert f" Default: {field.default}." in attributes, field.name
    assert raises.startswith(" SpecError:")


def test_a_checker_accepts_what_a_choice_may_be() -> None:
    for spec in (dprl.RunSpec, dprl.OfflineSpec):
        hints = typing.get_type_hints(spec)
        for field in KINDS[spec.kind].fields.values():
            if field.kind == "choice":
                hint = hints[field.name]  # of one that is read as something else, the second of its types
                hint = typing.get_args(hint)[1] if typing.get_origin(hint) is Given else hint
                given = typing.get_args(hint) or (hint,)
                assert str in given, field.name
                assert (type(None) in given) == field.optional, field.name


LOOSE: Any = dprl  # as a script without types sees it


def test_the_package_shows_its_public_names_alone() -> None:
    assert dir(dprl) == sorted(dprl.__all__)
    assert {"privacy", "testing"} < set(dprl.__all__)
    assert len(dprl.__all__) < 30
    assert all(getattr(dprl, name) is not None for name in dprl.__all__)
    with pytest.raises(AttributeError, match="dir"):
        dprl.no_such_name  # noqa: B018


def test_the_environment_alone_needs_no_name() -> None:
    model = dprl.ENVIRONMENTS["riverswim"].make(S=3, H=2)
    assert dprl.RunSpec("chain") == dprl.RunSpec(environment="chain")
    assert dprl.RunSpec(model) == dprl.RunSpec(environment=model)
    assert dprl.OfflineSpec("chain").environment == "chain"
    for places, named in ((("chain", "pucb"), {}), (("chain",), {"environment": "chain"})):
        with pytest.raises(
            dprl.SpecError, match=r"^environment: only this field may be given without a name"
        ):
            LOOSE.RunSpec(*places, **named)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: LOOSE.RunSpec(eps=1), "spec: eps is not a field (did you mean epsilon?); the fields are"),
        (lambda: LOOSE.RunSpec(algorithm="dp-ucbv"), "algorithm: dp-ucbv is not allowed (did you mean dp-ucbvi?);"),
        (lambda: LOOSE.RunSpec("chain", environment_params={"length": 3}), "environment_params: chain has no"),
        (lambda: LOOSE.ALGORITHMS["ucbv"], "key: ucbv is unknown (did you mean ucbvi?); give one of"),
        (lambda: LOOSE.Sweep({}, {"epsilo": [1]}), "axis: epsilo is not allowed (did you mean epsilon?); give one of"),
        (lambda: LOOSE.Sweep({}, {"epsilon": 1}), "axis: epsilon is 1; give a list of values"),
        (lambda: LOOSE.compare([LOOSE.RunSpec()]), "traces: RunSpec(environment='riverswim', envi... is not allowed;"),
        (lambda: LOOSE.following(np.zeros((2, 2))), "policy: this is not allowed; give the number of an action"),
        (lambda: LOOSE.spec_from_json({}), "spec: {} is not JSON text"),
        (lambda: LOOSE.RunSpec({"p": [], "R": []}), "environment_params.model: the key p is unknown"),
        (lambda: LOOSE.RunSpec({"P": [], "R": []}), "environment_params.model: d1 must be given; give an object"),
    ],
)  # fmt: skip
def test_a_wrong_call_gets_a_sentence_that_says_what_was_meant(call: Any, sentence: str) -> None:
    with refused(sentence):
        call()


def test_registries_offer_no_way_to_empty_them() -> None:
    for registry in (dprl.ALGORITHMS, dprl.OFFLINE, dprl.ENVIRONMENTS, dprl.MECHANISMS):
        assert not {"clear", "pop", "popitem", "setdefault", "update"} & set(dir(registry))
        assert list(registry) == list(registry.keys()) == list(dict(registry))
        assert registry.get("no such key") is None
        assert "no such key" not in registry


FIELDS: Any = {"environment_params": {"S": 3, "H": 3}, "episodes": 1000, "seeds": 1}


def test_a_dict_of_fields_is_run_as_the_spec_that_it_is_of() -> None:
    given, spec = dprl.run(FIELDS), dprl.RunSpec(**FIELDS)
    assert given.spec == spec
    assert np.array_equal(given.regret, dprl.run(spec).regret)
    assert dprl.estimate(FIELDS) == dprl.estimate(spec)
    assert dprl.Sweep(FIELDS, {"epsilon": [1, 2]}) == dprl.Sweep(spec, {"epsilon": [1, 2]})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"episode": 10}, "spec: episode is not a field (did you mean episodes?); the fields are"),
        ({"kind": "offline", "n": 0}, "n: 0 is not allowed; give a whole number"),
        ({"kind": "nothing"}, "kind: nothing is not allowed; give one of online"),
        ("riverswim", "spec: riverswim is not allowed; give a RunSpec, or a dict such as"),
        (None, "spec: None is not allowed; give a RunSpec"),
    ],
)
def test_what_is_no_spec_is_refused_in_a_sentence(given: Any, sentence: str) -> None:
    asked = (dprl.run, dprl.estimate, lambda spec: dprl.Sweep(spec, {"epsilon": [1]}))
    for ask in asked:
        with refused(sentence):
            ask(given)


# Fields: what is allowed comes through in one type, what is not is refused in one sentence.

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


# Odd arguments, of every public callable.

SPEC = dprl.RunSpec("riverswim", environment_params={"S": 3, "H": 2}, episodes=10, seeds=2)
DATA = dprl.OfflineSpec("riverswim", environment_params={"S": 3, "H": 2}, n=10, seeds=2)
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 2.5, float("nan"), 10**400, "", "x", "{}", "[1]", b"x", [], [1], [None], (), {},
    {"x": 1}, {1: 2}, object(), np.zeros(3), np.full((2, 2), 0.5), lambda *_: 0, SPEC, dprl.RunSpec, Path("nothing"),
)  # fmt: skip
# Not for users to call: results are made by runs, and the store names its units.
MADE = {"SPEC.seed_key", "DATA.seed_key", "SeedTrace.restored", "SeedTrace", "Guarantee.from_dict"}
SENTENCE = dprl.SpecError, CheckFailed, RunFailed, StoreError
HIDDEN = {"run_async", "privacy", "testing"}  # a coroutine, and modules


@cache
def trace() -> Any:
    return dprl.run(SPEC)


@cache
def swept() -> Any:
    sweep = dprl.Sweep(SPEC, {"epsilon": [0.5, 1]})
    curves = {spec: dprl.metrics.curves.RunCurves(np.array([10]), np.ones((2, 1))) for spec in sweep.specs}
    return dprl.SweepResult(sweep, curves)


def callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function, class, constructor and method, by name."""
    objects: dict[str, Any] = {"SPEC": SPEC, "DATA": DATA, "trace": trace(), "swept": swept()}
    objects |= {"compared": dprl.compare([trace()]), "Sweep": swept().sweep, "ALGORITHMS": dprl.ALGORITHMS}
    objects |= {"model": dprl.ENVIRONMENTS["riverswim"].make(S=3, H=2)}
    modules = {"dprl": dprl, "privacy": dprl.privacy, "testing": dprl.testing}
    for module, holder in modules.items():
        for name in set(holder.__all__) - HIDDEN - MADE:
            value = getattr(holder, name)
            if callable(value) and not (isinstance(value, type) and issubclass(value, Exception)):
                objects[f"{module}.{name}"] = value
                yield f"{module}.{name}", value
    for name, value in objects.items():
        for method in dir(value):
            if method.startswith("_") or f"{name.partition('.')[2] or name}.{method}" in MADE:
                continue
            found = getattr(value, method)
            mine = isinstance(inspect.getattr_static(value, method), classmethod)
            if callable(found) and (mine or not isinstance(value, type)):
                yield f"{name}.{method}", found


CALLS = dict(callables())


@pytest.mark.parametrize("name", sorted(CALLS))
def test_odd_arguments_get_a_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPRL_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Store, "begin", Mock(side_effect=StoreError("Nothing is computed here.")))
    call = CALLS[name]
    try:
        parameters = list(inspect.signature(call).parameters.values())
    except ValueError:
        return  # a class of the standard library
    parameters = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    named = [p.name for p in parameters if p.default is not p.empty and p.kind != p.POSITIONAL_ONLY]
    needed = sum(p.default is p.empty and p.kind != p.KEYWORD_ONLY for p in parameters)
    for odd in ODD:
        given: list[Any] = [([odd] * needed, {})] * (needed > 0)
        given += [([SPEC] * needed, {one: odd}) for one in named]
        for arguments, keywords in given:
            try:
                call(*arguments, **keywords)
            except SENTENCE as error:
                assert str(error).rstrip().endswith((".", ")")), str(error)  # noqa: PT017
            except Exception as error:
                raise AssertionError(f"{name}(*{arguments!r}, **{keywords!r}): {error!r}") from error
