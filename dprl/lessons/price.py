"""Additive against multiplicative cost: whether privacy is paid once, or again and again."""

from __future__ import annotations

import numpy as np

from dprl import metrics
from dprl.lessons import regret
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.prediction import Slope
from dprl.lessons.trust import CENTRAL, LOCAL, NONE, SHUFFLE
from dprl.messages import filled, messages
from dprl.metrics.curves import Evidence
from dprl.papers import SpecSeries
from dprl.papers.regret import price
from dprl.simulation import RunSpec
from dprl.words import human, to_the

START, END = 1e9, 1e15
SAID = messages("questions")["price"]
CHOICES = tuple(zip((0.0, 0.5, 1.0), SAID["choices"], strict=True))
RANGE = (1e3, 1e15)


def _price_growth(evidence: Evidence, spec: RunSpec) -> tuple[float, float, float]:
    at, extra = price(evidence, spec)
    return metrics.growth_exponent(at, extra, START, END)


def _growing(spec: RunSpec, beside: tuple[RunSpec, ...] = ()) -> Step:
    """How the price of a model grows from START on. beside: models whose price is drawn, too."""
    given = regret.trusted_with(spec)

    def plot(evidence: Evidence) -> Plot:
        drawn = []
        for one in (*beside, spec):
            at, extra = price(evidence, one)
            drawn.append(
                DrawnSeries(SpecSeries(one, regret.name(one), at, extra), START if one == spec else np.inf)
            )
        return Plot(
            SAID["chart"],
            regret.USERS,
            SAID["axis"],
            RANGE,
            (1e3, 1e16),
            drawn=tuple(drawn),
            log_y=True,
        )

    def found(evidence: Evidence) -> str:
        _, extra = price(evidence, spec)
        at = evidence.runs[spec].at.astype(float)
        early, late = (float(np.interp(k, at, extra.mean(axis=0))) for k in (START, END))
        users = {"start": human(START), "end": human(END)}
        power = to_the("K", *_price_growth(evidence, spec))
        return filled(SAID["found"], early=human(early), late=human(late), power=power, **users)

    return Step(
        filled(SAID["step"], given=given),
        Slope(filled(SAID["ask"], given=given), CHOICES, START, END),
        (NONE, *beside, spec),
        plot,
        lambda evidence: _price_growth(evidence, spec)[0],
        found,
        SAID[f"why_{spec.privacy}"],
        Attempt(
            SAID["try"],
            "tradeoffs",
            (CENTRAL.replace(episodes=10**10, seeds=10),),
            {"x": "episodes", "show": "regret", "bounds": "on"},
        ),
    )


PRICE = Lesson(
    "price",
    SAID["title"],
    SAID["say"],
    SAID["needs"],
    (
        _growing(CENTRAL),
        _growing(LOCAL, (CENTRAL,)),
        _growing(SHUFFLE, (CENTRAL, LOCAL)),
    ),
)
