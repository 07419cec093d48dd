"""The example in the package's own words."""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import typing
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dprl
from dprl.names import Given
from dprl.runs.store import opened
from dprl.simulation.kinds import KINDS
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
    for given, named in ((("chain", "pucb"), {}), (("chain",), {"environment": "chain"})):
        with pytest.raises(
            dprl.SpecError, match=r"^environment: only this field may be given without a name"
        ):
            LOOSE.RunSpec(*given, **named)


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
