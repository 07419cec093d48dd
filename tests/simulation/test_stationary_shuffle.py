"""Declared stationarity with a shuffler: users send bits about each step, and counts of all steps are added up after
they were mixed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from dprl import RunSpec, SpecError
from dprl.privacy import attack
from dprl.privacy.mechanisms.binomial import variances
from dprl.simulation import AttackSpec, SeedRun
from dprl.simulation.attack import game_of, noise_of_run
from dprl.simulation.outlook import outlook
from dprl.simulation.prepare import guarantee_of, noise_of_schedule
from tests.compare import LEVEL
from tests.problems import first
from tests.simulation.test_engine import finished, same_bits

REPORTS = ("all", "played")


def spec_of(reports: str = "played", **given: Any) -> RunSpec:
    """A small run with a budget with which its policy changes often."""
    usual: dict[str, Any] = {
        "environment": "riverswim", "environment_params": {"S": 3, "H": 4}, "privacy": "shuffle",
        "mechanism": "binomial-sum", "epsilon": 30.0, "episodes": 10**5, "schedule": "adaptive:0.2", "seeds": 1,
        "stationary": "yes",
    }  # fmt: skip
    return RunSpec(**{**usual, "reports": reports, **given})


@pytest.mark.parametrize("reports", first(REPORTS[::-1]))
def test_plain_and_compiled_are_the_same_bits(reports: str) -> None:
    spec = spec_of(reports, episodes=300)
    same_bits(finished(SeedRun(spec, 0)), finished(SeedRun(spec, 0, plain=True)))


@pytest.mark.parametrize("reports", first(REPORTS[::-1]))
def test_with_one_step_nothing_changes(reports: str) -> None:
    spec = spec_of(
        reports, environment="random", environment_params={"S": 2, "A": 3, "H": 1}, stationary="no"
    )
    usual, told = (SeedRun(s, 0) for s in (spec, spec.replace(stationary="yes")))
    assert usual.advance(1e9)
    assert told.advance(1e9)
    for name in ("noise", "noisy", "Q", "errors", "kept"):
        np.testing.assert_array_equal(getattr(usual.state, name), getattr(told.state, name))


@pytest.mark.parametrize("reports", REPORTS)
def test_the_guarantee_and_the_attack_are_those_of_counts_of_each_step(reports: str) -> None:
    """What users send is the same, with the same noise."""
    own, usual = spec_of(reports), spec_of(reports, stationary="no")
    noises = [noise_of_run(spec) for spec in (own, usual)]
    cards = [guarantee_of(spec, noise) for spec, noise in zip((own, usual), noises, strict=True)]
    assert cards[0].readings == cards[1].readings
    assert cards[0].messages == cards[1].messages
    assert cards[0].noise_formula == cards[1].noise_formula
    assert noises[0].separation == noises[1].separation
    games = [
        game_of(AttackSpec(run=spec), noise, 0) for spec, noise in zip((own, usual), noises, strict=True)
    ]
    scores = [game.play(np.random.Generator(np.random.SFC64(1)), 20) for game in games]
    np.testing.assert_array_equal(np.array(scores[0]), np.array(scores[1]))
    assert "Counts of all steps are added up afterwards, which costs no privacy" in cards[0].where
    assert "added up afterwards" not in cards[1].where


@pytest.mark.parametrize(
    ("reports", "schedule"),
    first([*((reports, "adaptive:0.2") for reports in REPORTS[::-1]), ("all", "geometric:0.3")]),
)
def test_a_pooled_row_has_the_noise_of_the_steps_that_it_counts(reports: str, schedule: str) -> None:
    """Its variance is that of a batch for each batch and step; a chi-square test over the counters of ten seeds."""
    squares, many = 0.0, 0
    for seed in range(10):
        run = SeedRun(spec_of(reports, schedule=schedule), seed)
        assert run.advance(1e9)
        state, batches = run.state, variances(run.noise.stream)
        kept = batches[0] * state.kept[0] if reports != "all" else np.full((3, 2), 4 * batches.sum())
        if reports == "all" and schedule.startswith("adaptive"):
            kept = np.full((3, 2), 4 * batches[0] * state.position[0])
        expected = np.repeat(kept.ravel(), state.noisy.shape[-1])
        told = expected > 0
        squares += float((state.noise[told] ** 2 / expected[told]).sum())
        many += int(told.sum())
    assert min(stats.chi2.cdf(squares, many), stats.chi2.sf(squares, many)) > LEVEL / 2


def test_what_noise_may_do_to_a_count_is_shown_of_all_steps() -> None:
    noise = noise_of_schedule(spec_of("all", schedule="geometric:0.3"), 10**5)
    found = attack.outcomes(noise, 4000, np.random.default_rng(0))
    assert np.std(found) == pytest.approx(noise.std[-1], rel=0.05)


@pytest.mark.parametrize("reports", first(REPORTS[::-1]))
def test_noise_stays_within_e_and_values_above_the_optimal_ones(reports: str) -> None:
    for seed in range(5):
        run = SeedRun(spec_of(reports, beta=0.5, episodes=10**7), seed)
        assert run.advance(1e9)
        assert (run.state.Q >= run.optimum.Q - 1e-9).all()
        ratio = float(run.record.ratio.max())
        assert 0.1 < ratio <= 1.0


def test_e_is_that_of_as_many_batches_as_there_are_steps() -> None:
    """H steps of a batch count like H batches that go into one counter."""
    own, usual = (noise_of_schedule(spec_of("played", stationary=told), 10**5) for told in ("yes", "no"))
    np.testing.assert_allclose(own.std, 2 * usual.std)
    assert own.radius()[0] > usual.radius()[0]


def test_it_takes_fewer_users() -> None:
    """A check of sense on one problem: docs/notes/privacy.md has what is gained."""
    lost = {}
    for stationary in ("no", "yes"):
        spec = RunSpec(environment="chain", privacy="shuffle", stationary=stationary, seeds=1)
        run = SeedRun(spec, 0)
        assert run.advance(1e9)
        lost[stationary] = run.record.regret[run.state.position[3] - 1]
    assert lost["yes"] < lost["no"] / 2


@pytest.mark.thorough
def test_what_to_expect_of_it_is_less() -> None:
    own, usual = (outlook(RunSpec(privacy="shuffle", stationary=told)) for told in ("yes", "no"))
    assert own is not None
    assert usual is not None
    assert own.learns_from is not None
    assert usual.learns_from is not None
    assert own.learns_from < usual.learns_from


def test_nodes_of_a_tree_are_refused() -> None:
    with pytest.raises(SpecError, match="not for mechanism binomial-tree") as refused:
        spec_of("all", mechanism="binomial-tree")
    assert refused.value.field == "stationary"
