"""Rows that count only the last batches of who played them: the definition, E and bonus for all windows at once, and
what it costs: nothing."""

from __future__ import annotations

from functools import cache
from math import log
from typing import Any

import numpy as np
import pytest

from dprl import RunSpec, SpecError
from dprl.learners import ALGORITHMS
from dprl.links import decode_spec, encode_spec
from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.privacy import attack
from dprl.simulation import AttackSpec, SeedRun, estimate
from dprl.simulation.attack import noise_of_run
from dprl.simulation.outlook import outlook
from dprl.simulation.prepare import noise_of_schedule, problem_of, size_of, windows_of
from dprl.simulation.trajectory import Trajectory
from dprl.statistics.recent import STEP, marks, places
from tests.privacy.test_coverage import covered
from tests.problems import first

BATCHES: dict[str, Any] = {"privacy": "shuffle", "mechanism": "binomial-sum", "seeds": 1}
LEARNERS = ["dp-ucbvi", "private-ucb-vi"]


def spec_of(reports: str = "recent", seed: int = 4, **given: Any) -> RunSpec:
    """A small run with adaptive times, and a budget with which its policy changes often."""
    world = {
        "environment": "random",
        "environment_params": {"S": 2, "A": 3, "H": 2, "seed": seed},
    }
    usual = {"episodes": 10**6, "schedule": "adaptive:0.1", "epsilon": 30.0, "delta": 1e-6}
    return RunSpec(**{**world, **BATCHES, **usual, "reports": reports, **given})


class Watched:
    """A run in plain Python, of which each release is kept.

    policies, noises, counts: of all batches so far, of each release; sums, noisy, errors: what was released.
    """

    def __init__(self, spec: RunSpec, seed: int) -> None:
        self.run = run = SeedRun(spec, seed, plain=True)
        self.seen: list[dict[str, Any]] = []
        publish, policy = run._kernels.publish, run.state.policy

        def noted(*given: Any) -> None:
            state = run.state
            self.seen.append(
                {"policy": policy.copy(), "noise": state.noise.reshape(state.counts.shape).copy()}
                | {
                    name: getattr(state, name).copy()
                    for name in ("counts", "sums", "noisy", "errors", "bounds")
                }
            )
            publish(*given)

        run._kernels = run._kernels._replace(publish=noted)
        assert run.advance(1e9)


@cache
def watched(seed: int = 0) -> Watched:
    return Watched(spec_of(schedule="adaptive:0.2", episodes=10**5), seed)


def test_a_row_has_the_last_batches_of_who_was_told_to_play_it_and_their_e() -> None:
    """Against the definition, release by release: a window begins at a mark, and it has the E of so many batches."""
    found = watched()
    run, shape = found.run, found.run.state.counts.shape
    error, scales = run.setup.error, run.setup.scales
    empty = np.zeros(shape)
    at: dict[tuple[int, ...], list[tuple[Array, Array]]] = {
        row: [(empty[row], empty[row])] for row in np.ndindex(*shape[:3])
    }
    shorter = 0
    for now, before in zip(found.seen, [None, *found.seen], strict=False):
        for row, history in at.items():
            h, s, a = row
            if now["policy"][h, s] != a:
                if before is not None:
                    np.testing.assert_array_equal(now["noisy"][row], before["noisy"][row])
                continue
            history.append((now["counts"][row], now["noise"][row]))
            batches = len(history) - 1
            length = 1 + int(np.flatnonzero(error == now["errors"][row])[0])
            begun = batches - length
            assert begun % STEP == 0
            counts, noise = (now[name][row] - history[begun][i] for i, name in enumerate(("counts", "noise")))
            np.testing.assert_array_equal(now["sums"][row], counts)
            np.testing.assert_allclose(now["noisy"][row], counts + scales * noise, rtol=0, atol=1e-9)
            assert now["bounds"][row] == run.setup.bound[length - 1]
            shorter += length < batches
            # none of about that length that it could have taken had less noise for its users
            full = history[-1][0][-2] + scales[-2] * history[-1][1][-2]
            assert length == batches or error[length - 1] / max(now["noisy"][row][-2], 1) < error[
                batches - 1
            ] / max(full, 1)
    assert shorter > 20
    kept = {row: len(history) - 1 for row, history in at.items()}
    assert all(run.state.kept[row] == number for row, number in kept.items())


@pytest.mark.parametrize("batches", [1, 2, 4, 5, 8, 9, 100, 404])
def test_marks_are_counted(batches: int) -> None:
    assert marks(batches) == len(range(0, batches, STEP))
    scales = [STEP * 2**j for j in range(20) if STEP * 2**j < batches]
    assert places(batches) == 2 * len(scales)


def test_a_row_keeps_two_marks_at_each_scale() -> None:
    run = watched().run
    for row, kept in np.ndenumerate(run.state.kept):
        begun = run.state.begun[(slice(None), *row)].tolist()
        wanted = []
        for i in range(0, len(begun), 2):
            last = kept // (STEP * 2 ** (i // 2)) * STEP * 2 ** (i // 2)
            wanted += [last, max(last - STEP * 2 ** (i // 2), 0)]
        assert begun == wanted


def test_compiled_and_plain_runs_have_the_same_bits() -> None:
    runs = [watched().run, SeedRun(watched().run.spec, 0)]
    assert runs[1].advance(1e9)
    for name in ("noise", "sums", "noisy", "released", "errors", "bounds", "kept", "begun", "marked", "Q"):
        np.testing.assert_array_equal(getattr(runs[0].state, name), getattr(runs[1].state, name))
    np.testing.assert_array_equal(runs[0].record.regret, runs[1].record.regret)


def test_e_and_bonus_hold_for_every_window_that_may_begin() -> None:
    """Both are asked for at a beta that is divided by the number of marks."""
    own, other = spec_of(beta=0.3), spec_of("played", beta=0.3)
    noises = [noise_of_schedule(spec, spec.episodes) for spec in (own, other)]
    number = marks(noises[0].stream.releases)
    assert number == windows_of(own, own.episodes) > 30
    divided = noise_of_schedule(other.replace(beta=0.3 / number), own.episodes)
    np.testing.assert_array_equal(noises[0].bound, divided.bound)
    np.testing.assert_array_equal(noises[0].radius(), divided.radius())
    assert (noises[0].radius() > noises[1].radius()).all()
    np.testing.assert_array_equal(noises[0].std, noises[1].std)
    size = size_of(own)
    starts = [
        ALGORITHMS["dp-ucbvi"].planner("anytime").constants(problem_of(spec, size, own.episodes))[0]  # type: ignore[attr-defined]
        for spec in (own, other)
    ]
    assert starts[0] - starts[1] == pytest.approx(log(number))


@cache
def ratios(beta: float, runs: int) -> tuple[Array, Array, Array]:
    """[runs] of whole runs on random models, with the learner in the loop: the largest error relative to E, of windows
    that were taken; the longest of a row relative to its radius; and the longest in all windows that begin at marks."""
    worst, longest, whole = [], [], []
    for seed in range(runs):
        found = Watched(spec_of(seed=seed, beta=beta, schedule="adaptive:0.5", episodes=10**4), seed)
        run = found.run
        radius, units = run.noise.radius(), run.noise.scales / run.noise.scales[0]
        worst.append(run.record.ratio[: run.state.position[3]].max())
        off = [np.linalg.norm((now["noisy"] - now["sums"]) / units, axis=-1) for now in found.seen]
        taken = [
            np.where(now["errors"] > 0, o / np.maximum(now["errors"], 1e-9), 0)
            for o, now in zip(off, found.seen, strict=True)
        ]
        longest.append(np.max(taken))
        of_any = 0.0
        for h, s, a in np.ndindex(*run.state.kept.shape):
            told = [now["noise"][h, s, a] for now in found.seen if now["policy"][h, s] == a]
            sums = np.array([np.zeros(run.state.counts.shape[-1]), *told])
            for begun in range(0, len(told), STEP):
                lengths = np.linalg.norm(sums[begun + 1 :] - sums[begun], axis=-1) * run.noise.scales[0]
                of_any = max(of_any, float((lengths / radius[: len(lengths)]).max()))
        whole.append(of_any)
    return np.array(worst), np.array(longest), np.array(whole)


@pytest.mark.parametrize("beta", [0.5, 0.05])
def test_e_covers_the_windows_of_all_marks_at_once(beta: float) -> None:
    """Of noise alone: 50 batches of four rows that everybody is told to play."""
    spec = spec_of(beta=beta, schedule="geometric:0.1", episodes=2000)
    noise, rng = noise_of_schedule(spec, 2000), np.random.default_rng(1)
    variance, many, rows = float(noise.std[0]) ** 2, len(noise.ends), 12
    trials = int(4 * variance)
    worst = np.empty(300)
    for i in range(len(worst)):
        z = rng.binomial(trials, 0.5, (many, rows, 4)) - trials / 2
        sums = np.concatenate([np.zeros((1, rows, 4)), z.cumsum(0)])
        worst[i] = max(
            float((np.abs(sums[k + 1 :] - sums[k]).max((1, 2)) * 4 / noise.bound[: many - k]).max())
            for k in range(0, many, STEP)
        )
    assert covered(worst, beta)
    assert np.quantile(worst, 0.5) > 0.5  # no needless slack
    assert not covered(1.6 * worst, beta)  # the test can fail


@pytest.mark.thorough
@pytest.mark.parametrize("beta", [0.5, 0.05])
def test_e_holds_as_often_as_promised_in_all_windows_together(beta: float) -> None:
    for found in ratios(beta, 40):
        assert covered(found, beta)
        assert np.quantile(found, 0.5) > 0.3  # no needless slack
        assert not covered(2.5 * found, beta)  # the test can fail


@pytest.mark.parametrize("learner", first(LEARNERS))
def test_values_stay_above_the_optimal_ones_and_the_truth_in_the_ellipsoid(learner: str) -> None:
    closest = 0.0
    for seed in range(3):
        run = SeedRun(spec_of(seed=seed, algorithm=learner), seed)
        while not run.done:
            run.advance(0.0)
            state, size = run.state, Size(*run.mdp.size)
            m, n, r = np.split(state.released - state.sums, [-2, -1], axis=-1)
            for h, (stretch, tau2, rho2) in enumerate(run.noise.statistic.ellipsoids(size)):  # type: ignore[attr-defined]
                length = (m[h] ** 2).sum(-1) + (n[h] ** 2 / tau2 + r[h] ** 2 / rho2)[..., 0]
                told = state.kept[h] > 0
                ratio = np.sqrt(length[told]) / (stretch * state.errors[h][told])
                closest = max(closest, float(ratio.max(initial=0.0)))
        assert (run.state.Q >= run.optimum.Q - 1e-9).all()
        trace = run.trace()
        assert (trace.optimism == 1.0).all()
        assert trace.coverage_ratio.max() <= 1
        np.testing.assert_array_equal(trace.bounds.max((1, 2, 3)), trace.error_bound)
    assert 0.3 < closest <= 1


@pytest.mark.parametrize("schedule", ["geometric:0.3", "episodic"])
def test_fixed_times_have_windows_too(schedule: str) -> None:
    spec = spec_of(schedule=schedule, episodes=300)
    run = SeedRun(spec, 0)
    assert windows_of(spec, 300) == marks(len(run.noise.ends))
    assert run.advance(1e9)
    assert run.trace().coverage_ratio.max() <= 1


def test_it_costs_no_privacy_and_the_attack_is_the_same() -> None:
    specs = [spec_of(reports) for reports in ("recent", "played", "all")]
    noises = [noise_of_run(spec) for spec in specs]
    cards = [noise.guarantee() for noise in noises]
    scores = []
    for spec, noise, card in zip(specs, noises, cards, strict=True):
        assert card.readings == cards[0].readings
        assert card.proved_epsilon == cards[0].proved_epsilon
        assert card.noise_formula == cards[0].noise_formula
        pair = AttackSpec(run=spec).first, AttackSpec(run=spec).second
        size = size_of(spec)
        game = attack.game(
            noise, *(np.ravel(Trajectory.parse("first", text, size).counts(size, None)) for text in pair)
        )
        scores.append(game.play(np.random.Generator(np.random.SFC64(1)), 50))
    for score in scores:
        np.testing.assert_array_equal(score, scores[0])
    assert "only the last batches" in cards[0].where
    assert "so it costs no privacy" in cards[0].where


@pytest.mark.thorough
def test_an_attacker_of_a_run_with_windows_stays_below_what_is_proved() -> None:
    """A user of the seventh batch begins in state 0, or in 1, and all others are known. Whoever sees all windows gets
    every batch back from them, so that this is the best attack on the run. Policies and windows react to the user."""
    victim, times = 6, 250
    spec = RunSpec(
        environment="random", environment_params={"S": 2, "A": 2, "H": 1, "seed": 1}, **BATCHES, reports="recent",
        schedule="episodic", episodes=9, epsilon=5.0, delta=1e-2,
    )  # fmt: skip
    scores = np.array(
        [[_score(spec, seed + 10**6 * world, world, victim) for seed in range(times)] for world in (0, 1)]
    )
    noise = noise_of_schedule(spec, spec.episodes)
    measured = (scores[0].mean() - scores[1].mean()) / scores.std(axis=1).mean()
    error = np.sqrt(2 / times)
    assert measured < noise.separation + 4 * error
    assert measured > 0.9 * noise.separation - 4 * error  # it is a strong one
    assert 2 * measured > noise.separation + 4 * error  # with a quarter of the variance it would be above


def _score(spec: RunSpec, seed: int, world: int, victim: int) -> float:
    """What the rows of the victim's batch have more in state 0 than in 1, less what all others add."""
    run = SeedRun(spec, seed, plain=True)
    add_noise, publish, found = run._kernels.add_noise, run._kernels.publish, []
    totals = {row: [np.zeros(4)] for row in np.ndindex(1, 2, 2)}  # released, of all batches of a row
    others = run.state.counts.copy()

    def swapped(made: int, *given: Any) -> None:
        others[:] = run.state.counts - others
        if made == victim:
            for s in (0, 1):
                run.state.counts[0, s, run.state.policy[0, s], [0, 2, 3]] += (1 - 2 * s) * (0.5 - world)
        add_noise(made, *given)

    def seen(noisy: Array, errors: Array, *given: Any) -> None:
        gained = 0.0
        for (h, s, a), before in totals.items():
            if run.state.policy[h, s] == a:
                length = 1 + int(np.flatnonzero(run.setup.error == errors[h, s, a])[0])
                total = noisy[h, s, a] + before[len(before) - length]
                own = total - before[-1] - others[h, s, a]
                gained += (1 - 2 * s) * float(own[[0, 2, 3]].sum())
                before.append(total)
        found.append(gained)
        others[:] = run.state.counts
        publish(noisy, errors, *given)

    run._kernels = run._kernels._replace(add_noise=swapped, publish=seen)
    while len(found) <= victim:
        run.advance(0.0)
    return found[victim]


def test_fewer_users_are_lost() -> None:
    """A check of sense on one problem: what is gained is in docs/notes/played-rows.md."""
    lost = {}
    for reports in ("all", "recent"):
        run = SeedRun(RunSpec(environment="chain", **BATCHES, reports=reports, episodes=10**9), 0)
        assert run.advance(1e9)
        lost[reports] = run.record.regret[run.state.position[3] - 1]
    assert lost["recent"] < lost["all"] / 2


def test_what_to_expect_of_it_is_that_of_a_window() -> None:
    """It learns from a third of the users, as it does (docs/notes/played-rows.md)."""
    own, other = (outlook(RunSpec(**BATCHES, reports=reports)) for reports in ("recent", "played"))
    assert own is not None
    assert other is not None
    assert own.learns_from is not None
    assert other.learns_from is not None
    assert own.learns_from < other.learns_from
    assert own.noise_std < other.noise_std / 2


def test_memory_for_marks_is_counted() -> None:
    own, other = (spec_of(reports) for reports in ("recent", "played"))
    more = estimate(own).bytes - estimate(other).bytes
    run = SeedRun(own, 0)
    assert run.state.marked.nbytes <= more <= 1.5 * run.state.marked.nbytes


def test_it_is_written_where_it_is_chosen() -> None:
    own, old = spec_of(), spec_of("all")
    assert own.to_dict()["reports"] == "recent"
    assert RunSpec.from_json(own.to_json()) == own == own.replace()
    assert decode_spec(encode_spec(own))[0] == own
    assert own.seed_key(0) not in (old.seed_key(0), spec_of("played").seed_key(0))
    assert own.twin() == old.twin()
    assert own.replace(epsilon=2.0).reports == own.replace(algorithm="private-ucb-vi").reports == "recent"
    assert own.replace(bonus="paper").reports == own.replace(mechanism="binomial-tree").reports == "all"
    assert own.replace(privacy="central").reports == "all"
    assert RunSpec(privacy="shuffle").reports == "all"  # the default is as it was


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"privacy": "central"}, "is for reports that users send"),
        ({"privacy": "local", "mechanism": "gaussian"}, "is for batches that a shuffler mixes"),
        ({"privacy": "shuffle", "bonus": "paper"}, "is for bonus anytime"),
        ({"privacy": "shuffle", "mechanism": "binomial-tree"}, "nodes mix batches"),
        ({"privacy": "shuffle", "algorithm": "sdp-pe", "environment": "random",
          "environment_params": {"S": 2, "A": 2, "H": 2}}, "running counts"),
    ],
)  # fmt: skip
def test_it_is_refused_with_the_reason_where_it_has_no_proof(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(SpecError, match=rf"^reports: recent .*{reason}.*; give all\.$") as refused:
        RunSpec(**given, reports="recent")
    assert refused.value.field == "reports"
