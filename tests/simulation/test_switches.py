"""Learners that plan rarely: against a dense computation from the formulas, and when they look and plan."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS, RunSpec, SpecError
from dprl.learners.linear import switching
from dprl.learners.linear.confidence import Confidence
from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.simulation.loops import SwitchRun
from tests.problems import first
from tests.simulation.test_regress import finished

SMALL = {"stages": 2, "drugs": 2, "symptoms": 2, "H": 4}
RARE, PLUS = LEARNERS = ["lsvi-ucb-rare", "lsvi-ucb-plus-plus"]
W = 4.0


def spec(algorithm: str, **given: Any) -> RunSpec:
    usual: dict[str, Any] = {
        "environment": "linear-mdp", "environment_params": SMALL, "episodes": 10**6, "seeds": 1,
    }  # fmt: skip
    return RunSpec(**usual | given, algorithm=algorithm)


def proxy(low: float, high: float, square: float) -> float:
    """Bennett's two-point law, and Kearns and Saul of two values; Hoeffding's 1/4 at most."""
    off = low if low > 0 else -high if high < 0 else 0.0
    var = max(min(square, 0.25) - off**2, 0.0)
    found = [0.0]
    for b in (min(0.5 - low, 1.0), min(0.5 + high, 1.0)):
        if b > 0 and var > 0:
            p, apart = var / (b * b + var), b + var / b
            found.append(
                apart**2 * (0.25 if abs(1 - 2 * p) <= 1e-4 else (1 - 2 * p) / (2 * log((1 - p) / p)))
            )
    return min(max(found), 0.25)


class Dense:
    """Every plan of a run once more, from its users' counts, the noise that there was, and formulas alone."""

    def __init__(self, run: SwitchRun) -> None:
        self.run, self.phi, self.p = run, run.setup.features, run.spec.beta or 0.1
        H, S, A = run.mdp.H, run.mdp.S, run.mdp.A
        self.Q, self.floor = np.full((H, S, A), float(H)), np.zeros((H, S, A))
        self.worth = np.ones((H, S, A))
        self.weighted, self.before = np.zeros((H, S, A, S + 2)), np.zeros((H, S, A, S + 2))
        flat = self.phi.reshape(-1, self.phi.shape[-1])
        self.C = 0.5 / sqrt(np.linalg.eigvalsh(flat.T @ flat / len(flat))[0])

    def looked(self) -> None:
        total = self.run.state.total.copy()
        self.weighted = self.weighted + self.worth[..., None] * (total - self.before)
        self.before = total

    def told(self) -> tuple[float, float]:
        """Bounds on the noise of a matrix and of a vector, of which there is none before the first users."""
        setup, row = self.run.setup, int(self.run.state.position[6]) - 1
        if row < 0 or self.run.noise.mechanism is None:
            return 0.0, 0.0
        return float(setup.shift[row]), float(setup.pull[row])

    def interval(
        self, h: int, f: int, y: Array, constant: float, reward: float, beta: float
    ) -> tuple[Array, Array]:
        """What the mean of y(s') + constant + reward r is between, at each (s, a)."""
        run, phi = self.run, self.phi
        d, S = phi.shape[-1], run.mdp.S
        noise = run.state.noisy - run.state.sums
        shift, pull = self.told()
        m, n, r = self.weighted[h, :, :, :S], self.weighted[h, :, :, S], self.weighted[h, :, :, S + 1]
        G = np.einsum("sa,sai,saj->ij", n, phi, phi)
        u = np.einsum("sa,sai->i", m @ y + constant * n + reward * r, phi)
        np.testing.assert_allclose(run.state.sums[h, f, :, :d], G, rtol=1e-10, atol=1e-10 * run.users)
        np.testing.assert_allclose(run.state.sums[h, f, :, d], u, rtol=1e-10, atol=1e-10 * run.users)
        G, u = G + noise[h, f, :, :d], u + noise[h, f, :, d]
        low, high = np.full(run.mdp.R[h].shape, -0.5), np.full(run.mdp.R[h].shape, 0.5)
        for ridge in (0.25 + shift, 0.25):
            M = G + ridge * np.eye(d)
            if np.linalg.eigvalsh(M).min() <= 0:
                continue
            Y = phi @ np.linalg.inv(M)
            length = (Y**2).sum(-1)
            width = beta * np.sqrt((phi * Y).sum(-1) + (0.25 + shift - ridge) * length)
            width = width + (pull + (shift + ridge) * self.C) * np.sqrt(length)
            low = np.minimum(np.maximum(low, Y @ u - width), 0.5)
            high = np.maximum(np.minimum(high, Y @ u + width), -0.5)
        return low, high

    def grown(self, h: int, weight: float) -> float:
        run, d = self.run, self.phi.shape[-1]
        M = run.state.noisy[h, 0, :, :d] + (0.25 + self.told()[0]) * np.eye(d)
        most: float = d * log(1 + weight * run.users / (d * 0.25))
        if np.linalg.eigvalsh(M)[0] <= 0:
            return most
        return min(most, max(float(np.linalg.slogdet(M / 0.25)[1]), 0.0))

    def rare(self) -> None:
        run = self.run
        H, S = run.mdp.H, run.mdp.S
        V = np.zeros((H + 1, S))
        for h in reversed(range(H)):
            low, high = V[h + 1].min(), V[h + 1].max()
            unit = 1 + high - low
            middle = low + unit / 2
            beta = 0.5 * sqrt(self.grown(h, 1.0) + 2 * log(3 * H * 2 ** (S - 1) / self.p))
            _, upper = self.interval(h, 0, V[h + 1] / unit, -middle / unit, 1 / unit, beta)
            self.Q[h] = np.maximum(np.minimum(middle + unit * upper, 1 + high), low)
            V[h] = self.Q[h].max(-1)

    def plus(self) -> None:
        H, S, p = self.run.mdp.H, self.run.mdp.S, self.p
        V, low = np.zeros((H + 1, S)), np.zeros((H + 1, S))
        worth = np.ones_like(self.worth)
        for h in reversed(range(H)):
            grown, extent = self.grown(h, W), H - h - 1
            alone = sqrt(grown + 2 * log(12 * H / p))
            corner = 0.5 * sqrt(W) * sqrt(grown + 2 * log(6 * H * 2 ** (S - 1) / p))
            apart = (V[h + 1] - low[h + 1]).max()
            z, ends, beta = [], [], []
            for values in (V[h + 1], low[h + 1]):
                span = values.max() - values.min()
                z.append((values - (values.max() + values.min()) / 2) / span if span > 0 else 0 * values)
                beta.append(min(corner, (extent / 2 * alone + apart * corner) / span) if span > 0 else 0.0)
            base, top = low[h + 1].min(), V[h + 1].max()
            wide = (V[h + 1] - (base + top) / 2) / (top - base) if top > base else 0 * V[h + 1]
            square = 4 * wide**2 - 0.5 if extent else 0 * wide
            rest = 0.5 * sqrt(W) * alone
            asked = (
                (*z[:1], 0, 0, beta[0]),
                (z[1], 0, 0, beta[1]),
                (square, 0, 0, corner),
                (0 * wide, -0.5, 1, rest),
            )
            ends = [self.interval(h, f, *one) for f, one in enumerate(asked)]
            least, most = V[h + 1].min(), V[h + 1].max()
            high = np.minimum((least + most) / 2 + (most - least) * ends[0][1], most)
            down = np.maximum((base + low[h + 1].max()) / 2 + (low[h + 1].max() - base) * ends[1][0], base)
            self.floor[h] = np.maximum(self.floor[h], 0.5 + ends[3][0] + down)
            self.Q[h] = np.maximum(np.minimum(self.Q[h], 0.5 + ends[3][1] + high), self.floor[h])
            for s in range(S):
                for a in range(self.run.mdp.A):
                    if not extent:
                        worth[h, s, a] = W
                        continue
                    off = max(min(apart, high[s, a] - down[s, a]), 0.0) / (top - base)
                    under, over = ((x[s, a] - (base + top) / 2) / (top - base) for x in (down, high))
                    v = proxy(under, over, (ends[2][1][s, a] + 0.5) / 4 + off) * (top - base) ** 2
                    worth[h, s, a] = min(W, max(1.0, extent**2 / 4 / v if v > 0 else W))
            V[h], low[h] = self.Q[h].max(-1), self.floor[h].max(-1)
        self.worth = worth


@pytest.mark.parametrize("algorithm", LEARNERS)
@pytest.mark.parametrize(
    "given",
    first(
        [
            {"privacy": "none"},
            {"privacy": "central", "epsilon": 10.0, "episodes": 10**8},
            {"privacy": "central", "epsilon": 1.0, "episodes": 10**9},
        ],
        lambda given: given["privacy"],
    ),
)
def test_plans_agree_with_a_dense_computation(algorithm: str, given: dict[str, Any]) -> None:
    """To 1e-10, at each plan: with the noise that was drawn, whatever else follows from the users' counts."""
    run = SwitchRun(spec(algorithm, **given), 0)
    dense, state, checked = Dense(run), run.state, 0
    (dense.rare if algorithm == RARE else dense.plus)()
    while not run.done:
        before = int(state.position[5])
        run._simulate(1, run.spec.episodes)
        dense.looked()
        np.testing.assert_allclose(state.weighted, dense.weighted, rtol=1e-10)
        if state.position[5] == before:
            continue
        (dense.rare if algorithm == RARE else dense.plus)()
        checked += 1
        np.testing.assert_allclose(state.plan.Q, dense.Q, rtol=1e-10, atol=1e-10)
        if algorithm == PLUS:
            np.testing.assert_allclose(state.plan.floor, dense.floor, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(state.plan.worth, dense.worth, rtol=1e-9)
            dense.worth = state.plan.worth.copy()  # not to let digits add up over the run
    assert checked > 8
    cap = run.mdp.H - np.arange(run.mdp.H)[:, None, None]
    assert (cap - 0.001 > state.plan.Q).mean() > 0.1


@pytest.mark.parametrize("algorithm", LEARNERS)
@pytest.mark.parametrize("mechanism", ["gaussian-optimal", "gaussian-tree"])
def test_with_its_noise_taken_away_a_private_run_is_the_non_private_one(
    algorithm: str, mechanism: str
) -> None:
    """To the last bit, with as many looks and plans as the private one may have, at the same distances."""
    private = SwitchRun(spec(algorithm, privacy="central", mechanism=mechanism, episodes=10**8), 3)
    bare = SwitchRun(spec(algorithm, privacy="none", episodes=10**8), 3)
    limits = private.setup._asdict()
    bare.setup = bare.setup._replace(**{name: limits[name] for name in ("looks", "plans", "ridge")})
    private.setup = private.setup._replace(
        scales=np.zeros_like(private.setup.scales), constants=bare.setup.constants
    )
    state = private.state
    private.state = state._replace(noisy=state.sums, shown=state.looked)  # released with no noise to add
    private._first_plan()
    finished(private)
    finished(bare)
    assert private.state.position[0] == bare.state.position[0] > 50
    assert private.state.position[5] == bare.state.position[5] > 8
    assert private.trace().regret.tobytes() == bare.trace().regret.tobytes()
    assert private.state.plan.Q.tobytes() == bare.state.plan.Q.tobytes()


@pytest.mark.parametrize("algorithm", first(LEARNERS))
@pytest.mark.parametrize("privacy", ["none", "central"])
def test_a_policy_is_kept_while_no_direction_has_doubled_whatever_noise_does(
    algorithm: str, privacy: str
) -> None:
    """At every look: without noise exactly, and noisy matrices as docs/notes/rare-switching.md proves."""
    run = SwitchRun(spec(algorithm, privacy=privacy, episodes=10**8), 1)
    state, d, ridge = run.state, run.setup.features.shape[-1], run.setup.ridge
    planned = np.zeros((run.mdp.H, d, d))
    kept, most, least = 0, 0.0, np.inf
    while not run.done:
        before = int(state.position[5])
        run._simulate(1, run.spec.episodes)
        both = (state.looked[:, 0, :, :d] + ridge * np.eye(d), planned + ridge * np.eye(d))
        grown = max(np.linalg.eigvals(np.linalg.solve(y, x)).real.max() for x, y in zip(*both, strict=True))
        if state.position[5] == before:
            most, kept = max(most, grown), kept + 1
        else:
            least, planned = min(least, grown), state.looked[:, 0, :, :d].copy()
    assert kept > 20
    assert run.setup.plans > state.position[5] > 8
    if privacy == "none":
        assert most <= 2.0 * (1 + 1e-6)
        assert least >= 2.0 * (1 - 1e-6)
    else:
        assert most <= 8 / 3
        assert least >= 1.5


def test_looks_and_plans_are_kept_for_the_doublings_to_come() -> None:
    assert switching.plans(Size(10, 3, 10, 10), 10**9) == 299  # 10 log2(10^9)
    assert switching.looks(Size(10, 3, 10, 10), 10**9) == 2990
    assert (switching.plans(Size(10, 3, 10, 10), 7), switching.looks(Size(10, 3, 10, 10), 7)) == (7, 7)
    assert [switching.to_come(users, 100) for users in (0, 1, 50, 51, 99, 100)] == [0, 7, 1, 1, 1, 0]
    assert switching.next_look(0, 0, 6.5, 90, 10**6) == 6
    assert switching.next_look(1000, 0, 0.25, 90, 10**6) == 1
    assert switching.next_look(1000, 8, 0.25, 90, 10**6) == 16
    assert (
        switching.next_look(1000, 8, 0.25, 11, 10**6) == 1000
    )  # 10 doublings to come, and the look at the end
    assert switching.next_look(600_000, 8, 0.25, 1, 10**6) == 400_000
    assert switching.next_look(999_999, 8, 0.25, 9, 10**6) == 1
    assert switching.may_plan(1000, 999, 11, 10**6)
    assert not switching.may_plan(1000, 501, 10, 10**6)
    assert switching.may_plan(1000, 500, 10, 10**6)
    assert not switching.may_plan(1000, 1, 0, 10**6)


@pytest.mark.parametrize(("share", "N"), [(1.0, 299), (1 / 3, 100), (0.1, 30)])
def test_fewer_plans_are_never_fewer_than_doublings(share: float, N: int) -> None:
    size, K = Size(10, 3, 10, 10), 10**9
    assert switching.plans(size, K, share) == N >= np.ceil(np.log2(K + 1))
    assert switching.looks(size, K, share) == 10 * N
    assert switching.plans(size, 7, share) >= 3


@pytest.mark.parametrize("algorithm", LEARNERS)
def test_fewer_plans_need_less_noise_and_are_not_exceeded(algorithm: str) -> None:
    """With the least share they run out in this run: it goes on, planning at doublings."""
    known = {"privacy": "central", "episodes": 10**10, "epsilon": 8.0}
    whole = SwitchRun(spec(algorithm, **known), 2)
    few = finished(SwitchRun(spec(algorithm, **known, algorithm_params={"plans": 0.1}), 2))
    assert few.noise.scales[0] < 0.8 * whole.noise.scales[0]
    assert few.setup.plans == few.state.position[5]
    assert few.users == few.spec.episodes
    assert few.trace().optimism.min() == 1.0


@pytest.mark.parametrize("algorithm", LEARNERS)
def test_few_looks_and_plans_reach_the_last_user(algorithm: str) -> None:
    """Whatever noise does: no more matrices than there is noise for, and no more plans."""
    for K in (1, 2, 70, 10**5):
        run = SwitchRun(spec(algorithm, privacy="central", episodes=K, epsilon=0.01), 0)
        run.setup = run.setup._replace(scales=run.setup.scales * 1e9)  # nothing but noise
        finished(run)
        assert run.users == K
        assert run.state.position[0] <= run.setup.looks <= K
        assert run.state.position[5] <= run.setup.plans <= K
        assert np.isfinite(run.trace().Q).all()


@pytest.mark.parametrize("algorithm", LEARNERS)
@pytest.mark.parametrize("privacy", ["none", "central"])
def test_beliefs_hold_and_values_are_bounded(algorithm: str, privacy: str) -> None:
    """The truth is within what the plan relied on, and Q* below Q (of LSVI-UCB++ above the floor too)."""
    run = finished(SwitchRun(spec(algorithm, privacy=privacy, episodes=10**7, epsilon=50.0), 0))
    trace, phi = run.trace(), run.setup.features
    beliefs, d = trace.beliefs, phi.shape[-1]
    assert beliefs["truth"].shape == (len(trace.detail_episodes), run.mdp.H, d)
    assert (np.linalg.norm(beliefs["truth"], axis=-1) <= beliefs["bound"][:, None] * (1 + 1e-9)).all()
    for prefix, sums in (("", trace.noisy), ("noiseless ", trace.series["sums"])):
        one = {name: beliefs[prefix + name] for name in Confidence._fields}
        M = sums[..., 0, :, :d] + one["ridge"][..., None, None] * np.eye(d)
        Y = np.einsum("sai,khij->khsaj", phi, np.linalg.inv(M))
        inner, length = np.einsum("khsaj,saj->khsa", Y, phi), np.linalg.norm(Y, axis=-1)
        beta, slack, pull = (one[name][..., None, None] for name in ("beta", "slack", "pull"))
        width = beta * np.sqrt(inner + slack * length**2) + pull * length
        off = np.einsum("khi,sai->khsa", one["weights"] - beliefs["truth"], phi)
        assert (np.abs(off) <= width * (1 + 1e-9) + 1e-9).all()
    assert (trace.optimism == 1.0).all()
    assert (run.state.plan.floor <= run.optimum.Q + 1e-9).all()
    if algorithm == PLUS and privacy == "none":
        assert run.state.plan.floor[0].max() > 0.3 * run.optimum.V[0].max()
        assert 1.0 < run.state.plan.worth[:-1].mean() <= W


def test_values_never_rise_and_floors_never_fall() -> None:
    run = SwitchRun(spec(PLUS, privacy="central", episodes=10**8), 2)
    plan = run.state.plan
    while not run.done:
        Q, floor = plan.Q.copy(), plan.floor.copy()
        run._simulate(1, run.spec.episodes)
        assert (plan.Q <= Q + 1e-12).all()
        assert (plan.floor >= floor).all()
    assert (plan.Q < run.mdp.H - np.arange(run.mdp.H)[:, None, None] - 0.01).any()


@pytest.mark.parametrize("algorithm", LEARNERS)
def test_ldp_shuffle_and_printed_constants_are_refused(algorithm: str) -> None:
    for given, said in (
        ({"privacy": "local"}, f"local is an open question for {algorithm}: "),
        ({"privacy": "shuffle"}, f"shuffle is not offered for {algorithm}"),
        ({"bonus": "paper"}, "give anytime."),
        ({"privacy": "central", "mechanism": "laplace-tree"}, "does not go with"),
        ({"environment": "linear-mixture", "environment_params": {}}, "none of the known features"),
    ):
        with pytest.raises(SpecError) as error:
            spec(algorithm, **given)
        assert said in str(error.value)
        assert str(error.value).endswith(".")
    assert "privacy" in ALGORITHMS[algorithm].note.lower()
