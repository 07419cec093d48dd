"""Links to "When is privacy free?": nothing is lost on the way, and nothing hostile gets in."""

from __future__ import annotations

from urllib.parse import parse_qs, quote

from dprl.links import encode_spec
from dprl.simulation import RunSpec
from pages.free import link as free_link
from pages.free.link import BASE, FIELDS, MODELS, FreeView, calculator, decode, encode, four_models
from pages.shared.visitor.address import query_of

SPEC = RunSpec(
    environment="gridworld", epsilon=0.3, delta=1e-8, bonus="paper", episodes=10**12, seeds=3, root_seed=7
)
VIEW = FreeView("theory", "on", 9, 4, 30, 2.5e12, 0.3, 36, 0.01, 0.1, 2.0, 0.1, 0.2, ("pucb", "jdp-lower"))
LINK = encode(SPEC, VIEW)


def query(base: RunSpec, view: free_link.FreeView) -> str:
    return query_of(free_link.encode(base, view))


def read(query: str) -> free_link.FreeLink:
    return decode(parse_qs(query, keep_blank_values=True))


def test_what_is_as_usual_is_not_written() -> None:
    """The calculator's problem is that of the run; the run's defaults are those of links."""
    assert encode(BASE, FreeView()) == [("v", "1"), ("b", "K.1e15~seeds.20")]
    spec = BASE.replace(environment_params={"S": 9})
    view = FreeView(show="growth", **(calculator(spec) | {"H": 7}))
    assert encode(spec, view)[1:] == [("b", "envp.S.9~K.1e15~seeds.20"), ("show", "growth"), ("H", "7")]
    every = {key for key, _ in encode(SPEC, VIEW)}
    assert every == {"v", "b", "bounds", *(f.query for f in FIELDS.values())} - {"A", "eps"}


def test_the_calculator_begins_with_the_problem_of_the_runs() -> None:
    spec = BASE.replace(environment_params={"S": 9, "H": 5}, episodes=10**12, epsilon=0.3)
    view = read(f"b={quote(encode_spec(spec))}").view
    assert (view.S, view.A, view.H, view.K, view.epsilon, view.d) == (9, 2, 5, 1e12, 0.3, 9 * 2)


def test_the_four_runs_differ_only_in_who_is_trusted() -> None:
    curves, refused = four_models(SPEC)
    assert refused == []
    assert [c.spec.privacy for c in curves] == list(MODELS)
    assert curves[0].spec == SPEC.baseline()
    for curve in curves[1:]:
        pure = curve.spec.mechanism == "unary"  # proves (epsilon, 0), whatever delta is given
        assert (curve.spec.epsilon, curve.spec.delta) == (0.3, 0.0 if pure else 1e-8)
        assert curve.spec.calibration == "calibrated"
        assert curve.spec.baseline() == curves[0].spec
    paper, refused = four_models(BASE.replace(calibration="paper"))
    assert refused == []
    assert {c.spec.calibration for c in paper[1:]} == {"paper"}


def test_a_model_that_cannot_be_had_is_said_and_the_others_are_compared() -> None:
    curves, refused = four_models(BASE.replace(mechanism="laplace-tree", delta=0.0))
    assert [c.spec.privacy for c in curves] == ["none", "central", "local"]
    assert len(refused) == 1
    assert refused[0].startswith("shuffle: delta: 0 does not go with")
