"""Registered environments: what each must do, tables, and optimal values by counting, searching or a formula.

None of those values needs dynamic programming. Gymnasium and uploads have files of their own.
"""

from __future__ import annotations

from collections import deque
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

from dprl import ENVIRONMENTS, RunSpec, TabularMDP
from dprl.fields import check_params
from dprl.mdp import planning
from dprl.testing import check_environment
from tests.problems import refused, small_params
from tests.simulation.test_spec import params


@pytest.mark.parametrize("key", ENVIRONMENTS)
def test_contract(key: str) -> None:
    """See dprl/testing; and figures have a place for each state of a grid."""
    environment = ENVIRONMENTS[key]
    assert check_environment(environment) == ("record", "models")
    for chosen in ({}, small_params(key)):
        mdp = environment.make(**check_params("p", key, environment.fields, chosen))
        assert all(label and label.isprintable() for label in (*mdp.state_labels, *mdp.action_labels))
        assert mdp.drawing["kind"] in ("chain", "grid", "graph")
        if mdp.drawing["kind"] == "grid":
            cells = {tuple(cell) for cell in mdp.drawing["cells"]}
            assert len(cells) == mdp.S - ("end" in mdp.state_labels)
            rows, columns = mdp.drawing["rows"], mdp.drawing["columns"]
            assert all(0 <= r < rows and 0 <= c < columns for r, c in cells)
            assert {tuple(map(int, place.split(","))) for place in mdp.drawing["marks"]} <= cells
            assert len(mdp.drawing["moves"]) == mdp.A


@pytest.mark.parametrize("key", [key for key in ENVIRONMENTS if key not in ("gymnasium", "custom")])
def test_any_allowed_parameters_make_an_mdp(key: str) -> None:
    """Rows that sum to 1 and rewards from 0 to 1 are checked where an MDP is made."""
    environment = ENVIRONMENTS[key]

    @settings(max_examples=60)
    @given(params(environment.fields))
    def check(chosen: dict[str, Any]) -> None:
        mdp = environment.make(**chosen)
        np.testing.assert_allclose(mdp.P.sum(-1), 1.0, rtol=0, atol=1e-12)
        given = check_params("p", key, environment.fields, chosen)
        assert environment.size(**given)[:3] == (mdp.S, mdp.A, mdp.H)
        best = planning.start_value(mdp, planning.optimum(mdp).V)
        assert 0 <= best <= mdp.H * (1 + 1e-9)

    check()


@pytest.mark.parametrize(
    ("variant", "first", "middle", "last", "small"),
    [
        ("osband", [0.4, 0.6], [0.05, 0.6, 0.35], [0.4, 0.6], 0.005),
        ("strehl-littman", [0.7, 0.3], [0.1, 0.6, 0.3], [0.3, 0.7], 0.0005),
    ],
)
def test_riverswim_table(
    variant: str, first: list[float], middle: list[float], last: list[float], small: float
) -> None:
    for S in (3, 5, 9):
        mdp = ENVIRONMENTS["riverswim"].make(S=S, H=3, variant=variant)
        right, reward = np.zeros((S, S)), np.zeros((S, 2))
        right[0, :2], right[-1, -2:] = first, last
        for s in range(1, S - 1):
            right[s, s - 1 : s + 2] = middle
        reward[0, 0], reward[-1, 1] = small, 1.0
        for h in range(3):
            np.testing.assert_array_equal(mdp.P[h, :, 1], right)
            np.testing.assert_array_equal(mdp.P[h, :, 0], np.eye(S)[np.maximum(np.arange(S) - 1, 0)])
            np.testing.assert_array_equal(mdp.R[h], reward)
        np.testing.assert_array_equal(mdp.d1[:3], [1, 0, 0] if variant == "osband" else [0, 0.5, 0.5])
        assert mdp.bernoulli


def test_random_mdps_follow_their_seed_and_concentration() -> None:
    make = ENVIRONMENTS["random"].make
    assert not np.array_equal(make(seed=1).P, make(seed=2).P)
    assert not np.array_equal(make(seed=1).R, make(seed=2).R)
    # the largest chance of a row: nearly 1 for a small concentration, nearly 1/S for a large one
    assert make(concentration=0.01, S=20, A=20).P.max(-1).mean() > 0.9
    assert make(concentration=100.0, S=20, A=20).P.max(-1).mean() < 0.1


def test_the_linear_mdp_is_linear_in_its_features() -> None:
    """QW23-offline Appendix F, with features of norm at most 1, which the sensitivities need."""
    entry = ENVIRONMENTS["linear-synthetic"]
    assert entry.features is not None
    mdp, phi = entry.make(A=100, H=20, seed=3), entry.features(A=100, H=20, seed=3)
    norms = np.linalg.norm(phi, axis=-1)
    assert norms.max() == pytest.approx(1)
    assert norms.min() == pytest.approx(7**-0.5)  # action 0 has no bit: delta alone
    assert np.linalg.matrix_rank(phi.reshape(-1, 10)) == 9  # 99 has seven bits
    flat = phi.reshape(-1, 10)
    for h in range(mdp.H):
        for table in (mdp.R[h].ravel(), mdp.P[h, ..., 0].ravel()):
            weights = np.linalg.lstsq(flat, table, rcond=None)[0]
            np.testing.assert_allclose(flat @ weights, table, atol=1e-12)
    # by hand: from state 0 action 0 and from state 1 any other have delta = 1
    np.testing.assert_array_equal(mdp.P[5, 0, 0], mdp.P[5, 1, 42])
    np.testing.assert_array_equal(mdp.P[5, 1, 0], mdp.P[5, 0, 42])
    assert len({*mdp.R[5, 0, [1, 4, 16, 64]]}) == 1  # r/8 more than action 2, of bit 1
    r = 8 * (mdp.R[5, 0, 1] - mdp.R[5, 0, 2])
    assert mdp.R[5, 0, 2] == pytest.approx(0.5 - r / 2)  # delta = 0
    assert mdp.R[5, 0, 8] == pytest.approx(1 - r)  # and bit 3
    assert mdp.R[5, 0, 0] == pytest.approx(r / 2)  # delta = 1
    assert not mdp.bernoulli


chain, gridworld = ENVIRONMENTS["chain"].make, ENVIRONMENTS["gridworld"].make
clinic, hard = ENVIRONMENTS["clinic"].make, ENVIRONMENTS["hard-jdp"].make


def best(mdp: TabularMDP) -> float:
    return planning.start_value(mdp, planning.optimum(mdp).V)


# the combination lock


@pytest.mark.parametrize(("S", "A", "H"), [(2, 2, 1), (2, 3, 6), (3, 2, 9), (4, 5, 10), (6, 3, 11)])
@pytest.mark.parametrize("slip", [0.0, 0.1, 0.5, 1.0])
def test_lock_opens_after_a_run_of_successes(S: int, A: int, H: int, slip: float) -> None:
    """Over all sequences of successes and failures: the lock pays from the step after S - 1 successes in a row."""
    value = 0.0
    for tries in product((True, False), repeat=H - 1):
        chance = np.prod([1 - slip if success else slip for success in tries])
        run, opened = 0, None
        for h, success in enumerate(tries):
            run = run + 1 if success else 0
            if run == S - 1 and opened is None:
                opened = h + 1
        value += float(chance) * (H - opened if opened is not None else 0)
    mdp = chain(S=S, A=A, H=H, slip=slip)
    assert best(mdp) == pytest.approx(value, abs=1e-12)
    # one action opens each digit, and no other does
    for s in range(S - 1):
        moves = mdp.P[0, s, :, s + 1]
        assert moves[(2 * s + 1) % A] == 1 - slip
        assert np.delete(moves, (2 * s + 1) % A).max(initial=0.0) == 0


# the lower bound's instances


@pytest.mark.parametrize(
    ("n", "m", "alpha", "H"), [(1, 1, 0.1, 2), (2, 2, 0.1, 5), (7, 3, 0.5, 9), (5, 4, 0.0, 1)]
)
def test_hard_instances(n: int, m: int, alpha: float, H: int) -> None:
    """+ pays in each of the H - 1 steps after the arm; the best arm leads there w.p. 1/2 + alpha, or arm 0's."""
    for seed in range(20):
        mdp = hard(n=n, m=m, alpha=alpha, H=H, seed=seed)
        up = mdp.P[0, :n, :, n]
        np.testing.assert_allclose(up + mdp.P[0, :n, :, n + 1], 1.0)
        np.testing.assert_allclose(up[:, 0], 0.5 + alpha / 2)
        better = np.isclose(up[:, 1:], 0.5 + alpha) if alpha > 0 else np.zeros((n, m), dtype=bool)
        assert (better.sum(1) <= 1).all()
        np.testing.assert_allclose(up[:, 1:][~better], 0.5)
        each = np.where(better.any(1), 0.5 + alpha, 0.5 + alpha / 2)
        assert best(mdp) == pytest.approx((H - 1) * each.mean())
        np.testing.assert_allclose(mdp.d1[:n], 1 / n)


def test_better_arms_are_drawn_from_all_arms_and_none() -> None:
    """I_s uniform on 0..m."""
    mdp = hard(n=100, m=4, alpha=0.2, H=2, seed=1)
    better = np.isclose(mdp.P[0, :100, 1:, 100], 0.7)
    arms = np.where(better.any(1), better.argmax(1) + 1, 0)
    assert stats.chisquare(np.bincount(arms, minlength=5)).pvalue > 1e-4
    other = hard(n=100, m=4, alpha=0.2, H=2, seed=2)
    assert not np.array_equal(mdp.P, other.P)


# grids


def shortest(rows: list[str]) -> list[int | None]:
    """Steps from each S to the nearest G by breadth-first search; pits are never left."""
    free = {(r, c): x for r, row in enumerate(rows) for c, x in enumerate(row) if x != "W"}
    found = []
    for start in (place for place, x in free.items() if x == "S"):
        steps, queue = {start: 0}, deque([start])
        while queue:
            r, c = queue.popleft()
            if free[r, c] in "GX":
                continue
            for place in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                if place in free and place not in steps:
                    steps[place] = steps[r, c] + 1
                    queue.append(place)
        goals = [n for place, n in steps.items() if free[place] == "G"]
        found.append(min(goals, default=None))
    return found


def test_without_slips_the_way_is_the_shortest() -> None:
    rng = np.random.default_rng(0)
    reached = 0
    for _ in range(60):
        shape = tuple(rng.integers(1, 7, 2))
        letters = rng.choice(list("---WXGS"), size=shape)
        letters[rng.integers(shape[0]), rng.integers(shape[1])] = "S"
        rows = ["".join(row) for row in letters]
        H = int(rng.integers(1, 15))
        steps = shortest(rows)
        expected = np.mean([max(H - n, 0) if n is not None else 0 for n in steps])
        mdp = gridworld(map="/".join(rows), H=H, slip=0.0)
        assert best(mdp) == pytest.approx(float(expected)), rows
        assert mdp.S == sum(row.count(x) for row in rows for x in "-XGS")
        reached += int(expected > 0)
    assert reached > 15


def test_a_slip_goes_sideways() -> None:
    """S- / -G, numbered 0 1 / 2 3: right from 0 slips up (held back by the edge) or down."""
    mdp = gridworld(map="S-/-G", H=1, slip=0.2)
    up, right, down, left = (mdp.action_labels.index(name) for name in ("up", "right", "down", "left"))
    np.testing.assert_allclose(mdp.P[0, 0, right], [0.1, 0.8, 0.1, 0.0])
    np.testing.assert_allclose(mdp.P[0, 0, up], [0.9, 0.1, 0.0, 0.0])
    np.testing.assert_allclose(mdp.P[0, 0, down], [0.1, 0.1, 0.8, 0.0])
    np.testing.assert_allclose(mdp.P[0, 0, left], [0.9, 0.0, 0.1, 0.0])
    np.testing.assert_array_equal(mdp.P[0, 3], np.tile([0, 0, 0, 1], (4, 1)))
    np.testing.assert_array_equal(mdp.R[0], [[0] * 4, [0] * 4, [0] * 4, [1] * 4])
    # a slip of 1 only goes sideways
    np.testing.assert_allclose(gridworld(map="S-/-G", H=1, slip=1.0).P[0, 0, up], [0.5, 0.5, 0.0, 0.0])


def test_cells_have_their_places_as_labels_and_letters_as_marks() -> None:
    mdp = gridworld(map="SW/X-", H=3, slip=0.0)
    assert mdp.state_labels == ("(0, 0)", "(1, 0)", "(1, 1)")
    assert mdp.drawing["marks"] == {"0,0": "S", "1,0": "X"}


@pytest.mark.parametrize(
    "text",
    ["", "/", "S/", "/S", "S-/-", "-G", "WWW", "S-/-g", "s", "S G", "S\n-", "S-//-G", "S🙂", "S\x00", "S," , "S-/WG/X",
     "-" * 9999, "S" * 10_001, "S" + "/S" * 10**6, "S" * 50_000_000],
    ids=lambda text: repr(text[:12]),
)  # fmt: skip
def test_bad_maps_are_refused_in_a_sentence(text: str) -> None:
    for attempt in (
        lambda: gridworld(map=text),
        lambda: RunSpec(environment="gridworld", environment_params={"map": text}),
    ):
        with refused("environment_params.map: "):
            attempt()


# the clinic


def test_clinic_rows_are_what_its_words_say() -> None:
    """Three grades; moderate without side effects and with, under the largest dose and none."""
    mdp = clinic(levels=3, doses=3, H=2, effect=0.7, toxicity=0.5)
    label = mdp.state_labels.index
    well, ill = label("moderate"), label("moderate, side effects")
    high = 0.05 + 0.7 * 1 / 1.5
    row = mdp.P[0, well, 2]
    assert row[label("mild")] == pytest.approx(high * 0.5)
    assert row[label("mild, side effects")] == pytest.approx(high * 0.5)
    assert row[well] == row[ill] == pytest.approx((1 - high) * 0.5)
    # half as likely to improve, 0.15 more likely to worsen, and none the drug's effects
    row = mdp.P[0, ill, 0]
    assert row[label("mild")] == pytest.approx(0.025)
    assert row[label("severe")] == pytest.approx(0.25)
    assert row[well] == pytest.approx(0.725)
    assert mdp.P[0, label("mild"), 0, label("recovered")] == pytest.approx(0.05)
    assert mdp.P[0, label("severe"), 0, label("relapsed")] == pytest.approx(0.1)
    np.testing.assert_allclose(mdp.R[0, :, 0], [0.4, 0.3, 0.2, 0.1, 0.0, 0.0, 1.0, 0.0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(mdp.d1, [0, 0, 0.5, 0, 0.5, 0, 0, 0])
