"""Numbers in sentences about privacy follow from the accountant."""

from __future__ import annotations

import math
import re
from statistics import NormalDist

import pytest
from scipy import stats

from dprl.privacy.accounting import gaussian_mu
from dprl.sentences import promise
from dprl.simulation import OfflineSpec
from dprl.simulation.loops.offline import noise_of_run


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
