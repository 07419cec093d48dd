"""The clinic that a class plays: what a report may be, what it proves, and what reports say."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest

from dprl.fields import SpecError
from dprl.rooms import clinic
from dprl.rooms.response import flip
from dprl.rooms.steps import Clinic, from_json, spends, to_json
from dprl.simulation import RunSpec, start
from dprl.simulation.loops.replan import SeedRun

EPSILONS = (0.25, 1.0, 3.0)  # with one answer, and at 3 with two


def reports(n: int, epsilon: float, seed: int = 0) -> list[str]:
    """What n phones send, as assets/web/patient.js draws it."""
    rng, mdp, asked = np.random.default_rng(seed), clinic.world(), clinic.asking_at(epsilon)
    found = []
    for _ in range(n):
        state, way = int(rng.choice(mdp.S, p=mdp.d1)), []
        for step in range(mdp.H):
            row = (step, state, clinic.ADVISED)
            paid, to = rng.random() < mdp.R[row], int(rng.choice(mdp.S, p=mdp.P[row]))
            way.append((state, paid, to))
            state = to
        group = int(rng.integers(asked.groups))
        text = [str(group)]
        for step in asked.steps(group, mdp.H):
            part = int(rng.choice(3, p=asked.shares))
            state, paid, to = way[step]
            hot = (state * mdp.S + to, state, state if paid else -1)[part]
            bits = np.arange(clinic.width(part)) == hot
            bits ^= rng.random(len(bits)) < flip(asked.bit)
            text.append(clinic.PARTS[part] + "".join(map(str, bits.astype(int))))
        found.append("-".join(text))
    return found


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_phones_are_asked_what_the_simulator_asks_its_users(epsilon: float) -> None:
    given: dict[str, Any] = {"environment_params": clinic.PARAMETERS, "privacy": "local", "epsilon": epsilon}
    spec = RunSpec(clinic.ENVIRONMENT, **given, episodes=10**9, seeds=1)
    run = cast(SeedRun, start(spec, 0))
    (groups, bit, steps), _, shares = run.noise.stream.batches
    asked = clinic.asking_at(epsilon)
    assert (asked.groups, asked.bit, len(asked.steps(0, run.mdp.H))) == (groups, bit, steps)
    assert np.allclose(asked.shares, shares, atol=1e-15)
    assert (run.spec.mechanism, run.spec.reports, run.spec.delta) == ("unary", "played", 0)
    assert (run.state.policy == clinic.ADVISED).all()


@pytest.mark.parametrize("epsilon", [0.1, 0.25, 1.0, 1.5, 2.0, 3.0, 5.0])
def test_a_report_tells_two_patients_apart_by_epsilon_and_never_more(epsilon: float) -> None:
    """Given the question, whose law is the same for all, two true answers differ in two bits of each step at most."""
    asked = clinic.asking_at(epsilon)
    turned = flip(asked.bit)
    steps = max(len(asked.steps(group, clinic.world().H)) for group in range(asked.groups))
    assert 0.999 * epsilon < 2 * steps * math.log((1 - turned) / turned) <= epsilon


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_reports_say_what_all_did_without_bias_and_with_no_more_noise_than_is_said(epsilon: float) -> None:
    n = 800
    found, mdp = clinic.visits_read(reports(n, epsilon), epsilon), clinic.world()
    most = clinic.spread_of_visits(n, epsilon)
    law = clinic.visits_expected(n)
    assert law.sum() == pytest.approx(n * mdp.H)
    assert (abs(found - law) < 5 * most).all()
    many = [clinic.visits_read(reports(40, epsilon, seed), epsilon) for seed in range(12)]
    assert (np.std(many, axis=0) < 1.8 * clinic.spread_of_visits(40, epsilon)).all()


@pytest.mark.parametrize(
    "report",
    [
        "",
        "yes",
        "0",
        "0-",
        "4-n000000",  # no such group
        "0-n00000",  # a bit too few
        "0-m000000",
        "0-n000002",
        "0-n000000-n000000",  # two steps, where one is asked about
        "0-x000000",
        "\N{ARABIC-INDIC DIGIT ZERO}-n000000",
        "0-n000000\n",
        "0-n" + "0" * 100_000,
    ],
)
def test_what_no_phone_sends_is_refused(report: str) -> None:
    with pytest.raises(SpecError):
        Clinic(1.0).check(report)


def test_what_phones_send_is_taken_and_comes_back_from_the_store() -> None:
    for epsilon in EPSILONS:
        for report in reports(30, epsilon):
            Clinic(epsilon).check(report)
    assert from_json(to_json(Clinic(2.0))) == Clinic(2.0)
    assert spends(Clinic(2.0)) == 2.0
