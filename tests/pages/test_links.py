"""Links say everything, and reading one never fails."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dprl.environments.custom import EXAMPLE
from dprl.links import MAX_CURVES
from dprl.privacy import PRIVATIZERS
from dprl.simulation import FIELDS, RunSpec
from dprl.simulation.pairs import calibrations_for
from pages.shared.examples import EXAMPLES
from pages.shared.visitor import links
from pages.shared.visitor.address import query_of
from pages.shared.visitor.links import MAX_NAME, Curve, Link, View, clean_name, fields_of
from tests.problems import few
from tests.simulation.test_spec import specs

SPEC = RunSpec()


def query(curves: Sequence[Curve], view: View) -> str:
    return query_of(links.encode(curves, view))


def read(query: str) -> Link:
    return links.decode(parse_qs(query, keep_blank_values=True))


@st.composite
def views(draw: st.DrawFn) -> View:
    values: dict[str, Any] = {}
    for name, field in fields_of(View).items():
        if field.kind == "choice":
            values[name] = draw(st.sampled_from(field.choices))
        else:
            assert field.low is not None
            assert field.high is not None
            values[name] = draw(st.integers(int(field.low), int(field.high)))
    return View(**values)


curves = st.builds(
    Curve, spec=specs(), name=st.text(max_size=2 * MAX_NAME).map(clean_name), hidden=st.booleans()
)


@settings(max_examples=few(300), deadline=None)
@given(st.lists(curves, min_size=1, max_size=MAX_CURVES), views())
def test_a_link_carries_the_whole_view(many: list[Curve], view: View) -> None:
    view = replace(view, curve=min(view.curve, len(many) - 1))
    assert read(query(many, view)) == Link(tuple(many), view, ())


def test_a_link_leaves_out_the_defaults_and_never_has_a_store_id() -> None:
    assert links.encode([Curve(SPEC)], View()) == [("v", "1"), ("c", "priv.central")]
    assert query([Curve(SPEC.replace(epsilon=0.3))], View(tab="counts")) == "v=1&c=eps.0.3&tab=counts"
    assert SPEC.seed_key(0) not in query([Curve(SPEC)], View())


def test_links_are_short_enough_to_be_read() -> None:
    """Of six curves at most 300 characters, also where they differ in more than a number."""
    six = [SPEC.baseline(), *(SPEC.replace(epsilon=e, episodes=10**7) for e in (10.0, 3.0, 1.0, 0.3, 0.1))]
    assert len(query([Curve(s) for s in six], View(measure="per-episode", y="linear"))) < 200
    kinds = [
        SPEC.replace(environment="clinic", privacy=p, mechanism=m, calibration=c, episodes=10**12)
        for p in ("central", "shuffle", "local")
        for m in PRIVATIZERS[p].mechanisms
        for c in calibrations_for("dp-ucbvi", m)
    ][:6]
    assert len(kinds) == 6
    assert len(query([Curve(s) for s in kinds], View(tab="policy", episode=5))) < 300
    for example in EXAMPLES:
        assert len(query(example.curves, links.AT_FIRST)) < 300


def test_texts_with_the_separator_survive() -> None:
    model = json.dumps(EXAMPLE | {"name": "100 % ~ %7E ~~"})
    for text in (json.dumps(EXAMPLE), model):
        spec = RunSpec(environment="custom", environment_params={"model": text})
        assert read(query([Curve(SPEC), Curve(spec)], View())) == Link((Curve(SPEC), Curve(spec)), View(), ())


def test_the_looked_at_curve_is_one_there_is() -> None:
    assert read("c=eps.1&i=7").view.curve == View().curve


@pytest.mark.parametrize(
    ("given_name", "kept"),
    [
        ("  two   words ", "two words"),
        ("a~b\x00\n<b>", "a-b <b>"),
        ("=1+1", "1+1"),
        ("@SUM(A1)", "SUM(A1)"),
        ("x" * 500, "x" * MAX_NAME),
        ("\u202eevil", "evil"),
    ],
)
def test_names_are_cleaned(given_name: str, kept: str) -> None:
    assert clean_name(given_name) == kept


CURVES = [Curve(SPEC), Curve(SPEC.baseline()), Curve(SPEC.replace(epsilon=3.0), "a name")]
COMPARISONS = [links.encode(CURVES[:n], View()) for n in (1, 2, 3)]


def check_sentences(problems: Sequence[str], most: int = 400) -> None:
    """What was wrong with a link is said in short sentences, each on one line."""
    for problem in problems:
        assert problem.isprintable()
        assert problem.endswith(".")
        assert len(problem) < most
        assert "Traceback" not in problem


@settings(max_examples=few(300), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(f.query for f in FIELDS.values())), st.text(max_size=20))))
def test_of_any_value_of_any_field_what_is_left_is_allowed(pairs: list[tuple[str, str]]) -> None:
    """It is read again as it is."""
    link = links.decode({"c": ["~".join(f"{k}.{v}" for k, v in pairs)]})
    assert read(query(link.curves, link.view)) == Link(link.curves, link.view, ())
    assert all(clean_name(curve.name) == curve.name for curve in link.curves)
    check_sentences(link.problems)
