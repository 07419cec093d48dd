"""Additive against multiplicative cost: whether privacy is paid once, or again and again."""

from __future__ import annotations

import numpy as np

from dprl import metrics
from dprl.claims import SpecSeries
from dprl.claims.regret import price
from dprl.curves import Evidence
from dprl.lessons import regret
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.prediction import Slope
from dprl.lessons.trust import CENTRAL, LOCAL, NONE, SHUFFLE
from dprl.privacy import PRIVATIZERS
from dprl.simulation import RunSpec
from dprl.words import human, to_the

START, END = 1e9, 1e15
CHOICES = ((0.0, "it stops growing"), (0.5, "like √K"), (1.0, "like K"))
RANGE = (1e3, 1e15)


def _price_growth(evidence: Evidence, spec: RunSpec) -> tuple[float, float, float]:
    at, extra = price(evidence, spec)
    return metrics.growth_exponent(at, extra, START, END)


def _growing(spec: RunSpec, beside: tuple[RunSpec, ...], why: str) -> Step:
    """How the price of a model grows from START on. beside: models whose price is drawn, too."""
    given = PRIVATIZERS[spec.privacy].words.given

    def plot(evidence: Evidence) -> Plot:
        drawn = []
        for one in (*beside, spec):
            at, extra = price(evidence, one)
            drawn.append(
                DrawnSeries(SpecSeries(one, regret.name(one), at, extra), START if one == spec else np.inf)
            )
        return Plot(
            "What privacy has cost so far",
            regret.USERS,
            "Extra regret (reward lost)",
            RANGE,
            (1e3, 1e16),
            drawn=tuple(drawn),
            log_y=True,
        )

    def found(evidence: Evidence) -> str:
        _, extra = price(evidence, spec)
        at = evidence.runs[spec].at.astype(float)
        early, late = (float(np.interp(k, at, extra.mean(axis=0))) for k in (START, END))
        return (
            f"From {human(START)} to {human(END)} users the privacy cost grew from {human(early)} to {human(late)}. "
            f"It grew like {to_the('K', *_price_growth(evidence, spec))}."
        )

    return Step(
        f"With {given}",
        Slope(
            f"The privacy cost is the extra regret at ε = 1 with {given}. How does the privacy cost go on?",
            CHOICES,
            START,
            END,
        ),
        (NONE, *beside, spec),
        plot,
        lambda evidence: _price_growth(evidence, spec)[0],
        found,
        why,
        Attempt(
            "See all four with what is proved",
            "free",
            (CENTRAL.replace(seeds=20),),
            {"show": "growth" if spec == LOCAL else "price"},
        ),
    )


PRICE = Lesson(
    "price",
    "Pay once, or again and again?",
    "Additive and multiplicative cost: what the privacy cost does when users keep coming.",
    "What regret is; the three privacy models.",
    (
        _growing(
            CENTRAL,
            (),
            "The noise in a count hardly grows, while the count does. Once counts outgrow the noise, privacy costs "
            "nothing more. For joint privacy an additive cost is proved (Qiao, Wang 2023, Theorem 5.2).",
        ),
        _growing(
            LOCAL,
            (CENTRAL,),
            "New noise comes with each user, so learning is slower however many users there are. A cost like √K is "
            "proved to be "
            "enough where counts add up everybody's reports (Qiao, Wang 2023, Theorem 5.7). Here a count adds up only "
            "reports of users who were told to do what it counts. So the privacy cost grows more slowly.",
        ),
        _growing(
            SHUFFLE,
            (CENTRAL, LOCAL),
            "Shuffled reports hide each other, so each needs little noise of its own. The privacy cost is additive "
            "again (Bai et al. 2025, Theorem 11).",
        ),
    ),
)
