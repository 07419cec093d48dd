"""Rows that count only users told to play them: the definition, E by the number of reports, and no cost."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from dprl import RunSpec, SpecError
from dprl.links import decode_spec, encode_spec
from dprl.mdp.tabular import Array
from dprl.privacy import attack
from dprl.simulation import AttackSpec, SeedRun, start
from dprl.simulation.loops import loop_of
from dprl.simulation.loops.module_run import ModuleRun
from dprl.simulation.pairs import ONE_E
from dprl.simulation.prepare import guarantee_of, noise_of_schedule
from dprl.simulation.trajectory import Trajectory
from dprl.statistics.played import cells_told, hidden
from tests.compare import LEVEL, ks_samples
from tests.privacy.test_calibration import covered
from tests.problems import finished, first

SMALL: dict[str, Any] = {"environment": "random", "environment_params": {"S": 2, "A": 3, "H": 2, "seed": 4}}
WAYS = [("local", "gaussian"), ("local", "laplace"), ("local", "unary"), ("shuffle", "binomial-sum")]
LEARNERS = ["dp-ucbvi", "private-ucb-vi", "ldp-obi"]


def spec_of(privacy: str, mechanism: str, reports: str = "played", **given: Any) -> RunSpec:
    """A small run with adaptive times, and a budget with which its policy changes often."""
    usual = {"episodes": 10**5, "seeds": 1, "schedule": "adaptive:0.1", "epsilon": 100.0}
    return RunSpec(**SMALL, privacy=privacy, mechanism=mechanism, reports=reports, **{**usual, **given})


def watched(spec: RunSpec, seed: int, **how: Any) -> tuple[SeedRun, list[tuple[Any, Array, Array, int]]]:
    """A run in plain Python, and after each release: the policy that was played, noise, errors and users so far."""
    run = SeedRun(spec, seed, plain=True, **how)
    seen: list[tuple[Any, Array, Array, int]] = []
    publish, played, users = run._kernels.publish, run.state.policy, [0]
    asked = run._kernels.next_release

    def noted(*given: Any) -> None:
        seen.append((played.copy(), run.state.noise.copy(), run.state.errors.copy(), users[0]))
        publish(*given)

    def timed(*given: Any) -> int:
        users[0] = int(asked(*given))
        return users[0]

    run._kernels = run._kernels._replace(publish=noted, next_release=timed)
    assert run.advance(1e9)
    return run, seen


@pytest.mark.parametrize(("privacy", "mechanism"), WAYS)
def test_a_row_has_the_reports_of_who_was_told_to_play_it_and_their_e(privacy: str, mechanism: str) -> None:
    """Against the definition, release by release, of a plain run that has the bits of the compiled one."""
    spec = spec_of(privacy, mechanism, schedule="adaptive:0.3")
    run, seen = watched(spec, 0)
    compiled = finished(ModuleRun(spec, 0))
    for name in ("noise", "released", "errors", "bounds", "kept", "Q"):
        np.testing.assert_array_equal(getattr(run.state, name), getattr(compiled.state, name))
    np.testing.assert_array_equal(run.record.regret, compiled.record.regret)
    (H, S, A), noise = run.mdp.R.shape, run.noise
    kept, before, users = np.zeros((H, S, A), dtype=int), np.zeros((H, S, A, S + 2)), 0
    some = False
    for policy, drawn, errors, now in seen:
        now = now or spec.episodes  # of the last nobody asks
        told = np.arange(A) == policy[..., None]
        kept[told] += now - users if noise.by_users else 1
        moved = (drawn.reshape(before.shape) != before).any(-1)
        assert not (moved & ~told).any()  # nothing is added to a row that nobody was told to play
        some |= bool((moved & told).any())
        wanted = run.setup.error[np.searchsorted(noise.ends, np.maximum(kept, 1))]
        np.testing.assert_array_equal(errors, np.where(kept > 0, wanted, 0.0))
        before, users = drawn.reshape(before.shape), now
    assert some
    np.testing.assert_array_equal(run.state.kept, kept)
    assert len(np.unique(kept)) > 3
    # who was told to play something else is in no counter of the row: true counts are those of all users
    assert not run.state.counts[kept == 0].any()
    np.testing.assert_array_equal(run.state.counts[..., -2].sum((1, 2)), np.full(H, float(spec.episodes)))


def test_cells_are_those_of_the_rows_told_whatever_is_declared_possible() -> None:
    noisy = np.zeros((2, 2, 2, 4))
    noisy[0, 0, 1, 1] = noisy[1, 1, 0, :2] = np.nan
    policy = np.array([[1, 0], [0, 0]])
    cells, number = [], 0
    for h, s, a, x in np.ndindex(*noisy.shape):
        if not np.isnan(noisy[h, s, a, x]):
            cells += [number] if policy[h, s] == a else []
            number += 1
    np.testing.assert_array_equal(cells_told(policy, noisy), cells)


@cache
def ratios(privacy: str, mechanism: str, beta: float, runs: int, learner: str) -> tuple[Array, Array]:
    """[runs] the largest error of whole runs relative to E, and of a row relative to its ellipsoid, in the end."""
    worst, longest = [], []
    bonus = "anytime" if learner == "dp-ucbvi" else None
    for seed in range(runs):
        spec = spec_of(privacy, mechanism, beta=beta, algorithm=learner, bonus=bonus)
        run = finished(ModuleRun(spec, seed))
        worst.append(run.record.ratio[: run.state.position[3]].max())
        tau2, rho2 = run.noise.statistic.ellipsoid
        units = np.sqrt([*np.ones(run.mdp.S), tau2, rho2])
        off = np.linalg.norm((run.state.released - run.state.counts) / units, axis=-1)
        told = run.state.kept > 0
        longest.append((off[told] / run.state.errors[told]).max())
    return np.array(worst), np.array(longest)


@pytest.mark.parametrize(("privacy", "mechanism"), first(WAYS))
@pytest.mark.parametrize("beta", [0.5, 0.05])
def test_e_holds_as_often_as_promised_with_times_that_follow_from_noise(
    privacy: str, mechanism: str, beta: float
) -> None:
    worst, longest = ratios(privacy, mechanism, beta, 60, "dp-ucbvi")
    assert covered(worst, beta)
    assert covered(longest, beta)
    assert np.quantile(worst, 0.5) > 0.3  # no needless slack


@pytest.mark.parametrize(("privacy", "mechanism"), WAYS[:2])
def test_the_noise_that_is_kept_is_that_of_so_many_reports(privacy: str, mechanism: str) -> None:
    """Noise over the standard deviation of a sum of as many reports, whatever was skipped before."""
    found, wanted = [], []
    for seed in range(40):
        run = finished(ModuleRun(spec_of(privacy, mechanism), seed))
        drawn, kept = run.state.noise.reshape(*run.state.counts.shape), run.state.kept
        std = np.sqrt(kept * (2.0 if mechanism == "laplace" else 1.0))
        found.append((drawn / np.maximum(std, 1.0)[..., None])[kept > 300].ravel())
        wanted.append(np.random.default_rng(seed).standard_normal(500))
    assert ks_samples(np.concatenate(found), np.concatenate(wanted)) > LEVEL


def test_blocks_are_paced_by_what_the_noise_of_a_row_hides() -> None:
    """E(b) = 40 sqrt(b): up to 1,600 users the noise is above them."""
    ends = np.array([1, 10, 100, 1000, 1600, 10_000])
    assert hidden(True, ends, 40 * np.sqrt(ends)) == 1600
    assert hidden(False, np.arange(1, 7), np.array([9.0, 12, 14, 16, 18, 20])) == 9.0
    run = finished(ModuleRun(spec_of("local", "unary"), 0))
    np.testing.assert_array_equal(run.state.pace, np.maximum(run.state.errors, run.setup.hidden))


@pytest.mark.parametrize("schedule", ["geometric:0.3", "episodic"])
@pytest.mark.parametrize(("privacy", "mechanism"), WAYS)
def test_fixed_times_have_a_bound_for_any_number_of_reports(
    privacy: str, mechanism: str, schedule: str
) -> None:
    """How many reports a row has is not known before the run, even if release times are."""
    spec = spec_of(privacy, mechanism, schedule=schedule, episodes=300)
    own, other = (noise_of_schedule(s, 300) for s in (spec, spec.replace(reports="all")))
    assert (np.diff(own.bound) > 0).all()
    assert (np.diff(own.ends) > 0).all()
    assert own.ends[-1] == (300 if privacy == "local" else len(own.ends))
    assert (own.bound >= other.bound).all()
    run = finished(start(spec, 0))
    assert run.trace().coverage_ratio.max() <= 1


# --- what it costs, and what it does not ---


@pytest.mark.parametrize(("privacy", "mechanism"), WAYS)
def test_it_costs_no_privacy_and_the_attack_is_the_same(privacy: str, mechanism: str) -> None:
    own, other = (spec_of(privacy, mechanism, reports) for reports in ("played", "all"))
    noises = [loop_of(spec).noise_of_run(spec) for spec in (own, other)]
    cards = [noise.guarantee() for noise in noises]
    assert cards[0].readings == cards[1].readings
    assert cards[0].proved_epsilon == cards[1].proved_epsilon
    assert cards[0].noise_formula == cards[1].noise_formula
    np.testing.assert_array_equal(noises[0].scales, noises[1].scales)
    assert "Policies are public" in cards[0].where
    assert "Policies are public" not in cards[1].where
    size, pair = own.problem_size, (AttackSpec(run=own).first, AttackSpec(run=own).second)
    users = [Trajectory.parse("first", text, size).counts(size, None).ravel() for text in pair]
    games = [attack.game(noise, *users) for noise in noises]
    scores = [game.play(np.random.Generator(np.random.SFC64(1)), 50) for game in games]
    np.testing.assert_array_equal(scores[0], scores[1])


def test_a_card_says_that_the_papers_bonus_has_no_proof_for_it() -> None:
    for reports, bonus in product(("all", "played"), ("anytime", "paper")):
        spec = spec_of("local", "unary", reports, bonus=bonus)
        card = guarantee_of(spec, loop_of(spec).noise_of_run(spec))
        assert (ONE_E in card.assumptions) == ((reports, bonus) == ("played", "paper"))


def test_a_named_mechanism_adds_up_all_reports_unless_others_are_chosen() -> None:
    old = RunSpec.from_dict({"privacy": "local", "mechanism": "unary"})
    played = old.replace(reports="played")
    assert (old.reports, played.reports) == ("all", "played")
    assert old.to_dict()["reports"] == "all"
    assert played.to_dict()["reports"] == "played"
    assert RunSpec.from_json(played.to_json()) == played == played.replace()
    assert RunSpec.from_json(old.to_json()) == old == old.replace()
    for spec in (old, played):
        assert decode_spec(encode_spec(spec))[0] == spec
    assert played.seed_key(0) != old.seed_key(0)
    assert played.baseline() == old.baseline()
    assert played.replace(mechanism="laplace").reports == "played"  # another mechanism that it fits
    assert played.replace(algorithm="private-ucb-po").reports == "all"
    assert played.replace(privacy="central").reports == "all"
    assert RunSpec(reports="played", privacy="none").reports == "all"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"privacy": "central"}, "applies to reports that users send"),
        ({"privacy": "local", "algorithm": "private-ucb-po"}, "takes each action with some probability"),
        ({"privacy": "shuffle", "mechanism": "binomial-tree"}, "nodes mix batches"),
        ({"privacy": "shuffle", "algorithm": "sdp-pe", "environment": "random",
          "environment_params": {"S": 2, "A": 2, "H": 2}}, "running counts"),
        ({"privacy": "local", "algorithm": "ucrl-vtr", "environment": "linear-mixture"}, "running counts"),
    ],
)  # fmt: skip
def test_it_is_refused_with_the_reason_where_it_has_no_proof(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(SpecError, match=rf"^reports: played .*{reason}.*; give all\.$") as refused:
        RunSpec(**given, reports="played")
    assert refused.value.field == "reports"


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_is_told_the_e_of_each_row(learner: str) -> None:
    """Bonuses and noise as in the paper, too; post-processing lifts a row by its own E."""
    for bonus in ("anytime", "paper"):
        spec = spec_of("local", "laplace", algorithm=learner, bonus=bonus, calibration="paper", episodes=2000)
        run = finished(ModuleRun(spec, 1))
        trace = run.trace()
        assert (trace.optimism == 1.0).all()
        assert trace.bounds.shape == trace.Q.shape
        np.testing.assert_array_equal(trace.bounds.max((1, 2, 3)), trace.error_bound)
