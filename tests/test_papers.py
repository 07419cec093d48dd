"""Papers: every item has a row, verdicts follow from numbers, two claims in a small form, and the ranking."""

from __future__ import annotations

import io
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dprl.__main__ as cli
from bench.bundled import lines_of
from dprl import ALGORITHMS, ENVIRONMENTS, OfflineSpec, RunSpec, run
from dprl.metrics.attack import Measured, clopper_pearson
from dprl.metrics.curves import Evidence, RunCurves
from dprl.metrics.verdicts import (
    Verdict,
    at_most,
    every_more_than,
    grows,
    more_than,
    overall,
    rate,
    t_interval,
)
from dprl.papers import CLAIMS, Setting, hard, items, privacy, ranking, regret
from dprl.papers.evidence import kept, seen_in
from dprl.papers.experiments import COLLUSIONS
from dprl.papers.items import FOUND, STATED, all_items, papers, related
from dprl.papers.ranking import (
    PROBLEMS,
    SEEDS,
    TARGET,
    Candidate,
    Ranking,
    contenders,
    final_regret,
    rank,
    ranked_spec,
)
from dprl.papers.rates import by_horizon, crossing, data_needed, in_horizon
from dprl.sentences import papers as sentences
from dprl.simulation import Trace, kinds, online
from dprl.theory.papers import PAPERS as SOURCES
from pages.shared.results.data import asset, bundled_papers, path_of
from tests.problems import first, left

SMALL = RunSpec(environment_params={"S": 3, "H": 4}, episodes=10**9, seeds=4)
NO: Verdict = "does not hold here"


def evidence(*settings: Setting) -> Evidence:
    """Of a few settings, computed here."""
    runs, answers = {}, {}
    for spec in dict.fromkeys(spec for setting in settings for spec in setting.specs):
        if settings[0].question:
            question = settings[0].question
            answers[question, spec] = kinds.answered(kinds.answer(question, spec))
        else:
            trace = run(spec)
            runs[spec] = kept(RunCurves(trace.at, trace.values, v_star=trace.seeds[0].v_star), whole=True)
    return Evidence(runs, answers)


def verdict(setting: Setting) -> str:
    return setting.judge(evidence(setting)).verdict


def test_two_claims_in_a_small_form_additive_and_multiplicative() -> None:
    """Theorems 5.2 and 5.7 where a run takes milliseconds: a trusted curator's price is flat, that of nobody is not."""
    nobody = SMALL.replace(privacy="local")
    flat, growing = regret.flattens(SMALL), regret.goes_on(nobody)
    wrong, bound = regret.flattens(nobody), regret.goes_on(SMALL)
    found = evidence(flat, growing)
    judged = [setting.judge(found) for setting in (flat, growing, wrong, bound)]
    assert [one.verdict for one in judged] == ["holds", "holds", NO, "holds as an upper bound"]


def test_one_draw_of_noise_recovers_everybody_and_a_tree_nobody() -> None:
    few = COLLUSIONS[:15]
    assert verdict(privacy.recovered(few, "one", "")) == "holds"
    assert verdict(privacy.recovered(few, "tree", "")) == "holds"


def test_orders_and_exponents_follow_the_runs() -> None:
    chain = [SMALL.baseline(), SMALL, SMALL.replace(privacy="local")]
    right, wrong = regret.order([chain]), regret.order([chain[::-1]])
    found = evidence(right)
    assert right.judge(found).verdict == "holds"
    assert wrong.judge(found).verdict == NO
    assert wrong.judge(found).high < 1
    spec = hard.instance(RunSpec(mechanism="laplace-tree", delta=0.0, episodes=10**8, seeds=4), 0.1)
    budgets = [spec.replace(epsilon=epsilon) for epsilon in (0.1, 0.3, 1.0)]
    price, above = hard.in_power(budgets, "ε"), hard.above_the_bound(budgets)
    found = evidence(price)
    assert price.judge(found).value == pytest.approx(1.0, abs=0.3)
    assert above.judge(found).verdict == "holds"
    few = {s: replace(r, values=r.values * 1e-6) for s, r in found.runs.items()}
    assert above.judge(Evidence(few, {})).verdict == NO


@pytest.mark.parametrize("arms", hard.ARM_0_IS_BEST)
def test_in_the_hard_instances_every_worse_arm_loses_the_gap(arms: int) -> None:
    spec = hard.instance(RunSpec(), 0.1, arms)
    mdp = ENVIRONMENTS["hard-jdp"].make(**spec.environment_params)
    up = mdp.P[0, 0, :, 1]
    assert up[0] - up[1:] == pytest.approx(np.full(arms, 0.1))
    assert hard.gap_of(spec) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("judge", "interval", "expected"),
    [
        (lambda m: more_than(m, 1.0), (2, 1.1, 3), "holds"),
        (lambda m: more_than(m, 1.0), (2, 0.9, 3), "undecided"),
        (lambda m: more_than(m, 1.0), (0.5, 0.2, 0.9), NO),
        (lambda m: at_most(m, 0.1), (0.05, 0.0, 0.1), "holds"),
        (lambda m: at_most(m, 0.1), (0.05, 0.0, 0.11), "undecided"),
        (lambda m: at_most(m, 0.1), (0.3, 0.2, 0.4), NO),
        (lambda m: at_most(m, 0.1), (np.nan, np.nan, np.nan), "undecided"),
        (lambda m: grows(m, 0.5), (0.3, 0.2, 0.4), "holds"),
        (lambda m: grows(m, 0.5), (0.05, 0.0, 0.09), "holds as an upper bound"),
        (lambda m: grows(m, 0.5), (0.1, 0.0, 0.2), "undecided"),
        (lambda m: grows(m, 0.5), (0.8, 0.7, 0.9), NO),
        (lambda m: grows(m, 0.5), (0.6, 0.5, 0.7), "undecided"),
        (lambda m: grows(m, 0.5), (np.nan, np.nan, np.nan), "undecided"),
        (lambda m: rate(m, 0.5), (0.5, 0.45, 0.55), "holds"),
        (lambda m: rate(m, 0.5), (0.2, 0.15, 0.25), "holds as an upper bound"),
        (lambda m: rate(m, 0.5), (0.6, 0.5, 0.7), "undecided"),
        (lambda m: rate(m, 0.5), (0.8, 0.7, 0.9), NO),
        (lambda m: rate(m, 0.5), (np.nan, np.nan, np.nan), "undecided"),
    ],
)
def test_a_verdict_follows_from_the_interval(judge: Any, interval: tuple[float, ...], expected: str) -> None:
    assert judge(Measured(*interval)).verdict == expected


def test_intervals_are_those_of_the_textbooks() -> None:
    assert t_interval(np.array([1.0, 2.0, 3.0])) == pytest.approx((2, 2 - 2.4841, 2 + 2.4841), abs=1e-3)
    wider = t_interval(np.array([1.0, 2.0, 3.0]), tests=2)  # t(0.9875, 2) = 6.2053
    assert wider.high == pytest.approx(2 + 6.2053 / np.sqrt(3), abs=1e-3)
    assert np.isnan(t_interval(np.array([1.0])).low)
    assert np.isnan(t_interval(np.array([1.0, np.nan])).low)
    assert clopper_pearson(180, 180) == pytest.approx((1, 0.025 ** (1 / 180), 1))
    assert clopper_pearson(5, 10) == pytest.approx((0.5, 0.1871, 0.8129), abs=1e-4)


def test_of_many_the_one_that_fails_decides() -> None:
    fine, wide, failing = [2.0, 2.1, 1.9], [9.0, -9.0, 0.5], [-1.0, -1.01, -0.99]
    for rows, excused, verdict, value in (
        ([fine, fine], (), "holds", None),
        ([fine, wide], (), "undecided", None),
        ([fine, wide, failing], (), NO, -1),
        ([fine, wide, failing], [False, False, True], "undecided", None),
        ([fine, fine, failing], [False, False, True], "nothing learned yet", -1),
    ):
        found = every_more_than(np.array(rows), 0.0, excused)
        assert found.verdict == verdict
        assert value is None or found.value == pytest.approx(value)


def test_a_claim_is_as_good_as_its_weakest_setting_and_says_so_briefly() -> None:
    assert overall(["holds", "holds as an upper bound"]) == "holds as an upper bound"
    assert overall(["holds", "undecided", NO]) == NO
    assert sentences.about_verdicts(["holds", "holds"]) == "In both settings, the claim holds."
    said = sentences.about_verdicts(["holds", "holds", NO])
    assert said == "Out of 3 settings, the claim holds in 2 and does not hold in 1."


def lost(spec: RunSpec, share: float) -> RunCurves:
    """A run that loses this share of everything there is to lose, and a little less or more in each seed."""
    seeds = 1 + 1e-3 * np.arange(-2, 3)
    values: np.ndarray = 3.4 * spec.episodes * share * seeds[:, None]
    return RunCurves(np.array([spec.episodes]), values, v_star=3.4)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ((0.04, 0.46, 0.8), "holds"),  # one of two has learned: it is told from the other
        ((0.04, 0.8, 0.3), NO),
        ((0.04, 0.46, 0.99, 0.97), "nothing learned yet"),  # which wrong policy is played
        ((0.04, 0.46, 0.97, 0.99), "nothing learned yet"),  # and no order is found there
        ((0.46, 0.04, 0.99, 0.97), NO),  # what has learned is judged all the same
    ],
)
def test_the_order_of_runs_that_learned_nothing_is_not_judged(
    shares: tuple[float, ...], expected: str
) -> None:
    chain = [SMALL.replace(epsilon=100.0 - place) for place in range(len(shares))]
    runs = {spec: lost(spec, share) for spec, share in zip(chain, shares, strict=True)}
    found = regret.order([chain]).judge(Evidence(runs, {}))
    assert found.verdict == expected
    if expected == "nothing learned yet":
        assert found.value == pytest.approx(shares[-1] / shares[-2])  # what cannot be judged is what is shown


def test_the_command_line_lists_claims_and_refuses_others_and_a_place_that_cannot_be_written_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["reproduce"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == [*CLAIMS, "algorithms"]
    wrong = left(capsys, "reproduce", "nothing")
    assert wrong.startswith("claim: nothing is not allowed; give one of order-of-trust")
    (tmp_path / "file").write_text("")  # refused before any run
    assert left(capsys, "reproduce", "one-draw", "--out", str(tmp_path / "file")).startswith("out: ")


@pytest.mark.parametrize("key", first(["order-of-trust", "offline-converges"]))
def test_the_command_line_saves_the_curves_of_each_setting_with_their_numbers(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim, known = CLAIMS[key], bundled_papers().evidence
    drawn = [n for n, setting in enumerate(claim.settings, 1) if setting.draw is not None]
    monkeypatch.setattr(items, "gather_evidence", lambda *given: known)
    nobody: Any = None
    files = items.reproduce(claim, nobody, "somebody", None, True)
    names = {f"{key}-{n}.csv" for n in drawn}
    assert set(files) == {f"{key}.json", *names}
    for number in drawn[:2]:
        setting = claim.settings[number - 1]
        assert setting.draw is not None
        table = pd.read_csv(io.StringIO(files[f"{key}-{number}.csv"]))
        for one in setting.draw(known).series:
            rows = table[table["series"] == one.label]
            np.testing.assert_allclose(rows["mean"], one.rows.mean(0), rtol=1e-9)


def test_a_verdict_is_the_worst_of_its_settings() -> None:
    reports = bundled_papers().reports
    for item in all_items().values():
        found = item.found(reports)
        if item.claim is None:
            assert (found.verdict, found.summary) == (item.verdict, item.why)
            continue
        verdicts = [reports[item.experiment].findings[place].verdict for place in item.places]
        assert found.verdict == FOUND[overall(verdicts)]
        assert found.place in item.places
        assert reports[item.experiment].numbers[found.place] in found.number


def test_printed_noise_proves_what_it_does() -> None:
    """By the closed form where there is one: a replaced trajectory moves two counts in each step and family."""
    found = {
        key: [one.value for one in bundled_papers().reports[key].findings] for key in CLAIMS if "noise" in key
    }
    assert found["noise-tabular"] == pytest.approx([2, 2, 2])
    assert max(found["noise-linear"] + found["noise-shuffled"]) < 1
    assert found["noise-offline"] == pytest.approx([1, 0.8], abs=1e-5)


@pytest.fixture(scope="module")
def table() -> Ranking:
    return Ranking.from_dict(asset("ranking"))


PLANTED = "random-tiny", "dp-ucbvi", "central"


def test_every_algorithm_that_runs_is_ranked(table: Ranking) -> None:
    named = {(one.problem, one.algorithm, one.privacy) for one in table.ranks}
    for problem, (algorithm, privacy_model) in itertools.product(PROBLEMS, contenders()):
        candidate = Candidate(problem, algorithm, privacy_model, 1.0)
        candidate.add(1000)
        assert ((problem, algorithm, privacy_model) in named) == bool(candidate.specs)
    assert lines_of(table.to_dict()) == path_of("ranking").read_text(encoding="utf-8")
    for one in table.ranks:
        assert one.low <= one.needed <= one.high
        assert (one.spec.calibration, one.spec.epsilon) == ("calibrated", 1.0)
        assert ("our reconstruction" in one.title) == ALGORITHMS[one.algorithm].reconstructed


def test_a_bundled_rank_is_the_engines(table: Ranking) -> None:
    (found,) = (one for one in table.ranks if (one.problem, one.algorithm, one.privacy) == PLANTED)
    below, above = (
        final_regret(ranked_spec(*PLANTED, round(found.needed * factor))).mean() / found.needed / factor
        for factor in (0.5, 2.0)
    )
    v_star = online.v_star(PROBLEMS[PLANTED[0]].base)
    assert above < TARGET * v_star < below


def test_the_crossing_of_a_planted_curve_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "contenders", lambda: [PLANTED[1:]])
    monkeypatch.setattr(ranking, "PROBLEMS", {PLANTED[0]: PROBLEMS[PLANTED[0]]})
    v_star = online.v_star(PROBLEMS[PLANTED[0]].base)

    def planted(specs: Sequence[RunSpec]) -> dict[RunSpec, np.ndarray]:
        return {s: np.full(SEEDS, s.episodes * min(1.0, (1e6 / s.episodes) ** 0.5)) for s in specs}

    (found,) = rank(planted).ranks
    assert found.needed == pytest.approx(1e6 / (TARGET * v_star) ** 2, rel=1e-4)
    (never,) = rank(lambda specs: {s: np.full(SEEDS, 1.0 * s.episodes) for s in specs}).ranks
    assert never.needed == math.inf
    assert "more than 10¹⁵ users" in never.words


def test_what_is_read_off_whole_traces_is_what_they_say() -> None:
    spec = SMALL.replace(mechanism="laplace-tree", delta=0.0, calibration="paper", bonus="paper", seeds=2)
    trace = run(spec)
    found = seen_in(trace)
    assert found == {"covered": [True] * 2, "optimistic": [True] * 2, "consistent": [True] * 2}
    first = trace.seeds[0]
    n = first.released.copy()
    n[..., -2] += 2 * first.error_bound.max()  # farther from the truth than E, and no sum of its parts
    odd = Trace(spec, (replace(first, released=n, coverage_ratio=first.coverage_ratio + 1),))
    assert seen_in(odd) == {"covered": [False], "optimistic": [True], "consistent": [False]}


def test_where_a_ratio_falls_to_one() -> None:
    grid = np.array([0.1, 1.0, 10.0])
    ratio = np.array([[100.0, 10.0, 0.1], [0.5, 0.4, 0.3], [9.0, 8.0, 7.0], [100.0, 0.1, 50.0]])
    assert crossing(grid, ratio) == pytest.approx([10**0.5, 0.1, 10.0, 10 ** (-1 / 3)])


def test_horizons_and_data_follow_planted_runs() -> None:
    horizons = (5, 10, 20)
    specs = by_horizon(RunSpec(environment="chain", seeds=3), horizons)
    setting = in_horizon(specs, "private-ucb-vi", 0.5)
    runs, noise = {}, np.array([[1.0], [1.01], [1.02]])
    for spec, H in zip(specs, horizons, strict=True):
        for algorithm, factor in ((spec.algorithm, 1.0), ("private-ucb-vi", math.sqrt(H))):
            curves = RunCurves(np.array([10]), noise * factor, v_star=1.0)
            runs[spec.replace(algorithm=algorithm)] = curves
    found = setting.judge(Evidence(runs, {}))
    assert found.value == pytest.approx(0.5)
    assert found.verdict == "holds"
    none = in_horizon(specs, "private-ucb-vi", None)
    assert none.judge(Evidence(runs, {})).verdict == NO
    at = 10 ** np.arange(1, 8)
    data = {rho: OfflineSpec(algorithm="dp-apvi", rho=rho, seeds=2, n=10**7) for rho in (1.0, 0.01)}
    known = {
        one: RunCurves(at, np.tile(1 / (at * rho**0.5), (2, 1)), v_star=1.0) for rho, one in data.items()
    }
    known |= {one.baseline(): RunCurves(at, np.zeros((2, 7)), v_star=1.0) for one in data.values()}
    assert data_needed([*data.values()]).judge(Evidence(known, {})).value == pytest.approx(1.0)


@pytest.mark.parametrize("key", CLAIMS)
def test_a_claim_holds_where_the_whole_interval_is_within_the_zone_that_is_drawn(key: str) -> None:
    for one in bundled_papers().reports[key].findings:
        within = one.zone[0] <= one.low and one.high <= one.zone[1]
        assert within or one.verdict != "holds"
        assert not within or one.verdict in ("holds", "nothing learned yet")


# Of each paper the numbers that theorems, lemmas and the like have in common, from the first page to the last appendix,
# and how many there are of what is numbered for itself.
NUMBERED: dict[str, tuple[str, dict[str, int]]] = {
    "online": ("3.1-2 4.1-1 5.1-7 6.1-1 B.1-9 C.2-11", {"Table": 1, "Figure": 1, "Algorithm": 1}),
    "offline": ("2.1-2 2.4-4 2.7-7 3.1-4 4.1-1 C.1-11 D.1-18 E.1-17 E.20-20", {"Figure": 1, "Algorithm": 2}),
    "pac": ("1-23", {"Algorithm": 5, "Claim": 2, "Figure": 2}),
    "linear": ("5-32", {"Table": 1, "Algorithm": 3, "Assumption": 2, "Remark": 8}),
    "shuffle": ("4-4 6-42", {"Algorithm": 4}),
}


def test_every_numbered_item_of_the_papers_has_a_row() -> None:
    assert set(papers()) == set(NUMBERED)
    for name, (runs, apart) in NUMBERED.items():
        rows = papers()[name].items
        covered = [one for row in rows for one in row.covers]
        assert len(set(covered)) == len(covered), name
        found = {one for row in rows for one in (*row.covers, row.name)}
        assert found >= {f"{kind} {n}" for kind, many in apart.items() for n in range(1, many + 1)}, name
        numbers = {one.split()[1] for one in found if one.split()[0] not in apart}
        for section, low, high in re.findall(r"(?:(\w)\.)?(\d+)-(\d+)", runs):
            wanted = range(int(low), int(high) + 1)
            assert numbers >= {f"{section}.{n}" if section else str(n) for n in wanted}, name


def test_every_row_is_well_formed() -> None:
    assert len(all_items()) == sum(len(paper.items) for paper in papers().values())  # no two alike
    for item in all_items().values():
        assert re.fullmatch(r"[a-z0-9-]+", item.key), item.address
        if item.claim is None:
            assert item.verdict in STATED, item.address
            assert bool(item.source) == (item.verdict != "not tested"), item.address
            assert not item.source or re.search(r"arxiv.org/abs/\d+\.\d+v\d+$", item.source), item.address
        else:
            assert not item.verdict, item.address
            assert {*item.settings} <= {*range(1, len(item.claim.settings) + 1)}, item.address
    assert {item.experiment for item in all_items().values() if item.experiment} == set(CLAIMS)
    assert {paper.paper for paper in papers().values()} <= set(SOURCES)


def test_later_papers_bear_on_rows_and_say_what_was_read() -> None:
    for work in related():
        assert {*work.bears_on} <= set(all_items())
        assert work.read.startswith("nothing") == (not work.source)
        assert not work.source or re.search(r"v\d+$", work.source)
