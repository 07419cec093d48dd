"""The bundled runs are what the engine of today computes."""

from __future__ import annotations

import numpy as np
import pytest

from bench.bundled import CURVES, OTHERS, POINTS, optima, widths
from dprl import estimate
from dprl.assets import ASSETS
from dprl.environments import ENVIRONMENTS
from dprl.lessons import LESSONS
from dprl.metrics.curves import RunCurves, thinned
from dprl.metrics.growth import unsettled
from dprl.papers import CLAIMS
from dprl.papers.claim import TRACES
from dprl.papers.evidence import kept as few_points
from dprl.papers.evidence import noted
from dprl.simulation import RunSpec, kinds, online, run, spec_from_dict
from dprl.sitemap import PAGES
from pages.attack.link import DEFAULT
from pages.shared.controls.launch import DRAFT_SECONDS
from pages.shared.examples import FIRST, HOME_EPISODES, trust
from pages.shared.lessons import OWN, evidence
from pages.shared.results import answers
from pages.shared.results.data import asset, bundled, comes_along, path_of
from pages.shared.results.data import bundled_papers as bundled_claims
from pages.shared.results.data import bundled_scores as bundled_attack
from pages.tradeoffs import charts as charts_of
from pages.tradeoffs import study as studies


def recompute(name: str) -> str:
    return f"it is not what the engine computes: run `python -m bench.bundled {name}`"


def test_every_file_that_comes_with_the_program_is_one_that_a_page_names() -> None:
    named = [name for page in PAGES.values() for name in page.bundled]
    assert len(set(named)) == len(named)
    there = {file.stem for file in ASSETS.glob("*.json")} - {"engine"}  # which tells of engine.wasm
    assert {*named, "optima"} == there == {*CURVES, *OTHERS}


@pytest.mark.parametrize("name", CURVES)
def test_a_file_holds_all_its_runs_and_stays_small(name: str) -> None:
    assert set(bundled(name)) == set(CURVES[name]()), recompute(name)
    assert path_of(name).stat().st_size < 600_000


def test_the_first_curves_in_each_environment_are_quick_or_bundled() -> None:
    for key in ENVIRONMENTS:  # the first member of a collection
        for curve in FIRST.curves:
            spec = curve.spec.replace(environment=key, environment_params={})
            assert comes_along(spec) or estimate(spec).seconds * spec.seeds <= DRAFT_SECONDS, spec


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "spec"),
    [
        *(("home", curve.spec) for curve in trust(1.0, HOME_EPISODES).curves),
        *(("examples", spec) for spec in CURVES["examples"]() if estimate(spec).seconds < 10),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.privacy}-{value.bonus}",
)
def test_bundled_runs_are_the_engines(name: str, spec: RunSpec) -> None:
    """By their first seed, which tells of any change."""
    trace, kept = run(spec.replace(seeds=1)), bundled(name)[spec]
    at = thinned(trace.episodes, POINTS)
    assert np.array_equal(kept.at, trace.episodes[at]), recompute(name)
    assert np.allclose(kept.values[:1], trace.regret[:, at], rtol=1e-5, atol=0), recompute(name)
    assert len(kept.values) == spec.seeds
    std = trace.guarantee.noise_std  # of a count: linear learners are told of none
    assert kept.noise_std == (std and pytest.approx(std, rel=1e-9)), recompute(name)


def test_trade_offs_is_bundled_whole() -> None:
    """The ready-made questions need no run, whatever is drawn; every way to be private learns in each of them."""
    v_star = answers.v_star(studies.DEFAULT.base)
    assert v_star is not None
    found = studies.questions(studies.DEFAULT.base)
    assert len(found) == 6
    assert studies.question_of(studies.DEFAULT) == next(iter(found))
    for study in found.values():
        assert studies.RUNS.missing(study.sweep.specs) == [], recompute("tradeoffs")
        for model in study.models:  # the run in which the most is learned
            lost = {spec: charts_of.ends(spec).mean() for _, spec in study.points(model)}
            spec = min(lost, key=lambda spec: lost[spec] / charts_of.worst_of(spec))
            assert lost[spec] < spec.episodes * online.v_star(spec) / 2
    study = studies.DEFAULT
    for way in study.private:
        assert charts_of.users_search(study, way, study.share / 100 * v_star).pending is None, recompute(
            "tradeoffs"
        )
    assert path_of("tradeoffs").stat().st_size < 200_000


@pytest.mark.thorough
@pytest.mark.parametrize("privacy", ["none", "shuffle"])
def test_trade_offs_ends_are_the_engines(privacy: str) -> None:
    spec = next(s for s in reversed(studies.DEFAULT.sweep.specs) if s.privacy == privacy)
    trace = run(spec)
    assert np.allclose(bundled("tradeoffs")[spec].ends, trace.regret[:, -1], rtol=1e-8, atol=0), recompute(
        "tradeoffs"
    )
    if privacy == "none":  # the page, which has only the ends, does not warn
        assert unsettled(trace.episodes, trace.regret) == 0


def test_the_table_of_optima_is_what_planning_finds() -> None:
    kept, found = asset("optima"), optima()
    assert [entry | {"v_star": 0} for entry in kept] == [entry | {"v_star": 0} for entry in found]
    assert [e["v_star"] for e in kept] == pytest.approx([e["v_star"] for e in found]), recompute("optima")


def test_the_attack_is_the_engines() -> None:
    found = bundled_attack()[DEFAULT]
    trace = run(DEFAULT.replace(seeds=1)).seeds[0]
    played = len(trace.first)
    assert (found.releases, found.counters) == (trace.releases, trace.counters)
    assert len(found.first) == len(found.second) == DEFAULT.seeds * played
    assert np.allclose(found.first[:played], trace.first, rtol=1e-5, atol=1e-5), recompute("attack")
    assert np.allclose(found.second[:played], trace.second, rtol=1e-5, atol=1e-5), recompute("attack")
    assert path_of("attack").stat().st_size < 100_000


def test_what_lessons_ask_is_all_there_and_the_engines() -> None:
    asked = {one for lesson in LESSONS.values() for step in lesson.steps for one in step.questions}
    kept = asset("lessons")
    found = {(one["question"], spec_from_dict(one["spec"])): one["answer"] for one in kept}
    assert set(found) == {one for one in asked if one[0] in OWN}, recompute("lessons")
    assert asked <= set(evidence().answers)
    (radius,) = (one for one in asked if one[0] == "widths")
    weights = widths(run(radius[1].replace(seeds=1)).seeds)
    assert found[radius]["rows"][0] == pytest.approx(weights["rows"][0], rel=1e-3), recompute("lessons")
    (stated,) = (one for one in asked if one[0] == "guarantee")
    card = kinds.answered(kinds.answer(*stated))
    assert found[stated] == pytest.approx({key: card[key] for key in OWN["guarantee"]}), recompute("lessons")
    assert path_of("lessons").stat().st_size < 20_000


def test_the_evidence_on_claims_is_all_there_and_small() -> None:
    wanted = {spec for claim in CLAIMS.values() for spec in claim.runs}
    asked = {(question, spec) for claim in CLAIMS.values() for spec, question in claim.questions.items()}
    assert set(bundled_claims().evidence.runs) == wanted, recompute("papers")
    assert set(bundled_claims().evidence.answers) == asked, recompute("papers")
    assert path_of("papers").stat().st_size < 1_000_000


@pytest.mark.parametrize("key", CLAIMS)
def test_the_evidence_on_a_claim_is_the_engines(key: str) -> None:
    """By the first seed of its quickest run, and by all that is asked."""
    known = bundled_claims().evidence
    for spec, question in CLAIMS[key].questions.items():
        if question == TRACES:
            continue  # tests/test_papers.py looks at one
        answer = noted(question, kinds.answered(kinds.answer(question, spec)))
        close = pytest.approx(answer) if question == "guarantee" else answer
        assert known.answers[question, spec] == close, recompute("papers")
    for spec in sorted(CLAIMS[key].runs, key=lambda spec: estimate(spec).seconds)[:1]:
        trace, kept = run(spec.replace(seeds=1)), known.runs[spec]
        found = few_points(RunCurves(trace.at, trace.values), whole=len(kept.at) > 1)
        assert found.at.tolist() == kept.at.tolist(), recompute("papers")
        assert found.values[0] == pytest.approx(kept.values[0], rel=1e-5), recompute("papers")
        assert len(kept.values) == spec.seeds
