"""The table of all private learners: nobody is missing, its numbers are the engine's, and what follows from them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from io import StringIO

import numpy as np
import pandas as pd
import pytest

from bench.bundled import lines_of
from dprl.landscape import (
    BUDGET,
    COLUMNS,
    PROBLEMS,
    SEEDS,
    TARGET,
    Entry,
    Landscape,
    bound_of,
    entries,
    gather,
    rows,
    terminal_text,
)
from dprl.landscape import entry as places
from dprl.landscape.compute import final_regret
from dprl.landscape.entry import DECADES, absent, paper, year
from dprl.landscape.gather import added, gather_landscape
from dprl.landscape.rows import TRUSTS, all_rows, in_table, users_words
from dprl.learners import ALGORITHMS
from dprl.learners.tabular.private_ucb_vi import UNCOVERED
from dprl.privacy import MECHANISMS
from dprl.simulation import RunSpec
from dprl.simulation.pairs import uncovered
from dprl.tables import csv
from pages.landscape.views import shown_columns
from pages.shared.results.bundled import asset, path_of

AGAIN = "python -m bench.bundled landscape"
PRIVATE = [learner for learner in ALGORITHMS.values() if set(learner.privacies) - {"none"}]
PLAIN = Entry("dp-ucbvi", "central", "anytime", True)
TINY = PROBLEMS["random-tiny"]


@pytest.fixture(scope="module")
def table() -> Landscape:
    return Landscape.from_dict(asset("landscape"))


def test_every_private_learner_is_there_or_refused_with_a_sentence(table: Landscape) -> None:
    assert set(table.entries) == {entry.key for entry in entries()}, AGAIN
    named = {(entry.learner, entry.privacy) for entry in table.entries.values()}
    for learner in PRIVATE:
        for trust in TRUSTS:
            assert ((learner.key, trust) in named) != bool(absent(trust).get(learner.key))
    assert {key for _, key in table.cells} == set(PROBLEMS)
    assert set(table.cells) == {(entry, problem) for entry in table.entries for problem in PROBLEMS}
    for cell in table.cells.values():
        assert {*map(int, cell.at), *cell.refused} == set(table.users)
        assert all(why.endswith(".") and " " in why for why in cell.refused.values())
        assert cell.regret.shape == ((SEEDS, len(cell.at)) if len(cell.at) else (0, 0))


@pytest.mark.parametrize(
    ("entry", "problem"),
    [(PLAIN, "random-tiny"), (Entry("ucrl-vtr", "local", "anytime", True), "linear-mixture")],
    ids=["dp-ucbvi", "ucrl-vtr"],
)
def test_a_bundled_cell_is_what_the_engine_says_today(table: Landscape, entry: Entry, problem: str) -> None:
    cell = table.cells[entry.key, problem]
    for place in (0, 2):
        spec = entry.spec(PROBLEMS[problem], int(cell.at[place]))
        assert final_regret(spec) == pytest.approx(cell.regret[:, place], rel=1e-4), AGAIN


def test_every_run_proves_the_same(table: Landscape) -> None:
    for (key, _), cell in table.cells.items():
        if table.entries[key].privacy == "none" or not len(cell.at):
            assert cell.proved is None
            continue
        assert cell.proved is not None
        pure = cell.proved.mechanism == MECHANISMS["unary"].title  # which needs no delta
        assert cell.proved.claimed == (BUDGET[0], 0.0 if pure else BUDGET[1])
        assert 0.99 * BUDGET[0] <= cell.proved.epsilon <= BUDGET[0]
        assert cell.proved.delta <= BUDGET[1]


def test_the_table_comes_back_whole(table: Landscape) -> None:
    assert lines_of(json.loads(json.dumps(table.to_dict()))) == path_of("landscape").read_text(
        encoding="utf-8"
    )
    assert path_of("landscape").stat().st_size < 600_000


def test_users_needed_lie_where_the_bundled_regret_crosses(table: Landscape) -> None:
    for cell in table.cells.values():
        if not len(cell.at):
            assert math.isnan(cell.needed[0])
            continue
        lost = cell.regret.mean(axis=0) / cell.at / cell.v_star
        needed, low, high = cell.needed
        above = cell.at[lost > TARGET]
        if math.isinf(needed):
            assert lost[-1] > TARGET
        else:
            assert (above.max() if len(above) else cell.at[0]) <= needed <= cell.at[-1]
            assert low <= needed <= high


def test_the_crossing_of_a_planted_curve_is_found_and_what_never_comes_is_beyond(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gather, "all_bounds", lambda problems, users: iter(()))
    asked: list[int] = []

    def planted(specs: Sequence[RunSpec]) -> dict[RunSpec, np.ndarray]:
        asked.extend(spec.episodes for spec in specs)
        v_star = 1.0
        return {s: np.full(SEEDS, v_star * s.episodes * min(1.0, (1e6 / s.episodes) ** 0.5)) for s in specs}

    found = gather_landscape(planted, [TINY], [PLAIN])
    (cell,) = found.cells.values()
    wanted = 1e6 / (TARGET * cell.v_star) ** 2
    assert cell.needed == pytest.approx((wanted,) * 3, rel=1e-6)
    assert len(asked) <= len(DECADES) + 4
    never = gather_landscape(
        lambda specs: {s: np.full(SEEDS, 1.0 * s.episodes) for s in specs}, [TINY], [PLAIN]
    )
    (cell,) = never.cells.values()
    assert cell.needed == (math.inf,) * 3
    assert "beyond 10¹⁵ users" in users_words(cell)
    at_once = gather_landscape(lambda specs: {s: np.zeros(SEEDS) for s in specs}, [TINY], [PLAIN])
    (cell,) = at_once.cells.values()
    assert cell.needed[0] == DECADES[0]
    assert "or fewer" in users_words(cell)


def test_a_learner_that_is_added_is_computed_alone(table: Landscape, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest stays as it was, and the order is that of a table made anew. Lower bounds have tests of their own."""
    monkeypatch.setattr(gather, "all_bounds", lambda problems, users: table.lower.values())
    asked: list[RunSpec] = []

    def planted(specs: Sequence[RunSpec]) -> dict[RunSpec, np.ndarray]:
        asked.extend(specs)
        return {s: np.full(SEEDS, 1.0) for s in specs}

    mine = [key for key in table.entries if key.startswith("ucrl-vtr:")]
    cells = {key: cell for key, cell in table.cells.items() if key[0] not in mine}
    kept = {key: entry for key, entry in table.entries.items() if key not in mine}
    fewer = Landscape(table.version, table.users, kept, cells, table.paper_noise)
    found = added(fewer, planted)
    assert {spec.algorithm for spec in asked} == {"ucrl-vtr"}
    assert list(found.entries) == list(table.entries)
    assert list(found.cells) == list(table.cells)
    assert all(found.cells[key] is cell for key, cell in cells.items())
    assert added(table, planted).to_dict() == table.to_dict()


def test_what_takes_too_long_is_said_and_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MOST_SECONDS", 1e-9)
    spec, why = PLAIN.checked(TINY, 1000)
    assert spec is None
    assert why.startswith("too slow: 6 seeds would take")
    spec, why = Entry("ucrl-vtr", "central", "anytime", True).checked(TINY, 1000)
    assert spec is None
    assert "known features" in why


def test_each_has_a_year_and_a_bound_of_its_own_trust() -> None:
    for learner in PRIVATE:
        assert 2010 <= (year(learner) or 0) <= 2100, learner.source
        assert not any(short in paper(learner) for short in ("QW23", "V20", "B25", "L21"))
    found = {entry.key: bound_of(entry) for entry in entries() if entry.default}
    assert {b.model for b in found.values() if b} <= set(TRUSTS)
    keys = {key: bound.key if bound else "" for key, bound in found.items()}
    assert keys["dp-ucbvi:central:anytime"] == "dp-ucbvi-jdp"
    assert keys["dp-ucbvi:local:anytime"] == "dp-ucbvi-ldp"
    assert keys["dp-ucbvi:shuffle:anytime"] == ""
    assert keys["pucb:central:anytime"] == "pucb"
    assert keys["sdp-pe:shuffle:practical"] == "sdp-pe"


def test_constants_are_those_by_default_or_the_papers(table: Landscape) -> None:
    usual, papers = (rows(table, "clinic", 10**9, paper) for paper in (False, True))
    assert {row.entry.bonus for row in papers} == {"paper"}
    assert all(row.entry.default for row in usual)
    missing = {r.entry.learner for r in usual} - {r.entry.learner for r in papers}
    assert {(r.entry.learner, r.entry.privacy) for r in usual if r.entry.learner not in missing} == {
        (r.entry.learner, r.entry.privacy) for r in papers
    }
    assert not missing


def test_a_row_says_what_its_bonus_does_not_cover_of_the_noise(table: Landscape) -> None:
    """Of the run that the row is of; on the page in the column of notes, and looked at closely."""
    short = set()
    for papers in (False, True):
        found = rows(table, "clinic", 10**9, papers)
        notes = shown_columns(found)["so"].tolist()
        for row, note in zip(found, notes, strict=True):
            said = ""
            if not row.why:
                spec = row.entry.spec(PROBLEMS["clinic"], 10**9)
                said = uncovered(spec.algorithm, spec.privacy, spec.calibration, spec.bonus)
            assert ("our reconstruction" in note) == ALGORITHMS[row.entry.learner].reconstructed
            assert ("optimism not proved" in note) == bool(said) == (UNCOVERED in row.claimed)
            short |= {row.entry.key} if said else set()
    assert short == {"private-ucb-vi:central:paper", "private-ucb-vi:local:paper"}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_row_names_the_mechanism_of_its_runs_and_whose_reports_a_count_has(
    table: Landscape, problem: str
) -> None:
    """On the page, too: with no trusted party learners do not have the same, and lines differ by it."""
    for papers in (False, True):
        found = rows(table, problem, 10**9, papers)
        for row, named in zip(found, shown_columns(found)["mechanism"], strict=True):
            assert named == row.mechanism
            if row.cell.why:
                assert not named
                continue
            spec = row.entry.spec(PROBLEMS[problem], int(row.cell.at[-1]))
            assert named.partition(",")[0] == MECHANISMS[str(spec.mechanism)].title.partition(",")[0]
            assert named.endswith("only reports of who played") == (spec.reports == "played")


def test_the_csv_has_every_learner_problem_and_k(table: Landscape) -> None:
    found = pd.read_csv(StringIO(csv(all_rows(table))))
    assert tuple(found.columns) == COLUMNS
    assert len(found) == sum(map(in_table, table.entries.values())) * len(PROBLEMS) * len(table.users)
    assert (found["regret (median)"].isna() == found["why not"].notna()).all()
    one = found[(found.learner == "DP-UCBVI") & (found.trust == "Local (LDP)") & (found.K == 10**9)]
    one = one[(one.problem == "Clinic") & (one.constants == "anytime bonus")]
    cell = table.cells["dp-ucbvi:local:anytime", "clinic"]
    regret = np.median(cell.regret[:, cell.at.tolist().index(1e9)])
    assert one["regret (median)"].item() == pytest.approx(regret)
    assert one["share of K V* lost"].item() == pytest.approx(regret / 1e9 / cell.v_star)


def test_the_terminal_says_it_of_every_problem_and_trust(table: Landscape) -> None:
    said = terminal_text(table)
    assert all(problem.title in said for problem in PROBLEMS.values())
    assert said.count("Local (LDP)") == len(PROBLEMS)
    assert "LSVI-UCB: local is an open question" in said
