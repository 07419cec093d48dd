"""The kinds of charts that a lesson's file can name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from dprl.figures.trust import LEARNED
from dprl.lessons.charts import SAID, Chart, Drawn, DrawnSeries, Kind, Plot, framed
from dprl.messages import filled
from dprl.metrics import search
from dprl.metrics.attack import best_guess, posterior, roc
from dprl.metrics.curves import Array, Evidence
from dprl.papers.experiments import COLLUSIONS
from dprl.papers.offline import whole_curve
from dprl.papers.privacy import read
from dprl.papers.regret import price
from dprl.simulation import AttackSpec, RunSpec
from dprl.simulation.kinds import kind_of
from dprl.simulation.offline_spec import MEASURE as GAP

BUDGETS = (0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0)  # as on Home
INVERSE = np.array([1 / epsilon for epsilon in reversed(BUDGETS)])
ATTACK = AttackSpec(run=RunSpec(seeds=1))
PROMISED = tuple(("promise", ATTACK.run.replace(epsilon=epsilon)) for epsilon in (0.1, 1.0, 10.0))
COLLUDED = tuple(("collusion", spec) for spec in COLLUSIONS)
COIN, PEOPLE = 0.5, 100
EXACT = 1e-9
Curve = Callable[[Evidence, Any], tuple[Array, Array]]  # x [P] and rows [seeds, P] of a run


def _curves(curve: Curve, chart: Chart, evidence: Evidence) -> Plot:
    drawn = (chart.series(key, *curve(evidence, spec)) for key, spec in chart.specs.items())
    return framed(chart, tuple(drawn))


@cache
def sweep(spec: RunSpec) -> tuple[RunSpec, ...]:
    """Return a run for each of BUDGETS, starting with the largest."""
    return tuple(spec.replace(epsilon=epsilon) for epsilon in reversed(BUDGETS))


def _share(evidence: Evidence, spec: Any) -> tuple[Array, Array]:
    """Return the share of V* that is lost: by an average episode so far, or by the learned policy."""
    run = evidence.runs[spec]
    per = run.values if kind_of(spec).measure == GAP else run.values / run.at
    return run.at.astype(float), per / run.v_star


def _users(evidence: Evidence, spec: RunSpec) -> tuple[Array, Array]:
    need = [
        search.stays_below(x, rows.mean(axis=0), LEARNED)
        for x, rows in (_share(evidence, one) for one in sweep(spec))
    ]
    return INVERSE, np.array([need])


def _noise(evidence: Evidence, spec: RunSpec) -> tuple[Array, Array]:
    return INVERSE, np.array([[evidence.runs[one].noise_std or np.nan for one in sweep(spec)]])


def right(drawn: Drawn, epsilon: float = math.inf) -> float:
    """Bound how many of PEOPLE users an attacker can guess correctly. An infinite epsilon means no noise."""
    if math.isinf(epsilon):
        return float(PEOPLE * best_guess(COIN, np.zeros(1), np.zeros(1)))
    found = drawn.evidence.answers["promise", ATTACK.run.replace(epsilon=epsilon)]
    return float(PEOPLE * best_guess(COIN, np.array(found["false"]), np.array(found["missed"])))


def belief(drawn: Drawn, epsilon: float) -> float:
    """Return the highest posterior belief at this epsilon for an even prior, or the lowest one for -epsilon."""
    return float(posterior(COIN, epsilon))


def _beliefs(chart: Chart, evidence: Evidence) -> Plot:
    (spec,) = chart.specs.values()
    said, before = SAID["belief"], np.linspace(0.01, 0.99, 99)
    high, low = (np.array([posterior(p, e) for p in before]) for e in (spec.epsilon, -spec.epsilon))
    ends = np.array([0.0, 1.0])
    same = DrawnSeries(ATTACK.run.baseline(), said["same"], ends, ends[None])
    bounds = (said["low"], low, before), (said["high"], high, before)
    title = filled(said["title"], epsilon=f"{spec.epsilon:g}")
    return framed(chart, (same,), title=title, bounds=bounds)


def _deltas(evidence: Evidence, spec: RunSpec) -> tuple[Array, Array]:
    """Return the pairs (epsilon, delta) that we prove for the noise of each run."""
    found = evidence.answers["promise", spec]
    order = np.argsort(found["epsilons"])
    return np.array(found["epsilons"])[order], np.array(found["deltas"])[order]


def _card(name: str, drawn: Drawn, key: str) -> float:
    found = drawn.evidence.answers["guarantee", drawn.chart.specs[key]]
    return float(found[name])


def _attack(chart: Chart, evidence: Evidence) -> Plot:
    said, proved = SAID["attack"], evidence.answers["promise", ATTACK.run]
    scores = evidence.answers["scores", ATTACK]
    found = roc(np.asarray(scores["first"]), np.asarray(scores["second"]))
    ends = np.array([0.0, 1.0])
    curves = {"blind": (ends, ends), "attack": (found.false, found.true)}
    drawn = [chart.series(key, *curves[key]) for key in chart.specs]
    most = (said["most"], np.array(proved["false"]), 1 - np.array(proved["missed"]))
    return framed(chart, tuple(drawn), bounds=(most,))


def _least_false(drawn: Drawn, true: float) -> float:
    """Return the smallest false positive rate of any attacker whose true positive rate is `true`."""
    proved = drawn.evidence.answers["promise", ATTACK.run]
    return float(np.interp(true, 1 - np.array(proved["missed"]), np.array(proved["false"])))


def _errors(evidence: Evidence, way: str) -> Array:
    """Return the errors of two users who work out a third user's data, from all repetitions in one array."""
    return np.concatenate([read(evidence.answers[asked], way) for asked in COLLUDED])


def _collusion(chart: Chart, evidence: Evidence) -> Plot:
    """Plot the share of users whose data two others can work out with an error of at most x."""
    x, drawn = np.linspace(0.0, chart.frame["x_range"][1], 201), []
    for key in chart.specs:
        share = (_errors(evidence, key)[None, :] <= x[:, None] + EXACT).mean(axis=1)
        # start at the axis, so that a curve that reaches its height at once visibly rises
        drawn.append(chart.series(key, np.append(0.0, x), np.append(0.0, share)))
    return framed(chart, tuple(drawn))


def _radius(evidence: Evidence, spec: RunSpec) -> tuple[Array, Array]:
    found = evidence.answers["widths", spec]
    return np.array(found["users"]), np.array(found["rows"])


def _lower(chart: Chart, evidence: Evidence) -> Plot:
    """Plot the value of a policy learned from records, and the algorithm's lower bound on it."""
    ((key, spec),) = chart.specs.items()
    run, said = evidence.runs[spec], SAID["lower"]
    assert run.lower is not None
    x, earned = run.at.astype(float), 1 - run.values / run.v_star
    curves = (said["earns"], earned, np.inf), (said["low"], run.lower / run.v_star, chart.until.get(key, 0.0))
    return framed(chart, tuple(DrawnSeries(spec, name, x, y, until=until) for name, y, until in curves))


def _above(curve: int, drawn: Drawn) -> float:
    one = drawn.plot.drawn[curve]
    return search.stays_below(one.x, 1 - one.rows.mean(axis=0), 1 - drawn.chart.level)


SHARE = {"percent": True, "y_range": (0.0, 1.05)}
SQUARE = {"log_x": False, "percent": True, "percent_x": True, "x_range": (0.0, 1.0), "y_range": (0.0, 1.0)}
OVER_EPSILON = {"log_y": True, "inverse_x": True, "x_range": (float(INVERSE[0]), float(INVERSE[-1]))}
PEOPLE_FRAME = {"log_x": False, "people": PEOPLE, "x_range": (0.0, float(PEOPLE)), "y_range": (0.0, 1.12)}
GUESSED: Mapping[str, Callable[..., Any]] = {"right": right, "belief": belief}


def asks_of_noise(spec: RunSpec) -> tuple[tuple[str, Any], ...]:
    """Ask for the proved guarantee of a run's noise and, for noise as in a paper, also for the stated one."""
    return ("promise", spec), *([("guarantee", spec)] if spec.calibration == "paper" else [])


KINDS: Mapping[str, Kind] = {
    kind.key: kind
    for kind in (
        Kind("loss", partial(_curves, _share), frame=SHARE, level=LEARNED),
        Kind("regret", partial(_curves, whole_curve), frame={"log_y": True}),
        Kind("cost", partial(_curves, price), lambda spec: (spec.baseline(), spec), frame={"log_y": True}),
        Kind("users", partial(_curves, _users), sweep, frame=OVER_EPSILON, over_epsilon=True),
        Kind("noise", partial(_curves, _noise), sweep, frame=OVER_EPSILON, over_epsilon=True),
        Kind(
            "people",
            lambda chart, evidence: framed(chart, ()),
            asks=lambda spec: PROMISED,
            frame=PEOPLE_FRAME,
            readings=GUESSED,
        ),
        Kind("belief", _beliefs, asks=lambda spec: PROMISED, frame=SQUARE, level=COIN, readings=GUESSED),
        Kind(
            "deltas",
            partial(_curves, _deltas),
            asks=asks_of_noise,
            frame={"log_x": False, "log_y": True},
            level=1e-6,
            readings={name: partial(_card, name) for name in ("claimed_epsilon", "proved_epsilon")},
        ),
        Kind(
            "attack",
            _attack,
            asks=lambda spec: (("scores", ATTACK), ("promise", ATTACK.run)),
            frame=SQUARE,
            level=0.5,
            readings={
                "least_false": _least_false,
                "releases": lambda drawn: len(drawn.evidence.answers["scores", ATTACK]["first"]),
            },
        ),
        Kind(
            "collusion",
            _collusion,
            asks=lambda spec: COLLUDED,
            frame={"log_x": False, **SHARE},
            level=0.5,
            readings={
                "within": lambda drawn, key: float(np.median(_errors(drawn.evidence, key))),
                "exactly": lambda drawn, key: float((_errors(drawn.evidence, key) < EXACT).mean()),
                "read": lambda drawn, key: len(_errors(drawn.evidence, key)),
            },
        ),
        Kind(
            "radius", partial(_curves, _radius), asks=lambda spec: (("widths", spec),), frame={"log_y": True}
        ),
        Kind(
            "lower",
            _lower,
            frame=SHARE,
            level=0.9,
            readings={"earned": partial(_above, 0), "promised": partial(_above, 1)},
        ),
    )
}
