"""Links say everything, and reading one never fails: good, hostile and changed ones, on every page."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dprl.environments.custom import EXAMPLE
from dprl.links import MAX_CURVES, VERSION
from dprl.privacy import PRIVATIZERS
from dprl.runs.store import Store
from dprl.simulation import FIELDS, AttackSpec, OfflineSpec, RunSpec
from dprl.simulation.pairs import calibrations_for
from dprl.users import Asked
from pages.attack import link as attack_link
from pages.offline.record import OfflineView
from pages.shared.examples import EXAMPLES
from pages.shared.visitor import links, state
from pages.shared.visitor.address import NOTHING, query_of
from pages.shared.visitor.links import MAX_NAME, Curve, Link, View, clean_name, fields_of
from pages.shared.visitor.state import PageState
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import SweepView
from pages.users import link as users
from tests.pages.conftest import Visit, follow, grouped, words
from tests.pages.opened import PAGES, opened, specs_of
from tests.pages.test_computing import ASK
from tests.problems import few, first
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


RUN = RunSpec(environment="random", environment_params={"S": 2, "A": 2, "H": 2}, episodes=1000, seeds=2)
DATA = OfflineSpec(environment_params={"S": 3, "H": 3}, n=10**4, seeds=2)
SHUFFLED = RUN.replace(privacy="shuffle", schedule="episodic", episodes=997)
STUDIES = (
    studies.DEFAULT,
    SweepView(RUN, ("local:laplace:paper", "none"), "episodes", (10, 10**15), "users", share=12.5),
    SweepView(RUN.replace(environment="chain"), ("central",), "S", (3, 4), "share", "on"),
    SweepView(RunSpec(algorithm="ucbvi"), ("none",), "H", (3,), "regret", statistic="median"),
    SweepView(SHUFFLED, ("none", "shuffle"), "episodes", (997, 1000), bounds="on"),
)

# What breaks parsers, templates, shells, SQL and numbers.
POISON = [
    "", "~", "~~~~", ".", "..", "-1", "1e400", "-inf", "nan", "0x10", "1_000", "٣", "½", "1" * 400, "{}", "[]",
    "null", "None", "true", "__import__('os').system('id')", "{{7*7}}", "${jndi:ldap://x}", "%{x}", "%00", "%",
    "%zz", "\x00", "\ud800", "\u202e", "🦊" * 50, "<script>alert(1)</script>", "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))", "' OR 1=1 --", "; rm -rf /", "../../etc/passwd", "S.6.7.8", "envp", "envp.",
    "envp..", "envp.S", "envp.S.", "envp.__class__.x", "algp.cap.zzz", "name.", "name.~name.~", "col.-1", "hide.maybe",
]  # fmt: skip

# Of parameters that no link has, and of fields of a spec.
STRANGE = ["__proto__", "embed", "c[]", "C", "c", "", "store", "id"]
NAMES = ["eps", "K", "envp", "env", "name", "alg", "priv"]


def hostile(seed: int, *good: list[tuple[str, str]]) -> str:
    """A hostile query string: one of these links, as its parameters, cut, spliced, repeated and poisoned at random."""
    rng = random.Random(seed)
    items = list(rng.choice(good))
    keys = [key for key, _ in items] + STRANGE
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(items))
        key, value = items[at]
        kind = rng.randrange(6)
        if kind == 0:
            items[at] = (key, rng.choice(POISON))
        elif kind == 1:
            items[at] = (key, value[: rng.randint(0, len(value))] + rng.choice(POISON))
        elif kind == 2:
            items.append((rng.choice(keys), rng.choice(POISON)))
        elif kind == 3:
            parts = value.split("~")
            parts[rng.randrange(len(parts))] = f"{rng.choice(NAMES)}.{rng.choice(POISON)}"
            items[at] = (key, "~".join(parts))
        elif kind == 4:
            items += [items[at]] * rng.randint(1, 30)
        else:
            rng.shuffle(items)
    query = "&".join(f"{quote(k, errors='replace')}={quote(v, errors='replace')}" for k, v in items)
    return query if rng.random() < 0.8 else query[: rng.randint(0, len(query))]


# Good links to each page, of which hostile ones are made.
GOOD: dict[str, list[list[tuple[str, str]]]] = {
    "home": [[("v", VERSION), ("eps", "0.3")]],
    "explore": COMPARISONS,
    "tradeoffs": [studies.encode(study) for study in STUDIES],
    "offline": [
        links.encode_specs([DATA, DATA.replace(rho=0.1)], OfflineView(tab=tab)) for tab in ("gap", "policy")
    ],
    "room": [[("room", "BCDFGH")], [("room", "BCDFGH"), ("key", "0" * 32)]],
    "lessons": [
        [("lesson", "trust"), ("step", "2"), ("guess", "1e9"), ("shown", "yes")],
        [("lesson", "price"), ("guess", "0.5")],
        [("lesson", "users"), ("before", "1,open,0")],
    ],
    "papers": [[("item", "pac/one-draw"), ("at", "1")], [("paper", "linear"), ("problem", "chain")]],
    "users": [
        users.encode(Asked(10**9, 6, 2, 20, 17.0, 0.5, 1e-8, 5.0)),
        [("problem", "riverswim"), ("K", "1e8")],
    ],
    "attack": [attack_link.encode(AttackSpec(run=RUN), step) for step in attack_link.STEPS],
}


QUICK = ("explore", "home", "offline")  # the others thoroughly


def read_again(page: str, part: PageState) -> None:
    """What is left of a link is allowed: it is written and read again as it is."""
    again = opened(page, part.query)
    assert (again.items, again.problems) == (part.items, ())
    assert specs_of(page, again) == specs_of(page, part)


@pytest.mark.parametrize("page", GOOD)
@pytest.mark.usefixtures("reading")
def test_a_link_of_each_page_carries_what_is_seen(page: str) -> None:
    for link in GOOD[page]:
        part = opened(page, query_of(link))
        own = [item for item in link if item[0] not in ("v", "key")]  # a teacher's key leaves the address
        assert [item for item in part.items if item[0] != "v"] == own
        read_again(page, part)


def test_a_link_opens_the_same_study() -> None:
    for study in STUDIES:
        assert studies.decode(grouped(studies.encode(study)), []) == study


@pytest.mark.parametrize("page", GOOD)
@pytest.mark.usefixtures("reading")
def test_hostile_links_are_read_as_what_they_say(page: str) -> None:
    links, wrong = few(200), 0
    for seed in range(links):
        part = opened(page, hostile(seed, *GOOD[page]))
        check_sentences(part.problems, most=500)
        wrong += bool(part.problems)
        read_again(page, part)
    assert wrong > links / 2 or page in ("home", "room")  # which read one value, or two


@pytest.mark.parametrize("page", first(GOOD, lambda page: page if page in QUICK else "home"))
def test_hostile_links_to_every_page(visit: Visit, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    monkeypatch.setattr(Store, "answer", ASK)  # nobody answers
    monkeypatch.setattr(state, "went_back", lambda: True)  # else one that was there before is no link
    app = visit(page)
    for seed in range(5000, 5006 if page in QUICK else 5024):
        query = parse_qs(hostile(seed, *GOOD[page]), keep_blank_values=True)
        follow(app, query)
        assert "Traceback" not in words(app)
        wrong = any(part.problems for part in app.session_state["session"].parts.values())
        said = any(page == "home" or "this link" in warning.value for warning in app.warning)
        assert said == wrong


WAYS = {
    "out of HTML": lambda link: link.replace("&", "&amp;"),
    "encoded twice": lambda link: link.replace("%", "%25").replace("~", "%257E"),
    "encoded whole": lambda link: quote(link, safe=""),
    "encoded whole, twice": lambda link: quote(quote(link, safe=""), safe=""),
    "upper case keys": lambda link: "&".join(
        part.partition("=")[0].upper() + "=" + part.partition("=")[2] for part in link.split("&")
    ),
    "with a tracker": lambda link: f"{link}&utm_source=mail&fbclid=1",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("page", GOOD)
@pytest.mark.usefixtures("reading")
def test_a_changed_link_opens_as_it_was_meant(page: str, way: str) -> None:
    for link in GOOD[page]:
        found, meant = opened(page, WAYS[way](query_of(link))), opened(page, query_of(link))
        assert (found.items, found.problems) == (meant.items, meant.problems)


@pytest.mark.parametrize("query", ["curve=eps.2", "v=1&curve=eps.2", "nothing", "x%20y=1&amp;z=2"])
@pytest.mark.parametrize("page", sorted(set(PAGES) - {"explore", "tradeoffs"}))  # they know x
@pytest.mark.usefixtures("reading")
def test_a_link_with_nothing_known_is_reported_in_one_sentence(page: str, query: str) -> None:
    (problem,) = opened(page, query).problems
    assert problem.startswith(f"{NOTHING}: this page has no parameter named ")
    assert problem.endswith(".")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("reading")
def test_a_link_without_parameters_of_the_view_is_silent(page: str) -> None:
    for query in ("", "v=1", "fbclid=1", "utm_source=mail&v=1"):
        assert opened(page, query).problems == ()


@pytest.mark.parametrize("end", [".", ")", ",", ")."])
@pytest.mark.parametrize(
    ("page", "query"), [("explore", "c=eps.2"), ("home", "eps=3"), ("room", "room=BCDFGH")]
)
@pytest.mark.usefixtures("reading")
def test_punctuation_after_a_link_is_left_out_and_reported(page: str, query: str, end: str) -> None:
    found = opened(page, query + end)
    assert found.query == opened(page, query).query
    assert found.problems == (f"The link ended in {end}, which was ignored.",)


@pytest.mark.usefixtures("reading")
def test_the_end_of_a_sentence_or_of_a_name_stays() -> None:
    for query in ("c=eps.2~name.More private.", "c=eps.2&say=Look here (all of it)."):
        assert opened("explore", query).problems == ()
    assert opened("explore", "c=eps.2&say=Look here.").sentence == "Look here."
