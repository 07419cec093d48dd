"""Find the environments, mechanisms and sizes of noise that a learner can use."""

from __future__ import annotations

from typing import cast

from dprl.environments import ENVIRONMENTS
from dprl.learners import ALGORITHMS
from dprl.learners.tabular.planner import TabularLearner
from dprl.messages import filled, messages
from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.privacy.guarantee import CARD
from dprl.privacy.outside import is_outside

COUNTED = messages("refusals")["counted"]
ONE_E: str = CARD["assumed"]["one_error"]


def mechanisms_for(algorithm: str, privacy: str) -> tuple[str, ...]:
    """Return the keys of the mechanisms that a learner can use under a privacy model, with the default first.

    The sensitivity of the learner's statistic must be known in the norm that the noise needs. A learner that forgets
    each batch cannot use a mechanism that keeps draws of noise for later releases. Mechanisms from other packages work
    only for running counts, because noise for repeated questions would have another distribution.
    """
    norms = ALGORITHMS[algorithm].statistic.norms
    known = tuple(key for key in PRIVATIZERS[privacy].mechanisms if MECHANISMS[key].norm in norms)
    if ALGORITHMS[algorithm].forgets:
        known = tuple(key for key in known if MECHANISMS[key].rows(1, 1) == 0)
    if ALGORITHMS[algorithm].forgets or not ALGORITHMS[algorithm].statistic.counted:
        known = tuple(key for key in known if not is_outside(key))
    return known


def runs_in(algorithm: str, environment: str) -> bool:
    """Return whether an environment has the structure that a learner needs; it may still be too large."""
    needs = ALGORITHMS[algorithm].needs
    return not needs or getattr(ENVIRONMENTS[environment], needs) is not None


def not_counted(reports: str, algorithm: str, privacy: str, mechanism: str | None, choice: str = "") -> str:
    """Explain why the rows of counts cannot be limited to these reports, or return "" if they can.

    `choice` is the name of the reports in the sentence. A row can count only the users who were told to play it if each
    report or batch has its own noise, and if it is known in advance who plays which row.
    """
    if reports == "all":
        return ""
    choice, learner, drawn = choice or reports, ALGORITHMS[algorithm], MECHANISMS.get(mechanism or "")
    if privacy not in ("local", "shuffle"):
        return filled(COUNTED["privacy"], choice=choice)
    if not learner.statistic.counted or learner.forgets:
        return filled(COUNTED["algorithm"], choice=choice, algorithm=algorithm)
    if cast(TabularLearner, learner).stochastic:
        return filled(COUNTED["stochastic"], choice=choice, algorithm=algorithm)
    if is_outside(mechanism):
        return filled(COUNTED["outside"], choice=choice, mechanism=mechanism)
    if drawn is not None and drawn.rows(1, 1) and not drawn.fresh:
        return filled(COUNTED["nodes"], choice=choice, mechanism=mechanism)
    return ""


def calibrations_for(algorithm: str, mechanism: str) -> tuple[str, ...]:
    """Return the allowed calibrations of the noise, default first. "paper" is allowed if a paper states the noise."""
    known = ALGORITHMS[algorithm].statistic.in_papers
    return ("calibrated", "paper") if mechanism in known else ("calibrated",)


def uncovered(algorithm: str, privacy: str, calibration: str | None, bonus: str, reports: str = "all") -> str:
    """Describe the noise that a learner's exploration bonus does not cover, or return "" if it covers all noise.

    A paper's noise and a shuffler's bits are equally large in all counters. Calibrated noise may be larger in some, and
    so exceed a bonus that a paper states for equal noise. Such a bonus does not cover rows with their own E either.
    """
    even = calibration == "calibrated" and not PRIVATIZERS[privacy].binary_rewards
    if bonus != "paper":
        return ""
    short = ALGORITHMS[algorithm].uncovered if even else ""
    return " ".join(filter(None, (short, ONE_E if reports == "played" else "")))
