"""Stages of policy elimination, and what all loops do alike: the same bits compiled, plain and in any slices."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dprl import ALGORITHMS, ENVIRONMENTS, RunSpec, SpecError
from dprl.learners.elimination import eliminator, sdp_pe
from dprl.mdp import planning
from dprl.mdp.tabular import Array
from dprl.simulation import EliminationRun, start, trace_from_bytes
from dprl.simulation.loops import LOOPS
from tests.problems import PAIRS, RELAXED, STAGED, loop
from tests.simulation import test_trace
from tests.simulation.test_trace import finished, same_bits

Ints = NDArray[np.int64]
S, A, H = 2, 2, 3


def spec_of(algorithm: str, privacy: str, **changes: Any) -> RunSpec:
    given = {"environment_params": {"S": S, "A": A, "H": H, "seed": 4}, "episodes": 10**8}
    return test_trace.spec_of(
        algorithm, privacy, **given | {"calibration": "paper", "bonus": "paper"} | changes
    )


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.integers(1, 1000) | st.integers(1, 10**15), st.integers(1, 10**4))
@example(24, 12)
@example(25, 12)
@example(10**15, 1)
def test_stages_take_every_user_once(K: int, tuples: int) -> None:
    """L_b = 2^b, twice each; the last stage takes what is left, and at most one user is left over."""
    found = eliminator.stages(K, tuples)
    if 2 * tuples > K:
        assert found == []
        return
    lengths = [stage.length for stage in found]
    assert 0 <= K - 2 * sum(lengths) <= 1
    assert all(stage.each == stage.length // tuples >= 1 for stage in found)
    first = 2 ** max((tuples - 1).bit_length(), 1)  # the shortest that gives every tuple a user
    if len(found) > 1:
        assert lengths[:-1] == [first * 2**i for i in range(len(found) - 1)]
        assert 2 * lengths[-2] <= lengths[-1] < 6 * lengths[-2]  # no other stage would have fitted
    else:
        assert lengths[0] >= tuples
        assert lengths[0] < 3 * first


@pytest.mark.usefixtures("nothing_proved")
@pytest.mark.parametrize("K", [24, 25, 26, 50, 97, 1000, 12_345, 10**6 + 1])
def test_runs_of_any_length_play_every_user(K: int) -> None:
    for algorithm, privacy in [*STAGED, *RELAXED]:
        trace = finished(EliminationRun(spec_of(algorithm, privacy, episodes=K), 0))
        assert trace.complete
        assert trace.episodes[-1] == K


def test_too_few_users_for_a_stage_are_refused() -> None:
    for K in (1, 23):
        with pytest.raises(SpecError, match="at least 24") as error:
            spec_of("apeve", "none", episodes=K)
        assert error.value.field == "episodes"


class Watched(EliminationRun):
    """A run that notes who played what, and what was released."""

    def __init__(self, spec: RunSpec, seed: int) -> None:
        super().__init__(spec, seed)
        self.played: list[tuple[int, int, Ints]] = []  # index of the policy, users, start states
        self.batch_counts: list[Array] = []
        self.batch_released: list[Array] = []
        self.active_before: list[NDArray[np.bool_]] = []
        sample = self._kernels.sample

        def noted(rng: Any, model: Any, policy: Ints, users: int, *rest: Any) -> None:
            sample(rng, model, policy, users, *rest)
            which = int(np.flatnonzero((self.listed.policies == policy).all((1, 2)))[0])
            self.played.append((which, users, rest[1].copy()))

        self._kernels = self._kernels._replace(sample=noted)

    @property
    def listed(self) -> sdp_pe.ListedElimination:
        assert isinstance(self.learner, sdp_pe.ListedElimination)
        return self.learner

    def bound(self, batch: int) -> float:
        return float(self.noise.bound[self._row(batch)])

    def _release(self, counts: Array, batch: int) -> tuple[Array, Array]:
        noisy, released = super()._release(counts, batch)
        self.batch_counts.append(counts.copy())
        self.batch_released.append(released.copy())
        self.active_before.append(self.listed.active.copy())
        return noisy, released


@pytest.mark.usefixtures("nothing_proved")
@pytest.mark.parametrize(("algorithm", "privacy"), STAGED)
def test_sizes_depend_on_k_alone(algorithm: str, privacy: str) -> None:
    """Other users, other environments, other policies: the same batches and the same users in each."""
    runs = []
    for environment_seed, seed in ((4, 0), (4, 1), (11, 2)):
        params = {"S": S, "A": A, "H": H, "seed": environment_seed}
        runs.append(Watched(spec_of(algorithm, privacy, environment_params=params), seed))
        finished(runs[-1])
    first = runs[0]
    assert len({tuple(which for which, _, _ in run.played) for run in runs}) > 1  # they did play otherwise
    for run in runs:
        assert run.batches == first.batches
        assert [users for _, users, _ in run.played] == [users for _, users, _ in first.played]
        np.testing.assert_array_equal(run.noise.std, first.noise.std)
        # each batch has the users it was promised, and every user is in at most one
        assert [int(c[..., S][0].sum()) for c in run.batch_counts] == [batch.users for batch in run.batches]
        assert sum(users for _, users, _ in run.played) == run.spec.episodes
        for counts in run.batch_counts:
            assert (counts[..., S].sum((1, 2)) == counts[0, ..., S].sum()).all()
            np.testing.assert_array_equal(counts[..., :S].sum(-1), counts[..., S])
            np.testing.assert_array_equal(counts[..., :S].sum((1, 2))[:-1], counts[..., S].sum(-1)[1:])
    # a crude batch of S A each users releases one layer's n and m, a fine one all
    users = [batch.users for batch in first.batches]
    for b, stage in enumerate(first.stages):
        assert users[b * (H + 1) : (b + 1) * (H + 1)] == [S * A * stage.each] * H + [H * S * A * stage.each]
        assert [x.raised for x in first.batches[b * (H + 1) : (b + 1) * (H + 1)]] == [2] * H + [3 * H]


@pytest.mark.usefixtures("nothing_proved")
@pytest.mark.parametrize(("algorithm", "privacy"), STAGED)
def test_regret_is_that_of_the_policies_played(algorithm: str, privacy: str) -> None:
    run = Watched(spec_of(algorithm, privacy), 3)
    trace = finished(run)
    best = planning.optimum(run.mdp).V[0]
    lost = np.array([best - planning.policy_values(run.mdp, policy)[0] for policy in run.listed.policies])
    users = np.cumsum([count for _, count, _ in run.played])
    each = np.array([starts @ lost[which] for which, _, starts in run.played])
    at = np.searchsorted(users, trace.episodes)
    np.testing.assert_array_equal(users[at], trace.episodes)
    np.testing.assert_allclose(trace.regret, each.cumsum()[at], rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(
        trace.gap, [lost[run.played[i][0]] @ run.mdp.d1 for i in at], rtol=0, atol=1e-12
    )
    for j, alpha in enumerate(trace.pac_alpha):
        worse = np.cumsum([int(starts[lost[which] > alpha].sum()) for which, _, starts in run.played])
        np.testing.assert_array_equal(trace.pac_count[:, j], worse[at])
    assert trace.v_star == pytest.approx(run.mdp.d1 @ best)


@pytest.mark.usefixtures("nothing_proved")
def test_what_stood_in_memory_before_is_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of("sdp-pe", "shuffle")
    usual = finished(EliminationRun(spec, 0))
    monkeypatch.setattr(np, "empty_like", lambda array: np.full(array.shape, np.nan))
    same_bits(usual, finished(EliminationRun(spec, 0)))


# --- what B25 claims, with its own constants: C = 1, C1 = 6

# seeds of `random` with S = A = 2, H = 3 whose best suboptimal policy loses at least 0.05
WITH_A_GAP = (1, 3, 4, 6, 10, 11, 13, 14, 15, 17, 20, 24, 28, 34, 41, 43, 47, 49, 51, 52, 54, 60, 62, 64, 66)


@cache
def losses(environment_seed: int) -> Array:
    """[64] V* - V^pi of every policy."""
    mdp = ENVIRONMENTS["random"].make(S=S, A=A, H=H, seed=environment_seed)
    V = [planning.policy_values(mdp, policy) for policy in sdp_pe.all_policies(H, S, A)]
    values = np.array([planning.start_value(mdp, v) for v in V])
    return np.asarray(values.max() - values)


LOCK: dict[str, Any] = {"stages": 2, "drugs": 2, "symptoms": 2, "H": 4}
LINEAR: dict[str, dict[str, Any]] = {
    "regress": {"environment": "linear-mixture", "environment_params": {"d": 3, "S": 3, "H": 4}},
    "batches": {"environment": "linear-mdp", "environment_params": LOCK},
}
LEARNERS = [key for key in ALGORITHMS if loop(key) in LINEAR]
PAPER = {"calibration": "paper", "bonus": "paper"}
WAYS: dict[str, list[dict[str, Any]]] = {
    "regress": [
        {"privacy": "none", "schedule": "episodic", "episodes": 40},
        {"privacy": "central", "episodes": 10**12},
        {"privacy": "central", "episodes": 10**12, **PAPER},
        {"privacy": "local", "schedule": "geometric:0.5", "episodes": 10**10},
    ],
    "batches": [
        {"privacy": "none", "episodes": 2000},
        {"privacy": "central", "episodes": 10**7},
        {"privacy": "central", "mechanism": "laplace-tree", "delta": 0.0, "episodes": 10**8},
        {"privacy": "central", "episodes": 10**6, **PAPER},
    ],
}
NOISY = {"regress": ["paper"], "batches": ["anytime", "paper"]}  # bonuses


def spec(key: str, **given: Any) -> RunSpec:
    return RunSpec(**{"episodes": 10**6, "seeds": 1} | LINEAR[loop(key)] | given, algorithm=key)


def begun(asked: RunSpec, seed: int, **how: Any) -> Any:
    run: Any = LOOPS[loop(asked.algorithm)]
    return run(asked, seed, **how)


@pytest.mark.usefixtures("nothing_proved")  # neither is told how the loop is played
@pytest.mark.parametrize(("key", "way"), [(key, way) for key in LEARNERS for way in WAYS[loop(key)]])
def test_compiled_and_plain_python_give_the_same_bits(key: str, way: dict[str, Any]) -> None:
    """Of learners on counts: test_trace.py."""
    same_bits(*(finished(begun(spec(key, **way), 5, plain=plain)) for plain in (False, True)))


RUNS = {
    **{f"{a} {p}": test_trace.spec_of(a, p, episodes=10**6) for a, p in PAIRS},
    **{f"{a} {p}": spec_of(a, p) for a, p in [*STAGED, ("apeve-relaxed", "none")]},
    **{key: spec(key, privacy="central") for key in LEARNERS},
}


@pytest.mark.usefixtures("nothing_proved")
@pytest.mark.parametrize("name", RUNS)
def test_slices_change_no_bits_and_what_there_is_on_the_way_is_the_beginning(name: str) -> None:
    whole, sliced = start(RUNS[name], 0), start(RUNS[name], 0)
    assert whole.advance(1e9)
    all_of_it: Any = whole.trace()
    empty: Any = sliced.trace()
    assert not empty.complete
    assert len(empty.episodes) == len(empty.detail_episodes) == 0
    shares, seen = [0.0], []
    while not sliced.advance(1e-9):  # however short the time, some work is done
        shares.append(sliced.progress)
        seen.append(sliced.curve()[2:])
        assert len(shares) < 10_000
        if len(shares) in (2, 4, 20):  # cancelled here, it would leave this
            partial: Any = sliced.trace()
            again: Any = trace_from_bytes(partial.to_bytes())
            assert not partial.complete
            assert not again.complete
            assert len(partial.episodes) < len(all_of_it.episodes)
            np.testing.assert_array_equal(partial.episodes, seen[-1][0])
            np.testing.assert_array_equal(again.regret, partial.regret)
            assert {len(values) for values in partial.series.values()} <= {len(partial.detail_episodes)}
    assert len(shares) > 3
    assert shares == sorted(shares)
    assert sliced.progress == 1.0
    same_bits(all_of_it, sliced.trace())
    for episodes, regret in seen:
        np.testing.assert_array_equal(episodes, all_of_it.episodes[: len(episodes)])
        np.testing.assert_array_equal(regret, all_of_it.regret[: len(regret)])


@pytest.mark.parametrize(("key", "bonus"), [(key, bonus) for key in LEARNERS for bonus in NOISY[loop(key)]])
def test_matrices_that_noise_makes_indefinite_are_counted_and_tell_nothing(key: str, bonus: str) -> None:
    """Their step is planned with the most that could be."""
    run = begun(spec(key, privacy="central", bonus=bonus), 0)
    told = "error" if loop(key) == "regress" else "shift"
    nothing = {told: np.zeros_like(getattr(run.setup, told))}
    run.setup = run.setup._replace(scales=run.setup.scales * 1e9, **nothing)
    trace = finished(run)
    assert trace.series["indefinite"][-1] > 20
    assert (np.diff(trace.series["indefinite"]) >= 0).all()
    assert np.isfinite(trace.Q).all()
    assert (trace.Q <= run.mdp.H).all()
