"""The clinic that a class plays: what a report may be, what it proves, what reports say, and how learning goes on."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from dprl.fields import SpecError
from dprl.rooms import clinic
from dprl.rooms.clinic_run import SIMULATED, USERS, after_class, begin_after, gap, spec_of
from dprl.rooms.response import DRAWS, flip
from dprl.rooms.steps import Clinic, Onward, from_json, spends, to_json
from dprl.simulation import start
from dprl.simulation.loops.replan import SeedRun

ROOT = Path(__file__).parents[2]
EPSILONS = (0.25, 1.0, 3.0)  # with one answer, and at 3 with two


def reports(n: int, epsilon: float, seed: int = 0) -> list[str]:
    """What n phones send, as assets/web/patient.js draws it."""
    rng, mdp, asked = np.random.default_rng(seed), clinic.world(), clinic.asking_at(epsilon)
    found = []
    for _ in range(n):
        state, way = int(rng.choice(mdp.S, p=mdp.d1)), []
        for step, told in enumerate(clinic.first_policy()):
            row = (step, state, told[state])
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
    run = cast(SeedRun, start(spec_of("local", epsilon), 0))
    (groups, bit, steps), _, shares = run.noise.stream.batches
    asked = clinic.asking_at(epsilon)
    assert (asked.groups, asked.bit, len(asked.steps(0, run.mdp.H))) == (groups, bit, steps)
    assert np.allclose(asked.shares, shares, atol=1e-15)
    assert (run.spec.mechanism, run.spec.reports, run.spec.delta) == ("unary", "played", 0)
    assert (run.state.policy == clinic.first_policy()).all()


@pytest.mark.parametrize("epsilon", [0.1, 0.25, 1.0, 1.5, 2.0, 3.0, 5.0])
def test_a_report_tells_two_patients_apart_by_epsilon_and_never_more(epsilon: float) -> None:
    """Given the question, whose law is the same for all, two true answers differ in two bits of each step at most."""
    asked = clinic.asking_at(epsilon)
    turned = asked.turned / DRAWS
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
    counts = clinic.released(reports(40, epsilon), epsilon)
    assert (counts[:, :, 1:] == 0).all()  # rows that nobody was told to play


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
    for content in (Clinic(2.0), Onward(3)):
        assert from_json(to_json(content)) == content
    assert (spends(Clinic(2.0)), spends(Onward(3))) == (2.0, 0.0)


def test_a_run_that_begins_with_what_another_released_is_in_its_state() -> None:
    """The class is the first block of a run: set from what was released, all that planning looks at is the same."""
    spec = spec_of("local", 1.0)
    run = cast(SeedRun, start(spec, 0))
    run.kernels.simulate(*run.arguments(1, USERS).values())  # one release
    n = run.users
    begun = begin_after(spec, run.state.noisy, n)
    for name in ("released", "errors", "pace", "kept", "places", "policy", "Q", "V", "value"):
        assert np.array_equal(getattr(begun.state, name), getattr(run.state, name)), name
    assert begun.state.position.tolist()[:3] == run.state.position.tolist()[:3]
    assert np.allclose(begun.state.noise, begun.state.noisy.ravel() / np.tile(begun.setup.scales, 72))


def test_forty_phones_teach_nothing_and_a_billion_simulated_users_do() -> None:
    found = json.loads(after_class(reports(40, 1.0), 1.0))
    assert (found["n"], found["same"]) == (40, True)
    assert set(found["curves"]) == {"local", *SIMULATED}
    first = cast(SeedRun, start(spec_of("none", 1.0), 0))
    worth = first.mdp.d1 @ first.setup.V_star
    assert found["lost"]["local"] == pytest.approx(gap(first) / worth)
    assert found["lost"]["local"] > 0.85
    assert found["lost"]["none"] < 0.5
    ends = {who: curve[-1] for who, curve in found["curves"].items()}
    assert {users for users, _ in ends.values()} == {USERS}
    assert ends["none"][1] < ends["central"][1] < ends["shuffle"][1] < ends["local"][1] < 0.1
    local = dict(map(tuple, found["curves"]["local"]))
    assert {local[users] for users in local if users < 40} == {round(found["lost"]["local"], 6)}


def test_the_note_says_how_far_visits_of_a_class_are_off() -> None:
    """At one step, and summed over all steps: the noise of steps is independent."""
    whole = clinic.spread_of_visits(40, 1.0)
    one = whole / math.sqrt(clinic.world().H)
    text = " ".join((ROOT / "docs/notes/privacy.md").read_text("utf-8").split())
    assert f"at most {one:.0f} at one step. Summed over all steps, it is at most {whole:.0f}." in text
