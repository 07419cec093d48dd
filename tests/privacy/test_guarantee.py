"""The card of every run, what privatizers promise on it, mechanisms of other packages, and numbers in sentences."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bench.engine_wasm.entries import entries
from dprl import ALGORITHMS, RunSpec
from dprl.mdp import Size
from dprl.privacy import MECHANISMS, PRIVATIZERS, Guarantee, Mechanism, outside
from dprl.privacy.accounting import delta_of, epsilon_of, gaussian_epsilon, gaussian_mu
from dprl.privacy.guarantee import SIMULATION
from dprl.privacy.losses import Binomial
from dprl.privacy.mechanisms.gaussian import coefficients
from dprl.privacy.privatizers import Batch, Request
from dprl.privacy.privatizers.privatizer import REFERENCE_DELTA, RETURNING, SMALL_DELTAS
from dprl.privacy.privatizers.shuffle import least_bits, paper_bits, paper_tau
from dprl.research.series import style_of
from dprl.sentences import promise
from dprl.simulation import FIELDS, OfflineSpec, schedules
from dprl.simulation.loops.module_run import ModuleRun
from dprl.simulation.loops.offline import noise_of_run
from dprl.simulation.pairs import calibrations_for, mechanisms_for
from dprl.simulation.replay import unplayable
from dprl.statistics import BLANK_ONE, CONSISTENT, REPLACE_ONE
from dprl.testing.report import offered
from tests.privacy.draws import TRIPLES, prepared, replaced, request
from tests.problems import finished, first, refused

TIMES = [1, 2, 5, 30, 200, 3000]
DRAWN = {"central": "gaussian-optimal", "local": "gaussian", "shuffle": "binomial-sum"}  # what needs a delta


@pytest.mark.parametrize(("privacy", "mechanism", "calibration"), first(TRIPLES, lambda t: (t[0], t[2])))
def test_readings(privacy: str, mechanism: str, calibration: str) -> None:
    """At the spec's delta, at the reference one, and at 0 where something is proved there; both adjacencies."""
    noise = prepared(privacy, mechanism, calibration, TIMES, H=3, epsilon=0.3, delta=1e-5)
    card = noise.guarantee()
    ours = {(r.adjacency, r.delta): r.epsilon for r in card.readings if r.how == "our accountant"}
    deltas = {1e-5, REFERENCE_DELTA, *SMALL_DELTAS} | (set() if MECHANISMS[mechanism].needs_delta else {0.0})
    kinds = (REPLACE_ONE, BLANK_ONE) if PRIVATIZERS[privacy].words.blanked else (REPLACE_ONE,)
    assert set(ours) == {(a, d) for a in kinds for d in deltas}
    for delta in deltas:
        # blanking a user is half of replacing one
        assert 0 < ours[kinds[-1], delta] <= ours[REPLACE_ONE, delta]
    assert card.proved_epsilon == ours[REPLACE_ONE, 1e-5]
    assert noise.mechanism is not None
    reward = float(noise.scales[0] / noise.scales[-1])
    losses = noise.mechanism.losses(replaced(3, reward), float(noise.scales[0]), noise.stream)
    for delta in deltas:
        assert ours[REPLACE_ONE, delta] == max(epsilon_of(x, delta) for x in losses)


def test_the_papers_claim_of_shuffle_is_shown() -> None:
    """Basic composition over the 6H counters of replace-one."""
    card = prepared("shuffle", "binomial-sum", "paper", TIMES, H=3, epsilon=2.0, delta=1e-6).guarantee()
    basic = next(r for r in card.readings if r.how != "our accountant")
    assert (basic.epsilon, basic.delta) == (pytest.approx(4.0), pytest.approx(18e-6))


@pytest.mark.parametrize(("epsilon", "shown"), [(9.0, True), (9.01, False), (50.0, False)])
def test_the_papers_claim_of_shuffle_is_not_read_beyond_its_lemma(epsilon: float, shown: bool) -> None:
    """It has eps' = epsilon/(3H) <= 1. At H = 2, epsilon = 50 it would say (100, 1.2e-5), less than one counter has."""
    card = prepared("shuffle", "binomial-sum", "paper", TIMES, H=3, epsilon=epsilon, delta=1e-6).guarantee()
    assert any(r.how != "our accountant" for r in card.readings) == shown
    bits = paper_bits(np.array([10**9]), paper_tau(6, 50.0, 1e-6))[0]
    assert delta_of((Binomial(int(bits[0]), float(bits[1]), 1, 1),), 100.0) > 4e-5


def test_a_user_left_out_is_not_a_user_blanked() -> None:
    """K = 50,000, (1, 1e-6): blanked in place moves one item of the stream, 0.689; left out, all later users move up.

    With users who take turns between two trajectories, the sums then move at every other release: by C^-1 of that in
    the units of the noise z of C (C x + z).
    """
    times = schedules.times("geometric:0.01", 50_000)
    card = prepared("central", "gaussian-toeplitz", "calibrated", times, H=20, S=6, A=2).guarantee()
    (blanked,) = [r.epsilon for r in card.readings if (r.adjacency, r.delta) == (BLANK_ONE, 1e-6)]
    assert blanked == pytest.approx(0.689, abs=1e-3)
    c, turns = coefficients(len(times)), np.arange(len(times)) % 2
    inverse = np.cumprod(np.concatenate([[1.0], 1 - 1.5 / np.arange(1, len(times))]))
    assert np.convolve(c, inverse)[: len(times)] == pytest.approx(np.eye(len(times))[0], abs=1e-12)
    moved = [
        np.linalg.norm(np.convolve(inverse, x)[: len(times)]) for x in (turns, 1 - turns, turns + 1 - turns)
    ]
    mu = gaussian_mu(1.0, 1e-6) * np.linalg.norm(moved) / math.sqrt(2) / np.linalg.norm(c)
    assert gaussian_epsilon(float(mu), 1e-6) == pytest.approx(15.4, abs=0.05)


def test_what_the_same_noise_proves_at_smaller_deltas() -> None:
    """(1, 10^-6): 1.32, 1.58 and 1.80 at 10^-9, 10^-12 and 10^-15."""
    for privacy in DRAWN:
        card = prepared(privacy, DRAWN[privacy], "calibrated", TIMES, H=20).guarantee()
        found = {r.delta: r.epsilon for r in card.readings if r.adjacency == REPLACE_ONE}
        assert [found[d] for d in SMALL_DELTAS] == pytest.approx([1.3177, 1.5772, 1.8016], rel=2e-3)
        assert card.users == TIMES[-1]


def test_somebody_who_comes_back() -> None:
    """Ten times the mu with a trusted curator, ten own reports with no trusted party, else ten times epsilon."""
    mu = gaussian_mu(1.0, 1e-6)
    cards = {p: prepared(p, DRAWN[p], "calibrated", TIMES, H=20).guarantee() for p in DRAWN}
    found = {p: card.returning[1] for p, card in cards.items() if card.returning}
    assert {card.returning and card.returning[0] for card in cards.values()} == {RETURNING}
    assert found["central"] == pytest.approx(gaussian_epsilon(10 * mu, 1e-6), rel=1e-4)
    assert found["local"] == pytest.approx(gaussian_epsilon(math.sqrt(10) * mu, 1e-6), rel=1e-4)
    assert found["central"] < found["shuffle"] < 18  # by the general lemma: more than Gaussian noise needs
    paper = prepared("central", "laplace-tree", "paper", TIMES, H=20).guarantee()
    assert paper.returning == (RETURNING, pytest.approx(20.0))


def test_messages_of_a_user_are_on_the_card() -> None:
    """A batch of one has all its bits from one user, one of many has a bit of each."""
    card = prepared("shuffle", "binomial-sum", "calibrated", [1, 10**6], H=20, S=6, A=2).guarantee()
    fair = least_bits(60, 1.0, 1e-6)[0]
    assert f"2 to {fair + 1:,} bits for each of 1,920 counters" in card.messages


def test_two_runs_with_equal_seeds_cancel_their_noise() -> None:
    """What the card says of them: the first release of two budgets gives the true counts away."""
    spec = RunSpec(environment_params={"S": 3, "H": 2}, mechanism="gaussian-tree", episodes=300, seeds=1)
    runs = [finished(ModuleRun(spec.replace(epsilon=epsilon), 0)) for epsilon in (1.0, 2.0)]
    (a, b), (s, t) = (one.trace() for one in runs), (one.noise.scales for one in runs)
    assert np.array_equal(a.counts[0], b.counts[0])
    found = (a.noisy[0] * t - b.noisy[0] * s) / (t - s)
    assert found == pytest.approx(a.counts[0], abs=1e-6)
    assert any("equal seeds" in text for text in a.guarantee.assumptions)


BLOCKS = {"privacy": "central", "mechanism": "gaussian-toeplitz", "schedule": "episodic", "episodes": 10**5}


@pytest.mark.parametrize(
    ("given", "field", "advice"),
    [
        ({"privacy": "central", "mechanism": "gaussian-tree", "delta": 0.0}, "delta", "laplace-tree"),
        ({"privacy": "local", "mechanism": "gaussian", "delta": 0.0}, "delta", "laplace"),
        ({"privacy": "shuffle", "delta": 0.0}, "delta", "above 0"),
        ({"privacy": "shuffle", "calibration": "paper", "delta": 0.0}, "delta", "above 0"),
        ({"privacy": "local", "mechanism": "laplace-tree"}, "mechanism", "unary, gaussian or laplace"),
        (BLOCKS, "schedule", "4,000"),
        ({"privacy": "shuffle", "epsilon": 0.001, "calibration": "paper"}, "epsilon", "larger"),
        ({"privacy": "shuffle", "epsilon": 1.0, "delta": 1e-20}, "delta", "1e-18"),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused_in_a_sentence(
    given: dict[str, Any], field: str, advice: str
) -> None:
    with refused(f"{field}: ") as caught:
        RunSpec(**given)
    assert advice in str(caught.value)
    assert ". " not in str(caught.value)  # one sentence


MODELS = {"central": "JDP", "local": "LDP", "shuffle": "SDP"}
H, S, A = 2, 2, 2
SIZES: dict[str, Any] = {"H": H, "S": S, "A": A, "beta": 0.5}


@pytest.mark.parametrize("epsilon", first([0.3, 7.0, 1.0]))
@pytest.mark.parametrize(("privacy", "mechanism", "calibration"), TRIPLES)
def test_card_and_paper_scale(privacy: str, mechanism: str, calibration: str, epsilon: float) -> None:
    noise = prepared(privacy, mechanism, calibration, [1, 10, 1000], epsilon=epsilon, **SIZES)
    card = noise.guarantee()
    paper = {"central": 3 * H * 10 / epsilon, "local": 3 * H / epsilon}  # 10 = floor(log2 1000) + 1 levels
    if calibration == "paper" and privacy in paper:
        np.testing.assert_allclose(noise.scales, paper[privacy])
        assert (card.claimed_epsilon, card.claimed_delta) == (epsilon, 0.0)
        assert card.proved_epsilon == pytest.approx(2 * epsilon)
        assert card.proved_delta == 0.0
    elif calibration == "paper":
        # B25 Algorithm 4: batches of 1, 9 and 990 users
        tau = 96 * np.log(2 / 1e-6) / (epsilon / (3 * H)) ** 2
        for (trials, probability, _), users in zip(noise.stream.batches, (1, 9, 990), strict=True):
            few = users < tau
            assert trials == (users * np.ceil(tau / users) if few else users)
            assert probability == pytest.approx(0.5 if few else tau / (2 * users))
        assert (card.claimed_epsilon, card.claimed_delta) == (epsilon, 1e-6)
        assert (card.proved_epsilon or epsilon) < epsilon  # the paper's bits are many more than it takes
    else:
        # solved for: what is claimed is what is proved, and no slack is left
        assert (card.claimed_epsilon, card.claimed_delta) == (epsilon, 1e-6)
        assert card.proved_delta == 1e-6
        slack = 0.05 if privacy == "shuffle" else 0.001
        assert epsilon * (1 - slack) <= (card.proved_epsilon or 0) <= epsilon * (1 + 1e-9)
    assert card.noise_scale == noise.scales[-2]
    assert card.mechanism == MECHANISMS[mechanism].title
    assert any(r.adjacency == BLANK_ONE for r in card.readings) == bool(PRIVATIZERS[privacy].words.blanked)
    assert card.model == MODELS[privacy]
    assert SIMULATION in card.assumptions
    assert "e-0" not in card.noise_formula
    assert bool(card.ladder) == (privacy == "central")
    text = json.dumps(card.to_dict(), allow_nan=False)  # so every number is finite
    assert Guarantee.from_dict(json.loads(text)) == card
    with pytest.raises(TypeError):
        Guarantee.from_dict({**card.to_dict(), "extra": 1})


def test_calibrated_rewards_are_released_in_quarters() -> None:
    """r/4 is released and multiplied back: four times the noise, of four times the tolerance (E, not E/4)."""
    for privacy, mechanism, calibration in TRIPLES:
        noise = prepared(privacy, mechanism, calibration, [1, 10], **SIZES)
        quarters = 4.0 if calibration == "calibrated" and privacy != "shuffle" else 1.0
        np.testing.assert_allclose(noise.scales / noise.scales[0], [1.0] * (S + 1) + [quarters])


def test_batches_that_are_forgotten_each_have_their_own_noise() -> None:
    """SDP-PE: a crude batch releases one layer's n and m, so less of a user is in it and fewer bits protect it."""
    batches = (Batch(1000, 2), Batch(1000, 3 * H), Batch(1000, 2))
    for calibration in ("paper", "calibrated"):
        asked = request("shuffle", "binomial-sum", calibration, [1000, 2000, 3000], epsilon=0.3, **SIZES)
        noise = PRIVATIZERS["shuffle"].prepare(replace(asked, batches=batches))
        assert noise.stream.forgotten
        assert noise.std[0] == noise.std[2]
        assert noise.bound[0] == noise.bound[2]
        assert (noise.std[0] < noise.std[1]) == (calibration == "calibrated")


def test_without_privacy_there_is_no_noise() -> None:
    noise = PRIVATIZERS["none"].prepare(
        Request(CONSISTENT, Size(S, A, H), np.array([1, 5]), "", "", 0.0, 0.0, 0.1)
    )
    assert noise.mechanism is noise.guarantee().claimed_epsilon is noise.guarantee().proved_epsilon is None
    assert not any(found.any() for found in (noise.scales, noise.bound, noise.std))


SUMS = replace(MECHANISMS["gaussian-optimal"], key="sums", title="Sums")  # has a covariance
REPORTS = replace(MECHANISMS["gaussian"], key="reports", title="Reports")
SMALL: dict[str, Any] = {"environment_params": {"S": 3, "H": 3}, "episodes": 1000, "seeds": 1}


@contextmanager
def offering(entry: Mechanism) -> Iterator[None]:
    """In this block specs may name a mechanism that no package registers yet."""
    if why := outside.refusal(entry):
        raise ValueError(f"mechanism: {why}.")
    models = dict(PRIVATIZERS)
    with offered(MECHANISMS, entry, FIELDS, "mechanism"):
        outside.offer(entry)
        try:
            yield
        finally:
            for key, model in models.items():
                PRIVATIZERS[key] = model


def test_it_is_for_calibrated_noise_in_running_counts() -> None:
    kernels = [entry.name for entry in entries()]
    before = {privacy: privatizer.mechanisms for privacy, privatizer in PRIVATIZERS.items()}
    own = [
        RunSpec(privacy=privacy, mechanism=key, **SMALL) for privacy, keys in before.items() for key in keys
    ]
    looks = [style_of(spec) for spec in own]
    with offering(SUMS), offering(REPORTS):
        assert [style_of(spec) for spec in own] == looks  # no other curve changes
        assert [entry.name for entry in entries()] == kernels  # the engine of browsers has dprl's own
        for algorithm in ALGORITHMS.values():
            for privacy, key in (("central", "sums"), ("local", "reports")):
                counted = algorithm.statistic.counted and not algorithm.forgets
                assert (key in mechanisms_for(algorithm.key, privacy)) == counted
                assert calibrations_for(algorithm.key, key) == ("calibrated",)
        for privacy, key in (("central", "sums"), ("local", "reports")):
            spec = RunSpec(privacy=privacy, mechanism=key, **SMALL)
            assert (spec.reports, spec.calibration) == ("all", "calibrated")
            assert RunSpec(privacy=privacy, **SMALL).mechanism == before[privacy][0]
            assert unplayable(spec) == "A browser cannot draw noise from another package."
            for name, value in (("reports", "played"), ("calibration", "paper"), ("contribution", 2)):
                with refused(f"{name}: "):
                    RunSpec(privacy=privacy, mechanism=key, **(SMALL | {name: value}))
    assert {privacy: privatizer.mechanisms for privacy, privatizer in PRIVATIZERS.items()} == before
    assert "sums" not in MECHANISMS


def test_a_privacy_model_offers_what_fits_it_and_says_whose_proof_it_is() -> None:
    assert (outside.model_of(SUMS), outside.model_of(REPORTS)) == ("central", "local")
    for wrong, sentence in (
        (replace(SUMS, norm="cells"), "mechanism: its norm is cells; give l1 or l2."),
        (replace(MECHANISMS["unary"], key="asking", norm="l1"), "mechanism: its noise depends on the data"),
    ):
        entry: Any = wrong
        with pytest.raises(ValueError, match=sentence.replace("(", r"\(")), offering(entry):
            pass
    assert outside.assumption("gaussian") == outside.assumption(None) == ()
    with offering(SUMS):
        assert outside.assumption("sums") == (
            "its author states how much the noise of Sums reveals, and dprl has no proof of it",
        )


def plain(text: str) -> str:
    """Without line breaks and stars."""
    return " ".join(re.sub(r"\*\*|\|", "", text).split())


def test_a_budget_that_protects_nobody_gets_no_badge() -> None:
    good, said = promise.concentrated_verdict(1e6, 1e6)
    assert not good
    assert said.startswith("**A budget this large protects nobody:** we prove ρ = 1 million.")
    assert promise.concentrated_verdict(25.0, 25.0)[0]
    mistaken = [NormalDist().cdf(-math.sqrt(rho / 2)) for rho in (promise.HOLLOW - 0.2, promise.HOLLOW)]
    assert mistaken[0] > 1e-6 > mistaken[1] > 0.9e-6


def test_the_numbers_in_what_epsilon_and_delta_mean() -> None:
    """1.11, 2.7 and 22,000 times; losses above epsilon come twenty times as often as delta says."""
    assert [math.exp(e) for e in (0.1, 1.0, 10.0)] == pytest.approx([1.11, 2.7, 22_000], rel=0.01)
    mu = gaussian_mu(1.0, 1e-6)
    assert stats.norm.sf(1.0, mu * mu / 2, mu) == pytest.approx(20e-6, rel=0.02)
    for phrase in ("1.11 at ε = 0.1, 2.7 at ε = 1, and 22,000 at", "more than 2.7 times", "20 in a million"):
        assert phrase in plain(promise.SAID["meaning"])


def test_the_number_in_what_rho_means() -> None:
    """Gaussian noise of standard deviation 1 for a shift of mu just proves rho = mu^2/2."""
    assert gaussian_mu(7.29, 1e-6) == pytest.approx(math.sqrt(2), rel=1e-3)
    assert "just enough for ρ = 1 also gives (7.29, 10⁻⁶)" in plain(promise.SAID["offline"])


def test_whether_rho_is_proved_is_said_of_the_numbers_given() -> None:
    """DP-APVI's noise as in the paper proves what it claims; DP-VAPVI's 0.8 rho on halves, and 1.4 rho on the whole."""
    linear = OfflineSpec(environment="linear-synthetic", algorithm="dp-vapvi", n=1000)
    for spec, proved, good, said in (
        (OfflineSpec(algorithm="dp-apvi", n=1000), 1.0, True, "Proved as claimed"),
        (linear, 0.8, True, "We prove more than the claim"),
        (linear.replace(algorithm_params={"data": "whole"}), 1.4, False, "We prove less than the claim"),
    ):
        card = noise_of_run(spec)[0].guarantee
        assert card.proved_rho == pytest.approx(proved)
        assert card.claimed_rho == 1.0
        found = promise.concentrated_verdict(card.claimed_rho, card.proved_rho or 0.0)
        assert found[0] == good
        assert said in found[1]
        assert f"ρ = {proved:g}" in found[1]


def test_what_is_said_of_a_delta_against_the_users() -> None:
    """To publish with a chance of delta is (0, delta)-private, by definition, and gives delta K away on average."""
    for delta, users, away in ((1e-6, 10**9, "1,000"), (1e-3, 10**5, "100")):
        assert f"records of about {away} of" in promise.against_users(delta, users)
