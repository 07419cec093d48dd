"""How many users it takes: the law finds what is there, its error is honest, and verdicts claim no more than that."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq

from bench import users as bench
from bench.bundled import lines_of
from bench.kinds import DRAWN, HIDDEN
from dprl.mdp.tabular import normalised
from dprl.simulation import RunSpec
from dprl.simulation.prepare import noise_of_schedule
from dprl.users import (
    BUDGETS,
    MODELS,
    MOST,
    Asked,
    Table,
    answers,
    curve,
    episodes_needed,
    likely,
    likely_from,
    ways,
)
from dprl.users.law import (
    At,
    Point,
    Power,
    covering,
    crossed,
    factor,
    fitted,
    held_out,
    log_needed,
    off,
    signal,
)
from pages.shared.results.data import asset, path_of
from tests.problems import few

TRUE = {
    "none": Power(1.0, 1.0, 1.0, 2.0, 1.5, 1.2),
    "central": Power(2.0, 1.5, 1.0, 2.0, 1.0, 1.1, 1.0),
    "shuffle": Power(3.0, 1.5, 1.0, 2.0, 1.0, 1.1, 1.0),
    "local": Power(1.0, 3.0, 2.0, 3.0, 2.0, 1.9, 2.0),
}
SIZES = (
    (3, 2, 5, 0.6),
    (6, 2, 20, 0.2),
    (11, 4, 12, 0.5),
    (5, 6, 6, 0.4),
    (10, 3, 30, 0.1),
    (4, 8, 10, 0.8),
    (8, 5, 8, 0.3),
)


def world(spread: float = 0.0) -> list[Point]:
    """What TRUE says of seven environments, each off by a factor of its own."""
    rng = np.random.default_rng(0)
    found = []
    for place, (size, model) in enumerate(product(SIZES, MODELS)):
        shift = spread * rng.standard_normal()
        for loss, epsilon in product((0.01, 0.03, 0.1), (0.05, 0.5, 5.0) if model != "none" else (1.0,)):
            mu = signal(model, epsilon, 1e-6, size[2])
            needed = float(np.exp(log_needed(TRUE, model, At(*size, loss, mu)) + shift))
            found.append(
                Point(f"env {place // 4}", model, *size, loss, mu, needed if needed <= MOST else np.inf)
            )
    return found


@pytest.fixture(scope="module")
def table() -> Table:
    return Table.from_dict(asset("users"))


def test_a_law_that_holds_exactly_is_found_and_has_no_error() -> None:
    points = world()
    law = fitted(points)
    for model, power in TRUE.items():
        assert astuple(law[model]) == pytest.approx(astuple(power), abs=1e-3)
    assert all(one == pytest.approx(1, abs=1e-3) for one in held_out(points).values())


def test_the_error_is_that_of_environments_left_out() -> None:
    """Each is off by a factor of its own, about e^0.7: what is fitted to them all is nearer than what is not."""
    points = world(spread=0.7)
    law, left = fitted(points), held_out(points)
    for model in MODELS:
        own = [p for p in points if p.model == model]
        within = factor(off(law, own), [p.environment for p in own])
        assert left[model] > 1.3 * within


def test_what_is_stated_covers_one_more_kind_than_was_seen() -> None:
    """Kinds are drawn alike, each off by a factor of its own: a new one is inside at least as often as is said."""
    rng, inside = np.random.default_rng(0), []
    for _ in range(400):
        size = rng.standard_normal(13) ** 2
        errors = (size[:, None] * rng.uniform(0.5, 1.5, (13, 4)) * rng.choice([-1, 1], (13, 1))).ravel()
        names = [f"kind {i // 4}" for i in range(52)]
        said = np.log(covering(errors[:-4], names[:-4]))
        inside.append(np.mean(np.abs(errors[-4:]) <= said))
    assert 0.9 - 3 * np.std(inside) / np.sqrt(400) <= np.mean(inside) <= 0.97
    # with few kinds all of them
    assert covering(np.log([8.0, 1.0, 2.0]), ["a", "b", "c"]) == pytest.approx(8)


@pytest.mark.parametrize("kind", [*DRAWN, *HIDDEN])
def test_a_kind_makes_problems_inside_of_what_is_measured(kind: str, table: Table) -> None:
    assert not set(DRAWN) & set(HIDDEN)
    for number in range(20):
        P, R, d1, H = {**DRAWN, **HIDDEN}[kind](np.random.default_rng([1, number]))
        RunSpec({"P": normalised("P", P), "R": R, "d1": d1}, environment_params={"H": H})  # or it is no model
        for name, value in zip("SAH", (*R.shape, H), strict=True):
            assert table.ranges[name][0] <= value <= table.ranges[name][1]


def test_the_table_comes_back_whole(table: Table) -> None:
    assert lines_of(json.loads(json.dumps(table.to_dict()))) == path_of("users").read_text(encoding="utf-8")


def test_what_follows_from_the_runs_is_what_is_bundled(table: Table) -> None:
    """Exponents and errors are computed from the measured numbers, and from nothing else."""
    drawn = bench.points(table.drawn.values(), table.drawn_epsilons)
    points = [*bench.points(table.problems.values()), *drawn]
    law = fitted(points)
    for model in MODELS:
        for name in ("S", "loss", "mu"):
            assert getattr(law[model], name) == pytest.approx(getattr(table.law[model], name), abs=0.01)
    assert bench.neighbours(table.problems.values()) == pytest.approx(table.between, rel=0.01)
    free = [point for point in points if point.model == "none"]  # the other models take longer
    assert held_out(free)["none"] == pytest.approx(table.held_out["none"], rel=0.01)
    kind = min(table.crossed["none"], key=table.crossed["none"].__getitem__)
    assert crossed(free, [kind])["none"][kind] == pytest.approx(table.crossed["none"][kind], abs=0.01)
    assert {case.key: case.title for case in bench.MEASURED} == {
        k: p.title for k, p in table.problems.items()
    }
    assert [case.key for _, case in bench.drawn(DRAWN, bench.EACH)] == list(table.drawn)
    for problems, kinds in ((table.drawn, DRAWN), (table.hidden, HIDDEN)):
        assert {one.environment for one in problems.values()} == set(kinds)
    for again, check in zip(bench.checks_of_kinds(table), table.checks, strict=False):
        assert (again.of, again.model, again.numbers) == (check.of, check.model, check.numbers)
        assert (again.within, again.factor) == pytest.approx((check.within, check.factor), rel=0.01)


def test_a_bundled_number_is_what_the_engine_says_today(table: Table) -> None:
    case = next(case for case in bench.MEASURED if case.key == "hard-jdp")
    for model, place in (("none", 0), ("local", 3)):
        spec = case.spec(model, bench.EPSILONS[place])
        assert bench.needed(spec) == pytest.approx(table.problems[case.key].needed[model][place], rel=1e-3)


def test_a_verdict_claims_no_more_than_the_error(table: Table) -> None:
    close = "too close to call"
    for need in answers(table, Asked()):
        ends = {
            need.high * 1.01: "enough",
            need.high / 1.01: close,
            need.low * 1.01: close,
            need.low / 1.01: "not enough",
        }
        for users, verdict in ends.items():
            again = {one.model: one for one in answers(table, Asked(users=int(users)))}
            assert again[need.model].verdict == verdict


def test_a_policy_that_loses_little_enough_leaves_nothing_to_learn(table: Table) -> None:
    """Whatever users there are; at a hair more than is tolerated the verdict is that of learning from nothing."""
    asked = Asked(users=1, loss=5.0)
    learned = answers(table, asked)
    for today, met in ((5.0, True), (0.0, True), (5.001, False), (100.0, False)):
        found = answers(table, replace(asked, today=today))
        assert [need.met for need in found] == [met] * len(MODELS)
        assert {need.verdict for need in found} == {"enough" if met else "not enough"}
        assert [need.needed for need in found] == [need.needed for need in learned]


def test_the_epsilon_that_users_pay_for_needs_just_these_users(table: Table) -> None:
    asked = Asked(users=10**7)
    for need in answers(table, asked)[1:]:
        if BUDGETS[0] < need.least < np.inf:
            needed = curve(table, asked, need.model, np.array([need.least]))
            assert needed == pytest.approx([asked.users], rel=0.01)


def test_measured_problems_answer_with_what_was_measured(table: Table) -> None:
    for (key, problem), (e, epsilon), (x, loss) in product(
        list(table.problems.items())[::9], list(enumerate(table.epsilons))[1:5], enumerate(table.losses)
    ):
        asked = Asked(problem=key, epsilon=epsilon, loss=100 * loss)
        for need in answers(table, asked):
            row = problem.needed[need.model][0 if need.model == "none" else e]
            assert need.needed == pytest.approx(row[x], rel=1e-6)
            assert need.kind == "measured"
            assert need.factor == table.between[need.model]


def test_a_line_goes_on_where_more_than_can_be_run_were_needed(table: Table) -> None:
    """FrozenLake with no trusted party needs more than MOST users at epsilon 0.1, which was run, and fewer at 0.3."""
    needed = curve(table, Asked(problem="frozenlake"), "local", np.array([0.1, 0.2, 0.3, 0.5]))
    assert np.isinf(needed[0])
    assert (np.diff(needed[1:]) < 0).all()
    rows = [(p, a) for p in table.problems.values() if np.isfinite(a := p.needed["local"]).all()]
    for problem, measured in rows:  # as if the two smallest budgets had needed too many
        cut = measured.copy()
        cut[:2] = np.inf
        short = replace(table, problems={"cut": replace(problem, needed={"local": cut})})
        found = curve(short, Asked(problem="cut", loss=10.0), "local", np.array([0.2]))
        whole = curve(table, Asked(problem=problem.key, loss=10.0), "local", np.array([0.2]))
        assert np.isinf(found[0]) or 0.75 < found[0] / whole[0]


def test_beyond_what_was_measured_there_is_no_verdict(table: Table) -> None:
    for asked in (Asked(S=5000), Asked(A=900), Asked(H=700), Asked(value=1.0)):
        found = answers(table, asked)
        assert {need.verdict for need in found} == {"not known"}
        assert all(np.isnan(need.factor) for need in found)


def test_more_privacy_less_loss_and_less_trust_take_more_users(table: Table) -> None:
    asked = Asked()
    central, shuffle, local = (curve(table, asked, model, BUDGETS) for model in MODELS[1:])
    for line in (central, shuffle, local):
        assert (np.diff(line[np.isfinite(line)]) < 0).all()
    assert (central < shuffle).all()
    assert (shuffle < local).all()
    for model in MODELS:
        at = np.array([1.0])
        assert curve(table, replace(asked, loss=1.0), model, at) > curve(table, asked, model, at)
    strict = curve(table, replace(asked, delta=1e-12), "central", BUDGETS)
    assert (strict > central).all()


@pytest.mark.parametrize("m", [1, 3, 10])
@pytest.mark.parametrize("model", ["central", "shuffle", "local"])
def test_noise_for_m_episodes_is_that_of_the_signal_that_numbers_are_read_off_at(model: str, m: int) -> None:
    """The epsilon with the same signal for one episode has the noise that the engine adds for m of them."""
    run = RunSpec(privacy=model, episodes=10**6, epsilon=2.0, contribution=m)
    H, delta = run.problem_size.H, run.delta or 1e-6
    wanted = signal(model, 2.0, delta, H, m)
    epsilon = float(brentq(lambda one: np.log(signal(model, one, delta, H) / wanted), 1e-3, 4.0))
    alone = run.replace(contribution=1, epsilon=epsilon)
    several, one = (noise_of_schedule(each, run.episodes).std.max() for each in (run, alone))
    assert several == pytest.approx(one, rel=0.02)


@pytest.mark.parametrize("model", MODELS)
def test_users_who_return_take_more_episodes(model: str, table: Table) -> None:
    for asked in (Asked(), Asked(problem="riverswim"), Asked(epsilon=0.1)):
        needed = [episodes_needed(table, asked, model, m) for m in (1, 2, 3)]
        assert needed[0] == answers(table, asked)[MODELS.index(model)].needed
        if model == "none":
            assert needed[0] == needed[1] == needed[2]
        else:
            assert needed == sorted(needed)
            assert needed[2] > needed[0]
    least = min(table.epsilons)
    asked = Asked(epsilon=2 * least)
    assert np.isfinite(episodes_needed(table, asked, model, 2)) or model != "none"
    assert np.isnan(episodes_needed(table, asked, model, 3)) == (model != "none")


@pytest.mark.parametrize("seed", range(few(40)))
def test_the_answer_is_true_with_respect_to_the_chart(table: Table, seed: int) -> None:
    """Over settings drawn at random: what is likely enough lies above the whole band, and what is not does not."""
    rng = np.random.default_rng(seed)
    asked = Asked(
        users=int(10 ** rng.uniform(2, 13)),
        S=int(rng.integers(2, 21)),
        A=int(rng.integers(2, 12)),
        H=int(rng.integers(4, 31)),
        value=float(rng.integers(5, 91)),
        epsilon=float(f"{10 ** rng.uniform(-1.5, 1):.2g}"),
        loss=float(rng.integers(1, 11)),
        problem=str(rng.choice(["", *table.problems])),
    )
    found = answers(table, asked)
    for need in found[1:]:
        band = curve(table, asked, need.model, BUDGETS) * need.factor
        least = likely_from(table, asked, need.model)
        enough = asked.users >= band
        assert enough[BUDGETS >= least].all()
        if np.isinf(least):
            assert not enough[-1]
        else:
            assert not enough[BUDGETS < 0.9 * least].any() or least == BUDGETS[0]
        assert (need.verdict == "enough") == likely(table, asked, need.model)
        for way in ways(table, asked, need.model):
            assert way != asked
            (then,) = (one for one in answers(table, way) if one.model == need.model)
            assert then.verdict == "enough"
