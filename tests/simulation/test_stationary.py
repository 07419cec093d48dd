"""Runs whose visitor declares that transitions and rewards do not depend on the step: counts are pooled over steps."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dprl import ALGORITHMS, ENVIRONMENTS, RunSpec, SpecError
from dprl.learners import PUBLIC
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp import Size, planning
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS
from dprl.privacy.accounting import Laplace, delta_of, epsilon_of
from dprl.privacy.mechanisms import make_stream
from dprl.privacy.mechanisms.optimal import innovations
from dprl.privacy.mechanisms.unary import asking, response, turn_over
from dprl.privacy.privatizers import Noise
from dprl.simulation import SeedRun, start
from dprl.simulation.attack import AttackSpec, game_of, noise_of_run
from dprl.simulation.blocks import interview, model_of, sample, walk
from dprl.simulation.outlook import outlook
from dprl.simulation.pairs import mechanisms_for, not_pooled
from dprl.simulation.prepare import guarantee_of, noise_of_schedule, world_of
from dprl.simulation.trajectory import Trajectory
from dprl.statistics import BLANK_ONE, REPLACE_ONE
from dprl.statistics.counts import FITTED, Counts
from dprl.statistics.pooled import pool
from tests.compare import LEVEL
from tests.privacy.draws import prepared, unit_noise
from tests.privacy.test_coverage import covered
from tests.privacy.test_neighbours import halved, least_delta, least_epsilon, losses_drawn
from tests.problems import first
from tests.simulation.test_engine import finished, same_bits

POOLED = replace(FITTED, pooled=True)
SMALL: dict[str, Any] = {"environment_params": {"S": 3, "H": 4}, "stationary": "yes", "seeds": 1}
FITTING = [
    (privacy, mechanism)
    for privacy in ("central", "local", "shuffle")
    for mechanism in mechanisms_for("dp-ucbvi", privacy)
    if not not_pooled("dp-ucbvi", mechanism, "calibrated", "anytime")
]
DRAWN = [(p, m) for p, m in FITTING if MECHANISMS[m].norm in ("l1", "l2")]  # alike for each counter
TIMES = {"central": [1, 2, 3, 4, 5, 6, 7], "local": [1, 2, 3]}


def trajectories(H: int, S: int) -> list[Array]:
    """[S, S + 2] pooled counts of each that a user may have, with one action and rewards 0 or 1."""
    found = []
    for path in itertools.product(range(S), repeat=H + 1):
        for rewards in itertools.product((0, 1), repeat=H):
            counts = np.zeros((S, S + 2))
            for (s, x), r in zip(itertools.pairwise(path), rewards, strict=True):
                counts[s, [x, S]] += 1
                counts[s, S + 1] += r
            found.append(counts)
    return found


# privacy


@pytest.mark.parametrize("statistic", [POOLED, POOLED.evened(), POOLED.even], ids=["whole", "evened", "even"])
def test_no_two_trajectories_move_pooled_counts_more_than_is_accounted_for_and_some_do(
    statistic: Counts,
) -> None:
    """All pairs, at H = 3 and S = 2: L1, squared L2, and each family by itself."""
    H, S = 3, 2
    statistic = replace(statistic, pooled=True)
    unit = np.append(np.ones(S), (statistic.visits, statistic.reward))
    all_of = np.array(trajectories(H, S)) * unit
    for others, adjacency in ((all_of, REPLACE_ONE), (np.zeros((1, S, S + 2)), BLANK_ONE)):
        moves = (all_of[:, None] - others[None]).reshape(-1, S, S + 2)
        change = statistic.sensitivity(Size(S, 1, H), adjacency)
        assert np.abs(moves).sum((1, 2)).max() == pytest.approx(change.l1)
        assert (moves**2).sum((1, 2)).max() == pytest.approx(change.l2_squared)
        steps = replace(statistic, pooled=False).sensitivity(Size(S, 1, H), adjacency)
        assert change.l1 == pytest.approx(steps.l1)
        assert change.l2_squared == pytest.approx(H * steps.l2_squared)
        for part, scale in ((slice(0, S), 1.0), (S, statistic.visits), (S + 1, statistic.reward)):
            family = moves[..., part].reshape(len(moves), -1) / scale
            ways = (1, -1) if adjacency == REPLACE_ONE else (1,)
            for way in ways:
                assert np.maximum(way * family, 0.0).sum(1).max() == H  # what one draw of each hides


@pytest.mark.thorough
def test_of_laplace_noise_no_change_of_this_length_tells_more_than_one_counter_does() -> None:
    """H units out of one counter against any way in which they may leave several, by the accountant's own curve."""
    rng = np.random.default_rng(0)
    for whole in (0.3, 2.0):
        together = (Laplace(1, whole),)
        for _ in range(4):
            parts = rng.dirichlet(np.ones(3)) * whole
            spread = tuple(Laplace(1, float(part)) for part in parts)
            for epsilon in np.array([0.0, 0.2, 0.5, 0.8, 0.95]) * whole:
                assert delta_of(spread, epsilon) <= delta_of(together, epsilon) * 1.001 + 1e-12


def neighbours(H: int, releases: int, at: int) -> tuple[Array, Array]:
    """[M, 1, 2, 1, 4] pooled counts; the user who enters at release `at` stays in state 0 or in state 1 throughout."""
    rng = np.random.default_rng(0)
    added = rng.integers(0, 50, (releases, 1, 2, 1, 4)).astype(float)
    both = []
    for s in (0, 1):
        data = added.copy()
        data[at, 0, s, 0, [s, 2, 3]] += H
        both.append(np.cumsum(data, axis=0))
    return both[0], both[1]


def noise_for(statistic: Counts, privacy: str, mechanism: str, H: int) -> Noise:
    return prepared(
        privacy, mechanism, "calibrated", TIMES[privacy], H=H, delta=0.01, epsilon=1.0, statistic=statistic
    )


@pytest.mark.parametrize(("privacy", "mechanism"), first(DRAWN, lambda given: MECHANISMS[given[1]].norm))
def test_no_attack_beats_the_proof_and_noise_for_one_step_is_caught(privacy: str, mechanism: str) -> None:
    """The likelihood ratio of all releases, for the two users who are farthest apart: as in test_neighbours."""
    H, delta, at = 5, 0.01, 0
    noise = noise_for(POOLED, privacy, mechanism, H)
    proved = max(epsilon_of(losses, delta) for losses in noise.losses())
    assert proved <= 1.0
    found = losses_drawn(noise, *neighbours(H, len(TIMES[privacy]), at), seed=1)
    for sides in (found, (-found[1], -found[0])):
        assert least_epsilon(sides, proved, delta) <= proved
        assert least_delta(sides, proved) <= delta
    # planted faults: half the noise; and the noise of counters that one user enters once
    less = losses_drawn(halved(noise), *neighbours(H, len(TIMES[privacy]), at), seed=2)
    assert least_epsilon(less, proved, delta) > proved
    if MECHANISMS[mechanism].norm == "l2":  # the L1 norm is the same
        once = noise_for(FITTED, privacy, mechanism, H)
        assert noise.scales[0] == pytest.approx(math.sqrt(H) * once.scales[0], rel=1e-4)
        less = losses_drawn(once, *neighbours(H, len(TIMES[privacy]), at), seed=3)
        assert least_epsilon(less, proved, delta) > proved


@pytest.mark.parametrize("privacy", ["central", "local"])
def test_what_is_proved_is_what_a_second_way_says(privacy: str) -> None:
    """Gaussian noise: delta(epsilon) at mu, from the change of a user who stays in one cell, by the definition."""
    mechanism = {"central": "gaussian-optimal", "local": "gaussian"}[privacy]
    spec = RunSpec(privacy=privacy, mechanism=mechanism, episodes=10**6, **SMALL)
    noise = noise_of_schedule(spec, spec.episodes)
    H, scales, column = 4, noise.scales, 1.0
    if privacy == "central":  # the longest of the factorisation, entry by entry
        whole = np.tril(np.ones((noise.stream.releases,) * 2))
        column = float(np.square(innovations(noise.stream, whole)).sum(0).max())
    mu = math.sqrt(column * 2 * H * H * (scales[0] ** -2 + scales[-2] ** -2 + scales[-1] ** -2))
    told = guarantee_of(spec, noise)
    assert told.proved_epsilon is not None
    e = told.proved_epsilon
    delta = stats.norm.cdf(mu / 2 - e / mu) - math.exp(e) * stats.norm.cdf(-mu / 2 - e / mu)
    assert delta == pytest.approx(1e-6, rel=2e-3)


@pytest.mark.parametrize(("privacy", "mechanism"), first(DRAWN, lambda given: MECHANISMS[given[1]].norm))
def test_bounds_on_the_noise_hold_as_often_as_promised(privacy: str, mechanism: str) -> None:
    """E of every pooled counter and the radius of every pooled row, at all releases, where a sixth may fail."""
    beta, runs, size = 0.5, 400, Size(2, 2, 6)
    times = list(range(10, 410, 10))
    noise = prepared(privacy, mechanism, "calibrated", times, S=2, A=2, H=6, beta=beta, statistic=POOLED)
    assert noise.mechanism is not None
    cells = POOLED.cells(size)
    assert cells == 2 * 2 * 4
    unit = unit_noise(noise.mechanism, noise.stream, runs * cells, seed=4).reshape(len(times), runs, 4, 4)
    off = np.abs(unit * noise.scales) * np.array([4.0, 4.0, 4.0, 1.0])
    ratio = (off.max((2, 3)) / noise.bound[:, None]).max(0)
    assert covered(ratio, beta)
    assert not covered(4 * ratio, beta)  # it can fail
    length = np.sqrt((unit**2).sum(-1)).max(-1) * noise.scales[0] / noise.radius()[:, None]
    assert covered(length.max(0), beta)
    assert not covered(4 * length.max(0), beta)


@pytest.mark.parametrize("reports", ["all", "played"])
@pytest.mark.parametrize("mechanism", first(["gaussian", "laplace", "unary"]))
def test_bounds_hold_in_whole_runs_with_nobody_trusted(mechanism: str, reports: str) -> None:
    """Also where a pooled row counts, at each step, those who were told to play it: what the learner's policies do
    decides how many these are."""
    beta = 0.5
    spec = RunSpec(
        **SMALL, privacy="local", mechanism=mechanism, reports=reports, epsilon=20.0, beta=beta, episodes=20_000,
        schedule="geometric:0.3",
    )  # fmt: skip
    ratios, seen = [], set[int]()
    for seed in range(40):
        run = SeedRun(spec, seed)
        while not run.advance(60.0):
            pass
        ratios.append(float(run.state.totals[1]))
        seen |= set(np.unique(run.state.kept).tolist())
        assert (run.state.errors == run.state.errors[:1]).all()
    assert covered(np.array(ratios), beta)
    assert not covered(4 * np.array(ratios), beta)
    assert (len(seen) > 2) == (reports == "played")


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("groups", [3, 1])
def test_answers_about_all_steps_err_by_no_more_than_is_said(groups: int, told: bool) -> None:
    """Sums of answers have mean 0 beside the truth, and at most the variance that bounds on them are for, where a user
    answers about one step, as is best, or about all three."""
    mdp = world_of(RunSpec(environment="random", environment_params={"S": 2, "A": 2, "H": 3}))
    H, S, A, users, draws = 3, 2, 2, 200, 400
    policy = np.zeros((H, S), dtype=np.int64)
    policy[1] = 1
    assert asking(H, (0.5, 0.25, 0.25), 1.0, pooled=True)[0, 0] == H
    bit = 1.0 if groups == H else 3.0
    batches = np.array([[groups, bit, H / groups], response(bit), (0.5, 0.25, 0.25)])
    stream = replace(make_stream(np.array([users])), batches=batches, often=H)
    rng, model = np.random.default_rng(0), model_of(mdp)
    found = []
    for _ in range(draws):
        counts, memory, noise = (
            np.zeros((H, S, A, S + 2)),
            np.zeros((5, S * A * (S + 2))),
            np.zeros(S * A * (S + 2)),
        )
        one = np.zeros((3, S), dtype=np.int64)
        interview(
            rng, rng, model, policy, users, 0, int(batches[0, 0]), batches[-1], True, told, counts, memory, *one
        )  # fmt: skip
        turn_over(0, stream.leaves, batches, memory, rng, noise)
        found.append(noise.reshape(S, A, S + 2))
    errors = np.array(found)
    spread = errors.std(0)
    assert (np.abs(errors.mean(0)) < 4.5 * spread / math.sqrt(draws)).all()
    steps = np.array([(policy == a).sum(0) for a in range(A)]).T if told else np.full((S, A), H)  # [S, A]
    most = MECHANISMS["unary"].std(stream)[0] ** 2 / H + 1  # of a step that all are in, about
    assert (spread**2 <= 1.3 * most * steps[..., None]).all()
    if groups == H:
        assert (spread**2).max() >= 0.4 * most * steps.max()


def test_the_attack_is_on_pooled_counts() -> None:
    run = RunSpec(epsilon=2.0, episodes=10**4, **SMALL)
    spec = AttackSpec(run=run, executions=2500, seeds=1)
    trace = finished(start(spec, 0))
    assert trace.counters == 6  # two of n, of m and of r
    first_, second = trace.first, trace.second
    apart = (first_.mean() - second.mean()) / np.sqrt((first_.var() + second.var()) / 2)
    assert apart == pytest.approx(trace.v_star, rel=0.15)


def test_the_card_says_what_is_public() -> None:
    spec = RunSpec(**SMALL)
    card = guarantee_of(spec, noise_of_schedule(spec, spec.episodes))
    assert PUBLIC["stationary"] in card.public
    assert "2 counters of n/2, 2 of m and 2 of r/2 by H units each" in card.noise_formula
    usual = spec.replace(stationary="no")
    assert PUBLIC["stationary"] not in guarantee_of(usual, noise_of_schedule(usual, usual.episodes)).public


# what is released, and what is made of it


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"privacy": "local", "mechanism": "gaussian", "reports": "played"},
        {"privacy": "local", "mechanism": "unary", "reports": "played"},
        {"privacy": "local", "mechanism": "unary", "reports": "all"},
    ],
    ids=str,
)
def test_plain_and_compiled_are_the_same_bits(changes: dict[str, Any]) -> None:
    spec = RunSpec(**SMALL, episodes=300, **changes)
    same_bits(finished(SeedRun(spec, 0)), finished(SeedRun(spec, 0, plain=True)))


@pytest.mark.parametrize("privacy", ["none", "central", "local"])
def test_with_one_step_nothing_changes(privacy: str) -> None:
    spec = RunSpec(environment="random", environment_params={"H": 1}, privacy=privacy, episodes=2000, seeds=1)
    usual, told = (finished(SeedRun(s, 0)) for s in (spec, spec.replace(stationary="yes")))
    same_bits(usual, replace(told, spec=spec, guarantee=usual.guarantee))


@pytest.mark.parametrize(("privacy", "mechanism"), [("none", None), *FITTING])
def test_every_step_is_handed_the_same_and_nothing_else_is(privacy: str, mechanism: str | None) -> None:
    """Planner and schedule see the loop's array of released counts, a function of what was released with noise."""
    spec = RunSpec(**SMALL, privacy=privacy, mechanism=mechanism, episodes=200)
    run = SeedRun(spec, 0, plain=True)
    state, kernels, called = run.state, run._kernels, {"plan": 0, "next_release": 0}

    def watched(name: str, at: int) -> Any:
        def call(*given: Any) -> Any:
            called[name] += 1
            assert given[at] is state.released
            assert not any(np.shares_memory(x, state.counts) for x in given if isinstance(x, np.ndarray))
            assert not any(np.shares_memory(x, state.sums) for x in given if isinstance(x, np.ndarray))
            assert (state.released == state.released[:1]).all()
            return getattr(kernels, name)(*given)

        return call

    run._kernels = kernels._replace(plan=watched("plan", 0), next_release=watched("next_release", 4))
    assert run.advance(60.0)
    assert min(called.values()) > 10
    np.testing.assert_array_equal(state.sums, state.counts.sum(0, keepdims=True))
    if privacy == "none":
        np.testing.assert_array_equal(state.released[0], state.sums[0])
    else:
        again = np.zeros_like(state.noisy)
        kernels.publish(state.noisy, state.errors[:1], run.setup.rows, again)
        np.testing.assert_array_equal(state.released[0], again[0])
        assert (state.noisy != state.sums).any()


@pytest.mark.parametrize("block", [40, pytest.param(100_000, marks=pytest.mark.thorough)])
def test_blocks_have_the_law_of_users_one_by_one(block: int) -> None:
    """Pooled visits of each row and rewards of all, in blocks that are drawn together and in blocks that are walked."""
    mdp = world_of(RunSpec(environment="random", environment_params={"S": 3, "A": 2, "H": 5}))
    policy = planning.optimum(mdp).policy
    rng, model, draws = np.random.default_rng(0), model_of(mdp), 300 if block < 1000 else 12
    found: dict[bool, list[Array]] = {True: [], False: []}
    for walked, kept in found.items():
        for _ in range(draws):
            counts, sums = np.zeros((5, 3, 2, 5)), np.zeros((1, 3, 2, 5))
            one = np.zeros((3, 3), dtype=np.int64)
            if walked:
                walk(rng, model, policy, block, counts, one[0])
            else:
                sample(rng, model, policy, block, counts, one[0], one[1], one[2])
            pool(counts, sums)
            assert sums[..., -2].sum() == 5 * block
            np.testing.assert_array_equal(sums[..., :-2].sum(-1), sums[..., -2])
            kept.append(sums[0])
    for pick in (lambda x: x[0, :, -2].sum(), lambda x: x[1, :, 0].sum(), lambda x: x[..., -1].sum()):
        walked_, drawn = ([pick(x) for x in found[w]] for w in (True, False))
        assert stats.ks_2samp(walked_, drawn).pvalue > LEVEL


def by_step(steps: list[Any]) -> dict[str, Any]:
    """A model that is alike at every step, with what its owner says is possible at each of them."""
    P = [[[0, 0.9, 0.1], [0, 0.1, 0.9]], [[0, 0.9, 0.1], [0, 0.1, 0.9]], [[0, 0.2, 0.8], [0, 0.05, 0.95]]]
    model = {"P": [P] * len(steps), "R": [[0, 0], [0, 0], [1, 1]], "d1": [1, 0, 0], "possible": steps}
    params = {"model": json.dumps(model), "H": len(steps)}
    return {"environment": "custom", "environment_params": params, "structure": "environment", "seeds": 1}


def test_what_an_environment_allows_itself_must_be_alike_at_every_step_too() -> None:
    """A reader's example: pooled rows were planned on the first step's table, and Q~ was below Q* by 1.65."""
    everywhere, two = [[[0, 1, 2]] * 2] * 3, [[[1, 2]] * 2] * 3
    for text in ("environment", json.dumps([everywhere, two, two, two])):
        with pytest.raises(SpecError, match="all steps allow the same"):
            RunSpec(**by_step([everywhere, two, two, two]) | {"structure": text}, stationary="yes")
    found = [
        RunSpec(**by_step([two] * 4), stationary="yes"),
        RunSpec(**by_step([two] * 4) | {"structure": json.dumps([two] * 4)}, stationary="yes"),
        RunSpec(**by_step([two] * 4) | {"structure": json.dumps(two)}, stationary="yes"),
    ]
    # alike: one step's counters for all, n, r and two next states of six rows
    assert {spec.work(spec.mechanism).cells for spec in found} == {24}


@pytest.mark.parametrize("H", [4, 9])
def test_who_sends_the_counts_of_each_step_is_attacked_on_each_step(H: int) -> None:
    """Gaussian reports of which a row counts the steps it was played at: the message has H parts, and the best test
    sees all of them. Pooled, two episodes that differ in when they are in a state would look the same."""
    run = RunSpec(
        environment_params={"S": 3, "H": H}, privacy="local", mechanism="gaussian", reports="played",
        stationary="yes", seeds=1, epsilon=3.0,
    )  # fmt: skip
    size, noise = Size(3, 2, H), noise_of_run(run)
    first = " ".join(["0/0/1"] * 2 + ["0/0/0"] * (H - 2))
    second = " ".join(["0/0/0"] * (H - 2) + ["0/0/1"] * 2)
    spec = AttackSpec(run=run, first=first, second=second, seeds=1)
    played = game_of(spec, noise, 0)
    apart = [Trajectory.parse("first", text, size).counts(size, None) for text in (first, second)]
    sent = (apart[0] - apart[1]) / (noise.scales / math.sqrt(H))
    mu = float(np.linalg.norm(played.first - played.second))
    assert mu == pytest.approx(float(np.linalg.norm(sent)), rel=1e-12)
    assert 0 < mu < noise.separation
    assert not (apart[0] - apart[1]).sum(0).any()
    farthest = game_of(AttackSpec(run=run, seeds=1), noise, 0)
    assert np.linalg.norm(farthest.first - farthest.second) <= noise.separation * (1 + 1e-9)
    everybody = AttackSpec(run=run.replace(reports="all"), first=first, second=second, seeds=1)
    assert not len(game_of(everybody, noise_of_run(everybody.run), 0).first)  # one report of all steps


def test_stationarity_is_offered_where_the_bonus_is_said_to_be_proved_for_it() -> None:
    ours = ALGORITHMS["ucbvi"]
    assert isinstance(ours, TabularLearner)
    assert "stationary" in ours.declarable
    brought = TabularLearner(
        key="brought", title="", summary="", source="", privacies=("none",), statistic=ours.statistic,
        plan=ours.plan, constants=ours.constants, anytime=ours.anytime,
    )  # fmt: skip
    assert brought.declarable == ("structure",)
    assert replace(brought, pooled=True).declarable == ("structure", "stationary")


@pytest.mark.parametrize("learner", [key for key, a in ALGORITHMS.items() if "stationary" in a.declarable])
def test_every_learner_that_may_is_optimistic_and_learns(learner: str) -> None:
    spec = RunSpec(**SMALL, algorithm=learner, privacy="none", episodes=10**6)
    run = SeedRun(spec, 0)
    finished(run)
    assert (run.state.Q >= run.optimum.Q - 1e-9).all()
    assert finished(run).gap[-1] < 1e-9


def test_it_takes_fewer_users_and_fewer_counters() -> None:
    """On a problem that nothing was tuned on: users until an average episode has lost 10%; 12 times fewer counters."""
    spec = RunSpec(
        environment="random",
        environment_params={"S": 7, "A": 2, "H": 12, "seed": 31},
        episodes=10**8,
        seeds=1,
    )
    needed = {}
    for stationary in ("no", "yes"):
        told = spec.replace(stationary=stationary)
        trace = finished(SeedRun(told, 0))
        above = trace.regret > 0.1 * trace.v_star * trace.episodes
        needed[stationary] = trace.episodes[np.flatnonzero(above)[-1]]
        assert trace.counts.shape[1] == (12 if stationary == "no" else 1)
    assert needed["yes"] < needed["no"] / 1.5
    assert 12 * spec.replace(stationary="yes").work(None).cells == spec.work(None).cells


def test_a_declared_structure_is_pooled_too() -> None:
    spec = RunSpec(**SMALL, environment="chain", structure="environment", episodes=2000)
    possible = (world_of(spec).P > 0)[0]
    trace = finished(SeedRun(spec, 0))
    np.testing.assert_array_equal(np.isfinite(trace.noisy[-1][0, ..., :-2]), possible)
    assert spec.work(spec.mechanism).cells == possible.sum() + 2 * possible[..., 0].size


def test_the_outlook_counts_pooled_visits() -> None:
    spec = RunSpec(stationary="yes")
    usual, told = outlook(spec.replace(stationary="no")), outlook(spec)
    assert usual is not None
    assert told is not None
    assert told.visits > 2 * usual.visits
    assert told.learns_from is not None
    assert usual.learns_from is not None
    assert told.learns_from < usual.learns_from


@pytest.mark.thorough
@pytest.mark.parametrize(("privacy", "mechanism"), [("none", None), *FITTING])
def test_short_runs_stay_optimistic(privacy: str, mechanism: str | None) -> None:
    """Random models of several sizes, at beta = 0.5: no more runs below Q* than beta allows. The union over h dropped
    would show here where it is what keeps them."""
    rng, failed, runs = np.random.default_rng(5), 0, 60
    for seed in range(runs):
        S, A, H = ((2, 2, 3), (4, 2, 25), (6, 3, 10), (12, 4, 8))[seed % 4]
        spec = RunSpec(
            environment="random", environment_params={"S": S, "A": A, "H": H, "seed": int(rng.integers(10_000))},
            stationary="yes", privacy=privacy, mechanism=mechanism, beta=0.5, episodes=(10**3, 10**6)[seed % 2],
            schedule="adaptive:1", seeds=1,
        )  # fmt: skip
        run = SeedRun(spec, seed)
        while not run.advance(60.0):
            pass
        failed += bool((run.state.Q < run.optimum.Q - 1e-9).any())
    assert stats.binomtest(failed, runs, 0.5, alternative="greater").pvalue > LEVEL


def test_the_union_over_steps_stays() -> None:
    """Each (h, s, a) bets on values of its own step: the constant counts H S A, of pooled counts too."""
    spec = RunSpec(**SMALL, environment="random", privacy="none", beta=0.1)
    size = Size(*ENVIRONMENTS["random"].size(**spec.environment_params))
    run = SeedRun(spec, 0)
    assert run.setup.constants[0] == math.log(10 * size.H * size.S * size.A / (9 * 0.1))


# refusals

CHANGING = json.dumps(
    {
        "P": [[[[1.0, 0.0]] * 2, [[0.0, 1.0]] * 2], [[[1.0, 0.0]] * 2, [[0.5, 0.5]] * 2]],
        "R": [[0.0, 1.0], [0.5, 0.5]],
        "d1": [1.0, 0.0],
    }
)


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"algorithm": "private-ucb-po"}, "stationary", "no bonus of private-ucb-po is proved"),
        ({"algorithm": "sdp-pe"}, "stationary", "no bonus of sdp-pe is proved"),
        ({"algorithm": "lsvi-ucb", "environment": "linear-mdp"}, "stationary", "no bonus of lsvi-ucb"),
        ({"bonus": "paper"}, "stationary", "is for bonus anytime"),
        (
            {"mechanism": "laplace-tree", "calibration": "paper"},
            "stationary",
            "is for calibration calibrated",
        ),
        (
            {"environment": "custom", "environment_params": {"model": CHANGING, "H": 2}},
            "stationary",
            "the transitions of state 1 .* at step 1 are not those at step 0; give no",
        ),
    ],
)
def test_what_it_does_not_go_with_is_refused_with_the_reason(
    changes: dict[str, Any], field: str, sentence: str
) -> None:
    with pytest.raises(SpecError, match=sentence) as error:
        RunSpec(stationary="yes", **changes)
    assert error.value.field == field


def test_a_structure_of_each_step_is_refused() -> None:
    every = [[[0, 1, 2]] * 2] * 3
    with pytest.raises(SpecError, match="all steps allow the same"):
        RunSpec(**SMALL, structure=json.dumps([every, [[[0, 1]] * 2, *every[1:]], every, every]))


def test_another_environment_asks_for_another_declaration() -> None:
    spec = RunSpec(stationary="yes")
    assert spec.replace(environment="chain").stationary == "no"
    assert spec.replace(episodes=10**6).stationary == "yes"
    assert spec.baseline().stationary == "yes"
    assert RunSpec.from_dict(spec.to_dict()) == spec
    assert RunSpec().to_dict()["stationary"] == "no"
