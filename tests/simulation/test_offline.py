"""Data sets as counts, exact in distribution at any size, and specs of runs that learn from them."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dprl
from dprl import ENVIRONMENTS, OfflineSpec, SpecError, Sweep, spec_from_json
from dprl.__main__ import main
from dprl.mdp import Size, TabularMDP, planning
from dprl.mdp.counts import rewards, transitions, visits
from dprl.mdp.sampling import multinomial
from dprl.mdp.tabular import Array
from dprl.simulation import OfflineTrace, answer, answered, datasets, estimate, start
from dprl.simulation.datasets import BEHAVIOURS, Part
from dprl.simulation.offline_spec import FIELDS, sizes_of
from tests.compare import FIVE, LEVEL
from tests.problems import random_mdp, refused, tiny


def test_a_multinomial_is_one() -> None:
    """All outcomes of 4 in 3 cells, with their frequencies."""
    p, times = np.array([0.2, 0.7, 0.1]), 20_000
    drawn = multinomial(np.random.default_rng(0), np.full(times, 4), np.tile(p, (times, 1)))
    outcomes = [x for x in itertools.product(range(5), repeat=3) if sum(x) == 4]
    seen = [int((drawn == x).all(-1).sum()) for x in outcomes]
    expected = [times * stats.multinomial.pmf(x, 4, p) for x in outcomes]
    assert sum(seen) == times
    assert stats.chisquare(seen, expected).pvalue > LEVEL


@pytest.mark.parametrize("cells", [1, 2, 3, 5, 8])
def test_a_multinomial_is_exact_where_cells_are_rare_or_empty(cells: int) -> None:
    rng, n = np.random.default_rng(1), 10**15
    p = np.zeros(cells)
    p[0] = 1.0
    np.testing.assert_array_equal(multinomial(rng, np.array(n), p), n * p)
    p[-1] += 1e-14  # 1 - p has lost its digits: NumPy's own binomial has mean 9.9 here
    if cells > 1:
        rare = multinomial(rng, np.full(20_000, n), np.tile(p, (20_000, 1)))[:, -1]
        assert abs(rare.mean() - 10) < FIVE * math.sqrt(10 / 20_000)


def joint(mdp: TabularMDP, behaviour: tuple[Part, ...]) -> tuple[Array, Array]:
    """Every trajectory there is, as counts m, and its chance."""
    found, chances = [], []
    steps = itertools.product(range(mdp.A), range(mdp.S))
    for begun, path in itertools.product(range(mdp.S), itertools.product(list(steps), repeat=mdp.H)):
        for part in behaviour:
            m, s, chance = np.zeros(mdp.P.shape), begun, part.share * mdp.d1[begun]
            for h, (a, x) in enumerate(path):
                m[h, s, a, x] = 1
                chance *= part.policy[h, s, a] * mdp.P[h, s, a, x]
                s = x
            found.append(m.ravel())
            chances.append(chance)
    return np.array(found), np.array(chances)


@pytest.mark.thorough
@pytest.mark.parametrize("behaviour", ["uniform", "mixture:0.7", "epsilon-optimal:0.2", "first:0.6"])
def test_counts_have_the_mean_and_covariance_of_independent_trajectories(behaviour: str) -> None:
    """Of a sum of n draws from all trajectories there are, listed one by one."""
    mdp, n, times = random_mdp(3, 2, 2, 2), 30, 4000
    parts = datasets.parts(behaviour, mdp)
    paths, chances = joint(mdp, parts)
    assert chances.sum() == pytest.approx(1)
    mean = chances @ paths
    covariance = paths.T @ (paths * chances[:, None]) - np.outer(mean, mean)
    rng = np.random.default_rng(0)
    drawn = np.array([transitions(datasets.sample(rng, mdp, parts, n)).ravel() for _ in range(times)])
    errors = (drawn.mean(0) - n * mean) / np.sqrt(n * np.diag(covariance) / times)
    assert np.abs(errors).max() < FIVE
    products = (drawn - n * mean)[:, :, None] * (drawn - n * mean)[:, None, :]
    errors = (products.mean(0) - n * covariance) / (products.std(0) / math.sqrt(times))
    assert np.abs(errors).max() < FIVE + 0.5  # 256 of them


def test_every_trajectory_goes_on_where_it_has_come_to() -> None:
    mdp, n = ENVIRONMENTS["clinic"].make(), 10**12
    record = datasets.sample(np.random.default_rng(0), mdp, datasets.parts("mixture:0.7", mdp), n)
    m = transitions(record)
    np.testing.assert_array_equal(visits(record), m.sum(-1))
    assert (m.sum((1, 2, 3)) == n).all()
    np.testing.assert_array_equal(m[1:].sum((2, 3)), m[:-1].sum((1, 2)))
    assert not m[mdp.P == 0].any()
    again = datasets.sample(np.random.default_rng(0), mdp, datasets.parts("mixture:0.7", mdp), n)
    np.testing.assert_array_equal(record, again)


POLICY = "policy:0.7:0120X4.2211"  # of 4 states, 3 actions and 5 steps


@pytest.mark.parametrize("behaviour", [*sorted(BEHAVIOURS.keys() - {"policy"}), POLICY])
def test_the_share_of_a_large_data_set_is_the_occupancy(behaviour: str) -> None:
    mdp, n = random_mdp(1, 4, 3, 5), 10**12
    parts = datasets.parts(datasets.check_behaviour(behaviour, mdp.size), mdp)
    occupancy = datasets.occupancy(mdp, parts)
    record = datasets.sample(np.random.default_rng(2), mdp, parts, n)
    errors = (visits(record) - n * occupancy) / np.sqrt(n * np.maximum(occupancy * (1 - occupancy), 1e-30))
    assert np.abs(errors).max() < FIVE
    mean = visits(record) * mdp.R
    errors = (rewards(record) - mean) / np.sqrt(np.maximum(mean * (1 - mdp.R), 1e-30))
    assert np.abs(errors).max() < FIVE  # Bernoulli rewards
    certain = datasets.sample(np.random.default_rng(2), random_mdp(1, 4, 3, 5, bernoulli=False), parts, n)
    np.testing.assert_array_equal(rewards(certain), visits(certain) * mdp.R)
    np.testing.assert_array_equal(visits(certain), visits(record))


def test_what_the_behaviours_cover_on_riverswim() -> None:
    """By hand: five steps to the right with chances .6 and .35, an action of two each time, and one more action."""
    mdp = ENVIRONMENTS["riverswim"].make()
    d_m, optimal = datasets.coverage(mdp, datasets.parts("uniform", mdp))
    assert d_m == optimal == pytest.approx(0.6 * 0.35**4 * 0.5**6)
    d_m, optimal = datasets.coverage(mdp, datasets.parts("mixture:0.7", mdp))
    assert d_m == pytest.approx(0.3 * 0.6 * 0.35**4 * 0.5**6)
    assert optimal == pytest.approx(0.7 * 0.6 * 0.35**4 + 0.3 * 0.6 * 0.35**4 * 0.5**6)
    best = datasets.parts("epsilon-optimal:0", mdp)
    visited = planning.occupancy(mdp, planning.optimum(mdp).policy)
    np.testing.assert_allclose(datasets.occupancy(mdp, best).sum(-1), visited)
    left = datasets.parts("first:1", mdp)
    assert datasets.coverage(mdp, left)[1] == 0  # the end is not covered


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("uniform", "uniform"),
        ("mixture", "mixture:0.7"),
        ("mixture:0.50", "mixture:0.5"),
        ("epsilon-optimal:1", "epsilon-optimal:1"),
        ("first", "first:0.6"),
        ("policy:0120X4.2211", POLICY),
        ("policy:0.70:0120.0120X2.0120X1.2211", POLICY),
        ("policy:1:0000X5", "policy:1:0000X5"),
    ],
)
def test_a_behaviour_has_one_form(given: str, canonical: str) -> None:
    size = Size(4, 3, 5)
    assert datasets.check_behaviour(given, size) == datasets.check_behaviour(canonical, size) == canonical


def test_a_policy_that_is_followed_is_the_one_that_was_written() -> None:
    mdp = random_mdp(1, 4, 90, 5)
    policy = np.random.default_rng(0).integers(0, 90, (5, 4))
    policy[3] = policy[2]
    text = datasets.following(policy, 0.25)
    assert datasets.check_behaviour(text, mdp.size) == text
    followed, others = datasets.parts(text, mdp)
    assert (followed.share, others.share) == (0.25, 0.75)
    np.testing.assert_array_equal(followed.policy.argmax(-1), policy)
    np.testing.assert_array_equal(others.policy, datasets.uniform_policy(mdp))


NO_SHARE = "is not allowed; give mixture:SHARE with a number from 0 to 1 or"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        *(
            (text, NO_SHARE)
            for text in ("", "optimal", "uniform:0.5", "mixture:2", "mixture:x", "first:-0.1")
        ),
        *((text, NO_SHARE) for text in ("first:nan", "policy:2:0120X5")),
        ("policy", "nothing is not a row of actions"),
        ("policy:0.7:0120X4.221", "at step 4 the policy has 3 actions, but there are 4 states"),
        ("policy:0120X4", "the policy has 4 steps, but the horizon is 5"),
        ("policy:0120X999999", "more steps than the horizon"),
        ("policy:0130X5", "at step 0 in state 2 the policy takes action 3; give one from 0 to 2"),
        ("policy:0:0_zz10X5", "takes action 1295"),
        ("policy:01!0X5", "01!0X5 is not a row of actions"),
    ],
)
def test_other_behaviours_and_policies_are_refused_in_a_sentence(given: str, said: str) -> None:
    with pytest.raises(SpecError, match=re.escape(said)) as error:
        datasets.check_behaviour(given, Size(4, 3, 5))
    assert error.value.field == "behaviour"
    assert str(error.value).endswith(".")


SMALL = tiny(3)


def test_a_spec_is_canonical_and_passes_through_json() -> None:
    spec = OfflineSpec()
    assert (spec.algorithm, spec.privacy, spec.calibration) == ("dp-kl-lcb", "zcdp", "calibrated")
    assert (spec.rho, spec.epsilon) == (1, None)
    assert spec == OfflineSpec(rho=1, behaviour="mixture", epsilon=3.0, environment_params={"H": "20"})
    assert spec_from_json(spec.to_json()) == spec
    later = spec.replace(contribution=2, rewards="learned", environment="gridworld")
    assert list(json.loads(later.to_json())) == ["kind", *FIELDS]
    assert list(json.loads(spec.to_json())) == ["kind", *FIELDS]
    assert hash(spec) != hash(spec.replace(n=10**8))
    plain = OfflineSpec(algorithm="apvi", rho=0.1, epsilon=2.0, delta=1e-5, calibration="calibrated")
    assert plain == spec.replace(algorithm="dp-apvi").baseline() == plain.baseline()
    assert spec.baseline() == OfflineSpec(privacy="none")
    assert (plain.calibration, plain.rho, plain.epsilon, plain.delta) == (None, None, None, None)
    assert OfflineSpec(privacy="approximate").calibration == "calibrated"
    assert (spec.label(), plain.label()) == ("DP-KL-LCB, rho 1", "APVI, no privacy")
    assert OfflineSpec(privacy="approximate", epsilon=2.0).label() == "DP-KL-LCB, epsilon 2, delta 1e-06"
    assert OfflineSpec(contribution=3).label() == "DP-KL-LCB, rho 1, 3 episodes a user"


def test_replacing_keeps_what_still_means_something() -> None:
    spec = OfflineSpec(
        algorithm="dp-apvi", rho=0.1, algorithm_params={"C2": 1.0}, environment_params={"S": 4}
    )
    assert spec.replace(seeds=2).rho == 0.1
    assert spec.replace(privacy="pure").epsilon == 1.0
    assert spec.replace(environment="clinic").environment_params["H"] == 8
    assert spec.baseline().algorithm_params["C2"] == 1.0
    assert spec.baseline().replace(algorithm="dp-apvi") == spec.replace(rho=1.0)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"environment": "mars"}, "environment"),
        ({"environment_params": {"S": 1}}, "environment_params.S"),
        ({"algorithm": "dp-ucbvi"}, "algorithm"),
        ({"algorithm_params": {"C2": -1}}, "algorithm_params.C2"),
        ({"behaviour": "mixture:2"}, "behaviour"),
        ({"privacy": "central"}, "privacy"),
        ({"algorithm": "apvi", "privacy": "zcdp"}, "privacy"),
        ({"privacy": "approximate", "calibration": "paper"}, "calibration"),
        ({"rho": 0}, "rho"),
        ({"privacy": "pure", "epsilon": -1}, "epsilon"),
        ({"privacy": "approximate", "delta": 0}, "delta"),
        ({"beta": 1}, "beta"),
        ({"episodes": 10}, "spec"),
    ],
)
def test_what_is_refused_names_its_field(changes: dict[str, Any], field: str) -> None:
    with refused(f"{field}: "):
        spec_from_json(json.dumps({"kind": "offline", "algorithm": "dp-apvi", **changes}))


def test_the_curve_is_over_sizes_up_to_n() -> None:
    for n, sizes in ((1, []), (5, []), (1000, [5, 10, 20, 50, 100, 200, 500]), (123, [5, 10, 20, 50, 100])):
        assert sizes_of(n).tolist() == [*sizes, n]
    assert len(sizes_of(10**12)) == 35


def bits(trace: OfflineTrace) -> bytes:
    parts = (trace.curve.values, trace.lower, trace.visits, trace.Q_hat, trace.penalty, trace.policy, trace.V)
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


def test_the_same_spec_has_the_same_bits_however_it_is_sliced() -> None:
    spec = OfflineSpec(**SMALL, n=1000)
    first, second = start(spec, 1), start(spec, 1)
    first.advance(60.0)
    while not second.advance(0.0):
        assert 0 < second.progress < 1
        assert len(second.curve().at) < len(sizes_of(spec.n))
    assert bits(first.trace()) == bits(second.trace())
    other = start(spec, 2)
    other.advance(60.0)
    assert bits(other.trace()) != bits(first.trace())


def test_a_data_set_is_the_same_whoever_learns_from_it() -> None:
    """Its seed and its size say which it is: not the budget, the learner, or where the curve ends."""

    def visits(spec: OfflineSpec) -> np.ndarray:
        trace = dprl.run(spec).seeds[0]
        return np.array(trace.visits[trace.detail_n == 1000][0])

    spec = OfflineSpec(**SMALL, n=10**4, seeds=1)
    first = visits(spec)
    for other in (spec.replace(n=1000), spec.replace(rho=0.1), spec.baseline(), spec.replace(privacy="pure")):
        np.testing.assert_array_equal(visits(other), first)
    assert not np.array_equal(visits(spec.replace(root_seed=1)), first)
    trace = dprl.run(spec).seeds[0]  # and no data set is part of another
    assert not np.array_equal(trace.visits[-1], trace.visits[-2])


def test_questions_are_answered_without_running() -> None:
    spec = OfflineSpec(**SMALL, n=10**4, seeds=1)
    assert answered(answer("guarantee", spec)) == json.loads(json.dumps(dprl.run(spec).guarantee.to_dict()))
    found = answered(answer("coverage", spec))
    trace = dprl.run(spec).seeds[0]
    assert [found["d_m"], found["optimal"]] == trace.covered
    np.testing.assert_array_equal(found["visits"], trace.behaviour)
    assert 0 < estimate(spec).seconds < estimate(spec.replace(n=10**12)).seconds < 5


def test_without_noise_what_the_paper_has_is_no_lower_bound_and_with_c3_it_is() -> None:
    """Small data sets of the clinic: V~ above v^pi, in which the missing term of order 1/n matters."""
    spec = OfflineSpec(environment="clinic", algorithm="apvi", behaviour="uniform", n=50, seeds=30)
    for params, missed in (({}, True), ({"C3": 7 / 3}, False)):
        trace = dprl.run(spec.replace(algorithm_params=params))
        lower = np.array([seed.lower for seed in trace.seeds])
        above = lower > trace.seeds[0].v_star - trace.values + 1e-9
        assert above.any() == missed


def test_a_sweep_over_budgets_computes_each_baseline_once() -> None:
    base = OfflineSpec(**SMALL, algorithm="dp-apvi", n=10**4, seeds=2)
    sweep = Sweep(base, {"rho": ["0.1", 1], "C2": [1, 16.0], "n": [100, "1e4"]})
    assert len(sweep.points) == 8
    assert len(sweep.specs) == 8 + 4  # with the baselines, which no rho changes
    assert sweep.points[-1].spec == base.replace(algorithm_params={"C2": 16.0})
    assert Sweep.from_dict(json.loads(sweep.to_json())) == sweep
    with pytest.raises(SpecError, match="give one of environment, algorithm, behaviour, privacy"):
        Sweep(base, {"seeds": [1, 2]})


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--env", "random", "--env-param", "S=3,A=2,H=3", "--rho", "0.5", "--algorithm-param", "C2=1"]
    offline = ["run", "--kind", "offline", "--algorithm", "dp-apvi", *flags, "--seeds", "2"]
    assert main([*offline, "--n", "1e4", "--out", str(tmp_path / "a")]) == 0
    assert "DP-APVI, rho 0.5: final gap" in capsys.readouterr().out
    spec = OfflineSpec(**SMALL, algorithm="dp-apvi", rho=0.5, algorithm_params={"C2": 1.0}, n=10**4, seeds=2)
    assert spec_from_json((tmp_path / "a/spec.json").read_text()) == spec
    frame = pd.read_csv(tmp_path / "a/gap.csv")
    assert list(frame.columns) == ["seed", "n", "gap"]
    pd.testing.assert_frame_equal(frame, dprl.run(spec).frame())
    summary = json.loads((tmp_path / "a/summary.json").read_text())
    assert (summary["claimed_rho"], summary["proved_delta"]) == (0.5, 1e-6)
    assert 0.5 <= summary["proved_rho"] <= 0.5 + 1e-11  # rounded to the safe side
    for wrong, field in (
        ([*offline, "--episodes", "5"], "episodes"),
        ([*offline, "--behaviour", "best"], "behaviour"),
        (["run", "--kind", "online", "--algorithm", "dp-apvi"], "algorithm"),
        (["run", "--kind", "other"], "kind"),
    ):
        with pytest.raises(SystemExit) as stopped:
            main([*wrong, "--out", str(tmp_path / "no")])
        assert stopped.value.code == 2
        assert capsys.readouterr().err.startswith(f"dprl: {field}: ")


def test_a_sweep_over_learners_keeps_the_budget_where_they_make_that_promise() -> None:
    base = OfflineSpec(**SMALL, privacy="pure", epsilon=3.0, calibration="calibrated")
    found = dprl.Sweep(base, {"algorithm": ["apvi", "dp-apvi", "dp-kl-lcb"], "n": [10, 100]}).points
    specs = [point.spec for point in found[::2] if point.spec]
    assert [(spec.algorithm, spec.privacy, spec.epsilon, spec.calibration) for spec in specs] == [
        ("apvi", "none", None, None),
        ("dp-apvi", "pure", 3.0, "calibrated"),
        ("dp-kl-lcb", "pure", 3.0, "calibrated"),
    ]
