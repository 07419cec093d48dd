"""Rows that stood still: their releases are averaged as generalised least squares does, and E is what is promised."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dprl import RunSpec, SpecError
from dprl.links import decode_spec, encode_spec
from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS
from dprl.privacy.mechanisms import gaussian, optimal, stream_of_releases
from dprl.simulation import SeedRun
from dprl.simulation.prepare import noise_of_schedule
from dprl.statistics import FITTED
from dprl.statistics.still import WINDOW, average, weigh
from tests.privacy.draws import prepared, unit_noise
from tests.privacy.test_coverage import covered

APART = {"gaussian-toeplitz": gaussian.innovations, "gaussian-optimal": optimal.innovations}
SPEC = RunSpec(
    environment="random", environment_params={"S": 2, "A": 2, "H": 2}, episodes=300, consistency="still"
)


def dense(mechanism: str, releases: int) -> Array:
    """[M, M] covariance of the unit noise of all releases, from what makes it independent draws again."""
    spread = np.linalg.inv(APART[mechanism](stream_of_releases(releases), np.eye(releases)))
    return np.asarray(spread @ spread.T)


@pytest.mark.parametrize("mechanism", APART)
@pytest.mark.parametrize("releases", [1, 5, 70])
def test_weights_are_those_of_least_squares(mechanism: str, releases: int) -> None:
    whole = dense(mechanism, releases)
    asked = MECHANISMS[mechanism].covariance
    assert asked is not None
    found = asked(stream_of_releases(releases), WINDOW)
    for i in range(releases):
        back = range(min(WINDOW, i + 1))
        np.testing.assert_allclose(found[i, list(back)], [whole[i, i - k] for k in back], rtol=1e-9)
    for i in {0, releases // 2, releases - 1}:
        weights, left = np.zeros((WINDOW, WINDOW)), np.ones(WINDOW)
        weigh(i, found, weights, left)
        for L in range(min(WINDOW, i + 1)):
            at = np.arange(i, i - L - 1, -1)
            block = whole[np.ix_(at, at)]
            best = np.linalg.solve(block, np.ones(L + 1))
            np.testing.assert_allclose(weights[L, : L + 1], best / best.sum(), atol=1e-7)
            assert weights[L].sum() == pytest.approx(1)
            std = np.sqrt(weights[L, : L + 1] @ block @ weights[L, : L + 1])
            assert left[L] == pytest.approx(std / np.sqrt(whole[i, i]))
        assert (np.diff(left[: min(WINDOW, i + 1)]) <= 1e-12).all()
    if releases > WINDOW:
        assert left[WINDOW - 1] < 0.85


def test_what_is_averaged_is_what_nobody_played() -> None:
    """Against the definition: all releases since the action was last taken, at most a window of them."""
    H, S, A, B, releases = 2, 2, 2, 2, 50
    rng, shape = np.random.default_rng(0), (2, 2, 2, 4)
    covariance = optimal.covariance(stream_of_releases(releases), WINDOW)
    state = SimpleNamespace(
        sums=np.zeros(shape), readings=np.zeros((WINDOW, *shape)), rests=np.zeros((H, S, A), dtype=np.int64),
        errors=np.zeros((H, S, A)),
    )  # fmt: skip
    policies = np.where(rng.random((releases, H, S)) < 0.04, 1, 0)  # action 1 is rare
    policies[:, 0, 1] = 0
    released = rng.normal(size=(releases, *shape))
    released[:, 0, 0, 0, 1] = np.nan  # declared impossible
    for i in range(releases):
        state.policy, state.noisy = policies[i], released[i].copy()
        worst = average(i, covariance, 10.0, state)
        weights, left = np.zeros((WINDOW, WINDOW)), np.ones(WINDOW)
        weigh(i, covariance, weights, left)
        largest = 0.0
        for h, s, a in np.ndindex(H, S, A):
            taken = [j for j in range(i + 1) if j == 0 or policies[j, h, s] == a]
            L = min(i - max(taken), WINDOW - 1)
            wanted = np.tensordot(weights[L, : L + 1], released[i - L : i + 1, h, s, a][::-1], 1)
            np.testing.assert_allclose(state.noisy[h, s, a], wanted, rtol=1e-12)
            assert state.errors[h, s, a] == 10.0 * left[L]
            off = np.abs(wanted) * np.append(np.full(B + 1, 4.0), 1.0)
            largest = max(largest, np.nanmax(off) / left[L])
        assert worst == pytest.approx(largest)
    assert state.rests[0, 1, 1] == WINDOW - 1


@pytest.mark.parametrize("mechanism", APART)
def test_bounds_hold_for_every_start_at_once(mechanism: str) -> None:
    """Whichever number of releases a run comes to average over."""
    times, runs, beta = list(range(10, 410, 10)), 150, 0.5
    noise = prepared(
        "central", mechanism, "tight", times, H=3, S=2, A=2, beta=beta / WINDOW, statistic=FITTED
    )
    assert noise.mechanism is not None
    assert noise.mechanism.covariance is not None
    cells = 3 * 2 * 2 * 4
    unit = unit_noise(noise.mechanism, noise.stream, runs * cells, seed=3).reshape(-1, runs, 12, 4)
    weight = np.array([4.0, 4.0, 4.0, 1.0])  # m and n tolerate E/4, r tolerates E
    covariance = noise.mechanism.covariance(noise.stream, WINDOW)
    ratio = np.zeros(runs)
    for i in range(len(times)):
        weights, left = np.zeros((WINDOW, WINDOW)), np.ones(WINDOW)
        weigh(i, covariance, weights, left)
        for L in range(min(WINDOW, i + 1)):
            averaged = np.tensordot(weights[L, : L + 1], unit[i - L : i + 1][::-1], 1) * noise.scales
            ratio = np.maximum(ratio, (np.abs(averaged) * weight).max((1, 2)) / (left[L] * noise.bound[i]))
    assert covered(ratio, beta)
    assert not covered(2 * ratio, beta)  # the test can fail


def test_the_truth_is_in_the_ellipsoid_of_every_row() -> None:
    closest, averaged = 0.0, 0
    for seed in range(3):
        run = SeedRun(RunSpec(environment="clinic", episodes=10**5, consistency="still", seeds=1), seed)
        while not run.done:
            run.advance(0.0)
            state, size = run.state, Size(*run.mdp.size)
            m, n, r = np.split(state.released - state.counts, [-2, -1], axis=-1)
            for h, (stretch, tau2, rho2) in enumerate(run.noise.statistic.ellipsoids(size)):  # type: ignore[attr-defined]
                length = (m[h] ** 2).sum(-1) + (n[h] ** 2 / tau2 + r[h] ** 2 / rho2)[..., 0]
                closest = max(closest, float((np.sqrt(length) / (stretch * state.errors[h])).max()))
            averaged += int((state.rests > 3).sum())
        assert run.record.ratio.max() <= 1
    assert averaged > 100
    assert 0.4 < closest <= 1


def test_compiled_and_plain_runs_have_the_same_bits() -> None:
    first, second = SeedRun(SPEC, 0), SeedRun(SPEC, 0, plain=True)
    for run in (first, second):
        run.advance(60.0)
    np.testing.assert_array_equal(first.state.released, second.state.released)
    np.testing.assert_array_equal(first.state.errors, second.state.errors)
    np.testing.assert_array_equal(first.record.regret, second.record.regret)
    assert first.state.rests.max() > 0


def test_it_costs_no_privacy_and_a_twelfth_of_e() -> None:
    still, own = (noise_of_schedule(RunSpec(consistency=key), 10**9) for key in ("still", "own"))
    np.testing.assert_array_equal(still.scales, own.scales)
    assert still.guarantee().readings == own.guarantee().readings
    assert still.guarantee().ladder == own.guarantee().ladder
    assert "averaged over releases" in still.guarantee().where
    np.testing.assert_allclose(still.radius() / own.radius(), 1.084, atol=0.001)


def test_it_is_written_where_it_is_chosen_and_refused_where_it_has_no_proof() -> None:
    plain, still = RunSpec(), RunSpec(consistency="still")
    assert RunSpec.from_json(still.to_json()) == still
    assert decode_spec(encode_spec(still))[0] == still
    assert still.seed_key(0) not in (plain.seed_key(0), RunSpec(consistency="flow").seed_key(0))
    assert still.twin() == plain.twin()
    assert RunSpec(consistency="still", structure="environment").consistency == "still"
    for given in ({"privacy": "local"}, {"bonus": "paper"}, {"mechanism": "gaussian-tree"}):
        with pytest.raises(SpecError, match=r"still is for the anytime bonus .*; give own") as refused:
            RunSpec(**given, consistency="still")  # type: ignore[arg-type]
        assert refused.value.field == "consistency"
