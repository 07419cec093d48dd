"""Sentences about privacy: docs/proofs.toml lists them; each is a definition, a theorem, or checked by a test."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from dprl.glossary import TERMS
from dprl.learners import ALGORITHMS
from dprl.lessons import LESSONS
from dprl.messages import messages
from dprl.metrics import Measured
from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.privacy.accounting import gaussian_mu
from dprl.privacy.curator import NOISY_WAY, PROMISES, RAW_WAY
from dprl.privacy.guarantee import OUTSIDE, SCOPE, UNIT
from dprl.rooms.response import answered_yes, curator_count, flip, shuffled
from dprl.rooms.steps import DELTA
from dprl.sentences import attack, clinic, promise, room, uploads, verdict
from dprl.simulation import OfflineSpec, RunSpec
from dprl.simulation.loops import BatchRun
from dprl.simulation.loops.offline import noise_of_run
from dprl.simulation.uploads import kept
from dprl.simulation.uploads.run import ALIKE, APART, ASSUMPTIONS, PEOPLE
from dprl.statistics import CONSISTENT
from pages.shared.lessons.known import evidence as taught
from tests.privacy.draws import prepared
from tests.test_layers import ROOT

KNOWN = ("definition", "theorem", "property of the model", "tests/")  # what a sentence may follow from
# What the glossary says of privacy.
PRIVATE = (
    "ε (epsilon)", "δ (delta)", "ρ (rho)", "Central model (JDP)", "Shuffle model (SDP)", "Local model (LDP)",
)  # fmt: skip
PROOFS = tomllib.loads((ROOT / "docs/proofs.toml").read_text(encoding="utf-8"))


def plain(text: str) -> str:
    """Without line breaks and stars."""
    return " ".join(re.sub(r"\*\*|\|", "", text).split())


def listed(place: str) -> set[str]:
    """The sentences that are said to stand in one place."""
    return {row["says"] for row in PROOFS["sentence"] if row["where"] == place}


def vocabulary() -> dict[str, set[str]]:
    """What pages, cards and the command line say of privacy, by place; what two places say is the former's."""
    places = {
        "cards": of_cards(),
        "data sets": of_data_sets(),
        "linear": of_values_asked_anew(),
        "attack": of_attacks(),
        "room": of_rooms(),
        "lessons": of_lessons(),
    }
    known: set[str] = set()
    for place, texts in places.items():
        places[place] = set(map(plain, texts)) - known
        known |= places[place]
    return places


def of_cards() -> set[str]:
    """What cards, menus and the command line say of privacy, and of what a guarantee is not about."""
    said = {*(TERMS[term].definition for term in PRIVATE), UNIT, *SCOPE}
    said.add(OUTSIDE.format(author="my-package 1.0", mechanism="Gaussian reports"))
    for p in PRIVATIZERS.values():
        said |= {p.summary, p.trust, p.words.alt}
        for mechanism in p.mechanisms:
            card = prepared(p.key, mechanism, "tight", [1, 5, 30], H=3).guarantee()
            said |= {*card.assumptions, card.where}
    played = prepared("local", "gaussian", "tight", [5], H=3, statistic=replace(CONSISTENT, played=True))
    said.add(played.guarantee().where)
    said |= {MECHANISMS[key].summary for p in PRIVATIZERS.values() for key in p.mechanisms}
    said |= {paragraph for paragraph in promise.MEANING.strip().split("\n\n") if "$$" not in paragraph}
    said |= {
        promise.outcome(1.0, 1e-6),
        promise.against_users(1e-6, 10**9),
        promise.returning(10, 13.5, 1e-6),
    }
    for calibration in ("tight", "paper"):
        card = prepared("central", "laplace-tree", calibration, [1, 5, 30], H=3).guarantee()
        said.add(promise.about_promise(1.0, card.claimed_delta or 0.0, card.readings, "is zeroed out")[1])
    calibrated = prepared("shuffle", "binomial-sum", "tight", [5], H=3, epsilon=30.0).guarantee()
    said.add(promise.about_promise(30.0, 1e-6, calibrated.readings, calibrated=True)[1])
    return said


def of_values_asked_anew() -> set[str]:
    """What is said of LSVI-UCB: on a card with printed noise, and where a privacy model is refused."""
    run = RunSpec(
        environment="linear-mdp",
        algorithm="lsvi-ucb",
        calibration="paper",
        episodes=10**4,
        seeds=1,
    )
    card = BatchRun.noise_of_run(run).guarantee()
    refused = {why for a in ALGORITHMS.values() for why in a.refused.values()}
    return {card.where, *card.assumptions} | refused


def of_data_sets() -> set[str]:
    """What the page Offline and the cards of its runs say."""
    card = noise_of_run(OfflineSpec(algorithm="dp-apvi", n=1000))[0].guarantee
    said = set(promise.OFFLINE.strip().split("\n\n"))
    said |= {p.summary for p in PROMISES.values()}
    said |= {promise.concentrated_verdict(1.0, proved)[1] for proved in (0.8, 1.0, 1.4)}
    said |= {promise.concentrated_verdict(rho, rho, promise.PERSON)[1] for rho in (1.0, 1e6)}
    said |= {promise.concentrated_verdict(1e6, 1e6)[1], NOISY_WAY.alt, RAW_WAY.alt}
    said |= {
        uploads.DECLARED,
        uploads.WHY_DECLARED,
        uploads.CLIPPED,
        uploads.OUTSIDE,
        uploads.KEPT,
        uploads.MALFORMED,
        uploads.LINKED,
        uploads.NOT_PRIVATE,
    }
    said |= {uploads.ESTIMATE, uploads.about_spending("ρ = 11"), *ASSUMPTIONS}
    so_far = uploads.budget_so_far("ward", "the total ρ = 1", "ρ = 0.2, or (2.92, 10⁻⁶) as (ε, δ)", 2)
    said |= {so_far, uploads.as_a_pair("(2.92, 10⁻⁶)"), uploads.LIMITED, uploads.AGAIN}
    said |= {ALIKE, uploads.ALIKE, APART, verdict.beforehand(15_000, 5000, "ρ = 0.1", "ρ = 0.1")}
    said |= {*PEOPLE, uploads.FIRST, verdict.beforehand(15_000, 5000, "ρ = 0.1", "ρ = 0.1", 3)}
    return said | {card.trust, card.unit, card.where, *card.assumptions}


def of_lessons() -> set[str]:
    """Why something is so, where noise or a promise is the reason, and what is said of what is proved."""
    steps = [step for lesson in LESSONS.values() for step in lesson.steps]
    told = [step.why for step in steps] + [one for lesson in LESSONS.values() for one in lesson.recap]
    about = {one for one in told if re.search("noise|[ερδ]|priva|hid|releas|reports|attack", one)}
    bare, noisy, believed, _ = LESSONS["epsilon"].steps
    about |= {step.found(taught()) for step in (bare, noisy, believed)}
    printed, _, attacked = LESSONS["proved"].steps
    return about | {step.found(taught()) for step in (printed, attacked)}


def of_rooms() -> set[str]:
    """What the page Room says, of 40 answers at epsilon = 1, and where it says it otherwise of a single one at 4."""
    return {
        room.PHONE["tap"],
        room.PHONE["script"],
        messages("room")["coin"]["kept"],
        messages("room")["coin"]["drew"],
        room.PHONE["watched"],
        room.PHONE["repeated"],
        room.PHONE["guesses"],
        room.coin(1.0, flip(1.0)),
        room.spent_on_phone([1.0, 0.5], 5.0),
        room.held(5.0),
        room.left(3.5, 5.0),
        room.found(40, 21, answered_yes(21, 40, 1.0)),
        room.local(1.0),
        room.shuffled(40, shuffled(1.0, 40, DELTA), DELTA),
        room.central(40, 1.0, 3),
        room.found(1, 0, answered_yes(0, 1, 4.0)),
        room.shuffled(1, shuffled(4.0, 1, DELTA), DELTA),
        room.central(1, 4.0, curator_count(1, 4.0, np.random.default_rng(0))[1]),
    } | of_clinics()


def of_clinics() -> set[str]:
    """What it says of 40 phones that play the clinic at epsilon = 1, and of one at 3 that is asked twice."""
    said = clinic.SAID
    return {
        *(clinic.about(4, asked) for asked in (1, 2)),
        clinic.proof(1.0, 0.5, 1),
        clinic.proof(3.0, 0.75, 2),
        said["script"],
        said["watched"],
        said["written"],
        messages("room")["patient"]["drew"],
        messages("room")["patient"]["kept"],
        *clinic.three(40, 1.0, DELTA).split("\n\n"),
    }


def of_attacks() -> set[str]:
    """What the page Attack and the curves of a card say, of a run that proves (1, 10^-6)."""
    found, caught = Measured(0.926, 0.7, 1.16), Measured(2.25, 1.99, 2.51)
    return {
        attack.TRADE_OFF,
        attack.MEANING,
        *attack.STEPS.values(),
        *(attack.MEETS.format(p.words.seen) for p in PRIVATIZERS.values() if p.mechanisms),
        attack.saw(PRIVATIZERS["central"].words.seen, 333, 120),
        attack.about_attack(found, 1.0, 1.0, 1e-6, farthest=True, half=False)[1],
        attack.about_attack(found, 1.0, 1.0, 1e-6, farthest=False, half=False)[1],
        attack.about_attack(caught, 1.0, 1.0, 1e-6, farthest=True, half=True)[1],
        attack.about_attack(caught, 1.0, 1.0, 1e-6, farthest=True, half=False)[1],
        attack.about_attack(caught, 4.0, 1.0, 1e-6, farthest=True, half=False)[1],
        attack.about_attack(found, 1.0, 1.0, 1e-6, farthest=True, half=True)[1],
        attack.surely(0.11, 1e-6),
        attack.about_scores(Measured(0.546, 0.534, 0.559), 0.547),
        attack.about_errors(False),
        attack.about_errors(True),
        attack.advantage(0.547),
        attack.about_guesses(0.547),
        attack.concentrated(0.028),
        attack.concentrated(None),
        attack.about_epsilons((1e-10, 0.03), (1.41, 0.187)),
        attack.about_belief(0.5, 1.0, (0.0, 0.4, 1.0), (1.0, 0.5, 0.0)),
        attack.about_collusion("one", 0, 6, 0.0),
        attack.about_collusion("subtract", 6, 6, 0.0),
        attack.about_collusion("tree", 0, 6, 12.0),
    }


def test_a_budget_that_protects_nobody_gets_no_badge() -> None:
    good, said = promise.concentrated_verdict(1e6, 1e6)
    assert not good
    assert said.startswith("**So large a budget protects nobody:** ρ = 1 million is proved.")
    assert promise.concentrated_verdict(25.0, 25.0)[0]
    mistaken = [NormalDist().cdf(-math.sqrt(rho / 2)) for rho in (promise.HOLLOW - 0.2, promise.HOLLOW)]
    assert mistaken[0] > 1e-6 > mistaken[1] > 0.9e-6


def test_the_list_has_every_sentence_of_the_vocabulary_and_no_other() -> None:
    said = vocabulary()
    assert list(said) == list(PROOFS["places"])
    assert {place: listed(place) for place in said} == said


def test_other_sentences_of_the_list_stand_where_it_says() -> None:
    rows = [row for row in PROOFS["sentence"] if row["where"] not in PROOFS["places"]]
    assert rows
    for row in rows:
        assert row["says"] in plain((ROOT / row["where"]).read_text(encoding="utf-8")), row["says"]


def test_each_follows_from_a_definition_a_theorem_or_a_test_that_there_is() -> None:
    for row in PROOFS["sentence"]:
        assert row["follows"].startswith(KNOWN), row["says"]
        assert row["follows"] != "tests/"  # that the named one is there: tests/test_named.py


def test_the_numbers_in_what_epsilon_and_delta_mean() -> None:
    """1.11, 2.7 and 22,000 times; losses above epsilon come twenty times as often as delta says."""
    assert [math.exp(e) for e in (0.1, 1.0, 10.0)] == pytest.approx([1.11, 2.7, 22_000], rel=0.01)
    mu = gaussian_mu(1.0, 1e-6)
    assert stats.norm.sf(1.0, mu * mu / 2, mu) == pytest.approx(20e-6, rel=0.02)
    for phrase in (
        "1.11 at ε = 0.1, 2.7 at ε = 1, and 22,000 at",
        "more than 2.7 times",
        "20 in a million",
    ):
        assert phrase in plain(promise.MEANING)


def test_the_hours_that_counts_are_kept_for() -> None:
    assert f"after {kept.HOURS} hours" in uploads.KEPT


def test_the_number_in_what_rho_means() -> None:
    """Gaussian noise of standard deviation 1 for a shift of mu just proves rho = mu^2/2."""
    assert gaussian_mu(7.29, 1e-6) == pytest.approx(math.sqrt(2), rel=1e-3)
    assert "just enough for ρ = 1 is enough for (7.29, 10⁻⁶)" in plain(promise.OFFLINE)


def test_whether_rho_is_proved_is_said_of_the_numbers_given() -> None:
    """DP-APVI's printed noise proves what it claims; DP-VAPVI's 0.8 rho on halves, and 1.4 rho on the whole."""
    linear = OfflineSpec(environment="linear-synthetic", algorithm="dp-vapvi", n=1000)
    for spec, proved, good, said in (
        (OfflineSpec(algorithm="dp-apvi", n=1000), 1.0, True, "Proved as claimed"),
        (linear, 0.8, True, "More is proved than claimed"),
        (linear.replace(algorithm_params={"data": "whole"}), 1.4, False, "Less is proved than claimed"),
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
        assert f"give away about {away} of" in promise.against_users(delta, users)
