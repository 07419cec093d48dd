"""Experiments on how regret, the privacy cost and the data needed grow with H, E, epsilon, K and n."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.learners import ALGORITHMS, OFFLINE
from dprl.metrics import search
from dprl.metrics.attack import Measured
from dprl.metrics.curves import Array, Evidence
from dprl.metrics.growth import FLAT, power_law
from dprl.metrics.verdicts import Finding, at_most, more_than, t_interval
from dprl.papers import hard, offline, regret
from dprl.papers.claim import Setting, claim_of, environment_of, heading
from dprl.papers.experiments import (
    ANYTIME,
    EPSILONS,
    EVERYBODY,
    LINEAR,
    MIXTURE,
    SEEDS,
    SHUFFLED,
    TABULAR,
    at,
)
from dprl.papers.regret import Points, exponent_of, trust_label
from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.simulation import OfflineSpec, RunSpec
from dprl.theory import BOUNDS, BoundSetting
from dprl.words import human

HORIZONS = {
    "riverswim": (10, 20, 40, 80),
    "chain": (5, 10, 20, 40),
    "random": (5, 10, 20, 40),
    "clinic": (4, 8, 16, 32),
}
LOSS = 0.01  # share of V* that privacy may add to what is learned from a data set


def by_horizon(base: RunSpec, horizons: Sequence[int]) -> list[RunSpec]:
    """Return the same run at several horizons."""
    params = base.environment_params
    return [base.replace(environment_params={**params, "H": H}) for H in horizons]


def in_horizon(specs: Sequence[RunSpec], other: str, least: float | None, note: str = "") -> Setting:
    """Test how the regret of `other`, which ignores the variance, grows with H compared with an algorithm that uses it.
    The ratio must grow at least like H^least, or must not grow if `least` is None."""
    ranges = [spec.replace(algorithm=other) for spec in specs]

    def points(evidence: Evidence) -> Points:
        runs = evidence.runs
        ratio = [runs[more].ends / runs[less].ends for less, more in zip(specs, ranges, strict=True)]
        return np.array([float(spec.environment_params["H"]) for spec in specs]), np.column_stack(ratio)

    names = f"{ALGORITHMS[other].title} over {ALGORITHMS[specs[0].algorithm].title}"
    first = specs[0]
    place = ENVIRONMENTS[first.environment].called(first.environment_params)
    setting = exponent_of(
        points,
        least or 0.0,
        [*specs, *ranges],
        paired=False,
        title=heading(place, names, trust_label(first), f"K = {human(first.episodes)}", note),
        statistic="exponent in H of the ratio of regrets",
        labels=(f"Regret of {names}", "Horizon H", "Ratio of regrets"),
    )
    asks = setting.asks if least is None else f"more than {least - FLAT:g}"

    def judge(evidence: Evidence) -> Finding:
        found = Measured(*power_law(*points(evidence)))
        return at_most(found, FLAT) if least is None else more_than(found, least - FLAT)

    return replace(setting, asks=asks, judge=judge)


def crossing(epsilons: Array, ratio: Array) -> Array:
    """Return the epsilon at which each seed's ratio [seeds, E] falls to 1, or the last epsilon if it never does."""
    logs = np.log(np.maximum(ratio, 1e-9))
    falling = np.minimum.accumulate(logs, axis=1)
    return np.array([float(np.exp(np.interp(0.0, -row, np.log(epsilons)))) for row in falling])


def median_slope(x: Array, rows: Array) -> Measured:
    """Fit a slope to the medians of rows [seeds, P] on log-log axes. The interval is a 95% bootstrap interval."""

    def slopes(medians: Array) -> Array:
        logs, at = np.log(medians), np.log(x) - np.log(x).mean()
        found: Array = logs @ at / (at @ at)
        return found

    picked = search.bootstrap(len(rows))
    ends = search.quantiles(slopes(np.median(rows[picked], axis=1)))
    return Measured(float(slopes(np.median(rows, axis=0))), *ends)


def free_above(runs: Sequence[RunSpec], epsilons: Sequence[float], note: str = "") -> Setting:
    """Test that the ε at which privacy costs as much regret as learning falls at least like 1/√K."""

    def points(evidence: Evidence) -> Points:
        found = []
        for run in runs:
            free = evidence.runs[run.baseline()].ends
            costs = [evidence.runs[run.replace(epsilon=e)].ends - free for e in epsilons]
            found.append(crossing(np.array(epsilons), np.column_stack(costs) / free[:, None]))
        return np.array([float(run.episodes) for run in runs]), np.column_stack(found)

    def medians(evidence: Evidence) -> Points:
        x, rows = points(evidence)
        return x, np.median(rows, axis=0, keepdims=True)

    first, last = runs[0], runs[-1]
    many = f"K from {human(first.episodes)} to {human(last.episodes)}"
    setting = exponent_of(
        medians,
        -0.5,
        [run.replace(epsilon=e) for run in runs for e in epsilons],
        title=heading(environment_of(first), ALGORITHMS[first.algorithm].title, many, note),
        statistic="exponent in K of the ε at which privacy costs as much as learning",
        labels=("Smallest ε at which privacy costs less than learning (median)", regret.USERS, "ε"),
    )
    return replace(
        setting,
        asks=f"at most −{0.5 - FLAT:g}",
        judge=lambda evidence: at_most(median_slope(*points(evidence)), -0.5 + FLAT),
    )


def data_needed(specs: Sequence[OfflineSpec]) -> Setting:
    """Test that the data needed for privacy to add at most LOSS of V* grow like 1/epsilon or 1/sqrt(rho)."""
    first, unit = specs[0], "1/ε" if specs[0].rho is None else "1/√ρ"
    x = np.array([1 / (spec.epsilon or np.inf) if spec.rho is None else spec.rho**-0.5 for spec in specs])

    def needed(evidence: Evidence) -> Points:
        found = []
        for spec in specs:
            run, free = evidence.runs[spec], evidence.runs[spec.baseline()]
            extra = (run.values - free.values) / run.v_star
            found.append([search.stays_below(run.at.astype(float), row, LOSS) for row in extra])
        return x, np.array(found).T

    name = OFFLINE[first.algorithm].title
    setting = exponent_of(
        needed,
        1.0,
        specs,
        whole=True,
        title=f"{environment_of(first)} · {name} · n up to {human(first.n)}",
        statistic=f"exponent in {unit} of the trajectories needed",
        labels=("Trajectories needed for privacy to add at most 1% of V*", unit, offline.TRAJECTORIES),
        name=name,
    )
    return replace(setting, asks=f"1 ± {FLAT:g}")


RUNS = [at(name, 10**12) for name in HORIZONS]
RUNS += [run.baseline() for run in RUNS]
OTHER = "private-ucb-vi"

VARIANCE = claim_of(
    "variance-horizon",
    (
        *(in_horizon(by_horizon(run, HORIZONS[run.environment]), OTHER, 0.5) for run in RUNS),
        *(
            in_horizon(
                by_horizon(at(name, 10**12, bonus="paper").baseline(), HORIZONS[name]),
                OTHER,
                0.5,
                "paper constants",
            )
            for name in ("random", "clinic")
        ),
    ),
)


def against(base: RunSpec, other: str = OTHER) -> Setting:
    """Test that a run loses less than the same run with the algorithm `other`."""
    return regret.order([[base, base.replace(algorithm=other)]])


PLUS = [
    MIXTURE.replace(algorithm="ucrl-vtr-plus", episodes=10**12, environment_params={"d": d}) for d in (4, 8)
]
HELPS = claim_of(
    "variance-helps",
    (
        *map(against, RUNS),
        *(against(one, "ucrl-vtr") for one in PLUS),
        *(against(one.baseline(), "ucrl-vtr") for one in PLUS),
    ),
)

LINEAR_VARIANCE = claim_of(
    "variance-linear",
    tuple(
        in_horizon(by_horizon(one, (5, 10, 20, 40)), "ucrl-vtr", None, f"d = {one.environment_params['d']}")
        for plus in PLUS
        for one in (plus, plus.replace(privacy="local", episodes=10**14))
    ),
)

FREE_EPSILONS = (0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)
FREE_GAP = 0.05  # at the smallest number of users
FREE = claim_of(
    "free-above",
    (
        free_above(
            [
                hard.instance(ANYTIME.replace(episodes=10**k), FREE_GAP * 10.0 ** ((8 - k) / 2))
                for k in (8, 10, 12, 14)
            ],
            (0.01, *FREE_EPSILONS[:4]),
            "gap like 1/√K",
        ),
        *(free_above([at(name, 10**k) for k in (10, 12, 14)], FREE_EPSILONS) for name in HORIZONS),
    ),
)


def below_the_bound(specs: Sequence[RunSpec], bound: str) -> Setting:
    """Test that the privacy cost is below the private terms of a bound at every budget, with all constants set to 1."""

    def most(spec: RunSpec) -> float:
        S, A, H = ENVIRONMENTS[spec.environment].size(**spec.environment_params)[:3]
        where = BoundSetting(S, A, H, float(spec.episodes), epsilon=spec.epsilon or np.inf)
        return float(BOUNDS[bound].price(where))

    def judge(evidence: Evidence) -> Finding:
        shares = [regret.price(evidence, spec)[1][:, -1] / most(spec) for spec in specs]
        found = [at_most(t_interval(one, len(shares)), 1.0) for one in shares]
        return max(found, key=lambda one: one.high)

    return replace(
        regret.in_budget(specs, mechanism_of(specs[0])),
        statistic="largest ratio of the privacy cost to the bound",
        asks="at most 1",
        judge=judge,
        form="share",
    )


def mechanism_of(spec: RunSpec) -> str:
    """Return a label with a run's privacy model and its mechanism."""
    return f"{PRIVATIZERS[spec.privacy].title}, {MECHANISMS[str(spec.mechanism)].title}"


ERROR = claim_of(
    "regret-in-error",
    (
        *(
            regret.in_budget([run.replace(epsilon=epsilon) for epsilon in EPSILONS], mechanism_of(run))
            for run in (
                *(at(name, 10**12) for name in HORIZONS),
                at("chain", 10**12, mechanism="laplace-tree", delta=0.0),
                SHUFFLED,
            )
        ),
        below_the_bound(
            [at("chain", 10**15, **EVERYBODY, epsilon=epsilon) for epsilon in EPSILONS], "dp-ucbvi-ldp"
        ),
    ),
)

RHOS = (1.0, 0.1, 0.01, 0.001)
PURE_DATA = OfflineSpec(
    algorithm="dp-apvi", behaviour="mixture:0.7", n=10**11, seeds=SEEDS, privacy="pure", calibration="paper"
)
DATA = claim_of(
    "offline-order",
    (
        *(
            data_needed([TABULAR.replace(environment=name, n=10**11, rho=rho) for rho in RHOS])
            for name in ("riverswim", "gridworld", "chain", "clinic", "random")
        ),
        data_needed([LINEAR.replace(n=10**8, rho=rho) for rho in (10.0, *RHOS[:3])]),
        *(
            data_needed([PURE_DATA.replace(environment=name, epsilon=epsilon) for epsilon in EPSILONS[::-1]])
            for name in ("riverswim", "gridworld", "chain", "clinic")
        ),
    ),
)

RATES = (VARIANCE, HELPS, LINEAR_VARIANCE, FREE, ERROR, DATA)
