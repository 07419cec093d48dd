"""Randomised response: what its coin proves, what the reports say, and what a shuffler or a centre would add.

And the clinic that a class plays: what a report may be, what it proves, and what reports say.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any, cast

import numpy as np
import pytest

from dprl.fields import SpecError
from dprl.rooms import clinic
from dprl.rooms.response import DRAWS, curator_count, flip, law, opposites, share_of_yes, shuffled
from dprl.rooms.steps import Clinic, from_json, spends, to_json
from dprl.simulation import RunSpec, start
from dprl.simulation.loops.replan import SeedRun

EPSILONS = [0.1, 0.5, 1.0, math.log(3), 2.0, 5.0]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_report_tells_answers_apart_by_epsilon_and_never_more(epsilon: float) -> None:
    """Either report is at most e^epsilon times as likely with one answer as with the other, and hardly less."""
    kept, turned = DRAWS - opposites(epsilon), opposites(epsilon)
    assert 0.999999 * epsilon < math.log(kept / turned) <= epsilon


def test_the_law_of_the_reports_is_that_of_every_coin_in_turn() -> None:
    epsilon, n = 1.0, 4
    wrong = flip(epsilon)
    for true in range(n + 1):
        answers = [i < true for i in range(n)]
        chances = np.zeros(n + 1)
        for turned in product([False, True], repeat=n):
            reports = sum(a != t for a, t in zip(answers, turned, strict=True))
            chances[reports] += math.prod(wrong if t else 1 - wrong for t in turned)
        np.testing.assert_allclose(law(epsilon, n)[true], chances, atol=1e-15)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 12, 40])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_interval_covers_every_true_share_95_times_in_100(epsilon: float, n: int) -> None:
    """Whatever the true answers are, over the coins alone; and it is never a single point."""
    found = [share_of_yes(k, n, epsilon) for k in range(n + 1)]
    for true, row in enumerate(law(epsilon, n)):
        covered = sum(p for p, one in zip(row, found, strict=True) if one.low <= true / n <= one.high)
        assert covered >= 0.95
    assert all(0 <= one.low <= one.value <= one.high <= 1 for one in found)
    assert all(one.high - one.low > 0.01 for one in found)


@pytest.mark.parametrize(("epsilon", "n"), [(0.5, 40), (1.0, 1), (3.0, 25)])
def test_the_reports_corrected_for_the_coin_are_unbiased(epsilon: float, n: int) -> None:
    wrong = flip(epsilon)
    for true, row in enumerate(law(epsilon, n)):
        mean = sum(p * (k - n * wrong) / (1 - 2 * wrong) for k, p in enumerate(row))
        assert mean == pytest.approx(true, abs=1e-9)
    for k in range(math.ceil(n * wrong), math.floor(n * (1 - wrong)) + 1):
        assert share_of_yes(k, n, epsilon).value == pytest.approx((k / n - wrong) / (1 - 2 * wrong))


def test_without_reports_nothing_is_known_and_two_leave_nearly_everything_open() -> None:
    assert share_of_yes(0, 0, 1.0) == (0.5, 0.0, 1.0)
    for k in range(3):
        low, high = share_of_yes(k, 2, 1.0)[1:]
        assert high - low > 0.9
    nobody = share_of_yes(0, 500, 1.0)  # as often as two phones that both report no
    assert nobody.low == 0
    assert 0.05 < nobody.high < 0.15


def test_more_phones_leave_a_narrower_interval() -> None:
    widths = [one.high - one.low for n in (10, 40, 100, 500, 10_000) if (one := share_of_yes(n / 2, n, 1.0))]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.05 < widths[-2]


def test_what_a_shuffler_proves_is_what_the_definition_says() -> None:
    """Every other person's answers and every set of sums tried, in a class of three."""
    epsilon, n, delta = 1.0, 3, 0.05
    proved = shuffled(epsilon, n, delta)
    wrong = flip(epsilon)

    def sums(answers: tuple[bool, ...]) -> np.ndarray:
        chances = np.ones(1)
        for yes in answers:
            chances = np.convolve(chances, [wrong, 1 - wrong] if yes else [1 - wrong, wrong])
        return chances

    def worst(e: float) -> float:
        found = 0.0
        for others in product([False, True], repeat=n - 1):
            for mine in (True, False):
                one, other = sums((mine, *others)), sums((not mine, *others))
                for chosen in product([False, True], repeat=n + 1):
                    found = max(found, float((one - math.exp(e) * other)[list(chosen)].sum()))
        return found

    assert 0 < proved < epsilon
    assert worst(proved) <= delta < worst(proved - 1e-4)


def test_a_shuffler_helps_more_the_more_answer_and_never_harms() -> None:
    values = [shuffled(1.0, n, 1e-6) for n in (1, 10, 40, 100, 200)]
    assert values == sorted(values, reverse=True)
    assert values[0] <= 1.0
    # Feldman, McMillan, Talwar (2021), Theorem 3.1, where it holds: epsilon <= ln(n/(16 ln(2/delta)))
    n, delta, e = 200, 1e-1, 0.5
    root = math.sqrt(math.exp(e) * math.log(4 / delta) / n)
    bound = math.log1p(math.tanh(e / 2) * (8 * root + 8 * math.exp(e) / n))
    assert e <= math.log(n / (16 * math.log(2 / delta)))
    assert shuffled(e, n, delta) <= bound


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_a_trusted_centre_is_as_far_off_as_is_said(epsilon: float) -> None:
    """Within `far` 95 times in 100, one less would not do; 40 of 500 draws beyond it come once in 300 such tests."""
    ratio = math.exp(-epsilon)
    _, far = curator_count(20, epsilon, np.random.default_rng(0))

    def within(z: int) -> float:
        return (1 - ratio) / (1 + ratio) * (1 + 2 * sum(ratio**i for i in range(1, z + 1)))

    assert within(far) >= 0.95
    assert far == 0 or within(far - 1) < 0.95
    rng = np.random.default_rng(1)
    off = np.array([curator_count(20, epsilon, rng)[0] - 20 for _ in range(500)])
    assert (np.abs(off) > far).sum() <= 40
    assert abs(off.mean()) < 5 * math.sqrt(2 * ratio / (1 - ratio) ** 2 / 500)


OF_CLINICS = (0.25, 1.0, 3.0)  # with one answer, and at 3 with two


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


@pytest.mark.parametrize("epsilon", OF_CLINICS)
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
    for epsilon in OF_CLINICS:
        for report in reports(30, epsilon):
            Clinic(epsilon).check(report)
    assert from_json(to_json(Clinic(2.0))) == Clinic(2.0)
    assert spends(Clinic(2.0)) == 2.0
