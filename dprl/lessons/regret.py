"""What steps on the regret of online learners have in common: charts of loss and of price, and what is read off."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dprl.figures.trust import LEARNED
from dprl.lessons.lesson import DrawnSeries, Plot
from dprl.messages import filled, messages
from dprl.metrics import search
from dprl.metrics.curves import Array, Evidence
from dprl.papers import SpecSeries
from dprl.simulation import RunSpec
from dprl.words import percent

MODELS = messages("questions")["models"]
SAID = messages("questions")["loss"]
USERS = SAID["users"]


def name(spec: RunSpec) -> str:
    """Who is trusted, as a legend says it."""
    return str(MODELS[spec.privacy])


def trusted_with(spec: RunSpec) -> str:
    """Who is trusted, as a sentence says it behind "with"."""
    return str(MODELS[f"given_{spec.privacy}"])


def lost(evidence: Evidence, spec: RunSpec) -> Array:
    """[seeds, C] the share of V* that an average episode has lost so far."""
    run = evidence.runs[spec]
    found: Array = run.values / run.at / run.v_star
    return found


def users_needed(evidence: Evidence, spec: RunSpec, share: float = LEARNED) -> float:
    """From how many users on an average episode loses less than a share of V*."""
    mean = lost(evidence, spec).mean(axis=0)
    return search.stays_below(evidence.runs[spec].at.astype(float), mean, share)


def losses(
    specs: Sequence[tuple[RunSpec, str, float]], users: tuple[float, float], bare_x: bool = False
) -> Callable[[Evidence], Plot]:
    """A chart of them. specs: each with its name and how far it is drawn before the answer is shown; bare_x:
    see `Frame`."""

    def plot(evidence: Evidence) -> Plot:
        drawn = tuple(
            DrawnSeries(
                SpecSeries(spec, label, evidence.runs[spec].at.astype(float), lost(evidence, spec)), until
            )
            for spec, label, until in specs
        )
        return Plot(
            SAID["chart"],
            USERS,
            SAID["axis"],
            users,
            (0.0, 1.05),
            drawn=drawn,
            percent=True,
            bare_x=bare_x,
            level=(LEARNED, filled(SAID["level"], share=percent(LEARNED))),
        )

    return plot


def places_by_regret(evidence: Evidence, specs: Sequence[RunSpec]) -> tuple[int, ...]:
    """Their places, from the one that loses least in all to the one that loses most."""
    ends = [float(evidence.runs[spec].ends.mean()) for spec in specs]
    return tuple(int(place) for place in np.argsort(ends))
