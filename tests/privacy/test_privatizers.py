"""What privatizers promise: scales, cards, and a bound on the noise that holds as often as it says."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dprl import MECHANISMS
from dprl.mdp import Size
from dprl.privacy import PRIVATIZERS, Guarantee
from dprl.privacy.guarantee import SIMULATION
from dprl.privacy.privatizers import Batch, Request
from dprl.statistics import BLANK_ONE, CONSISTENT
from tests.privacy.draws import TRIPLES, prepared, request
from tests.problems import first

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
