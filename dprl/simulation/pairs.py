"""Find which environments, mechanisms and sizes of noise are compatible with a learner."""

from __future__ import annotations

from typing import cast

from dprl.environments import ENVIRONMENTS
from dprl.learners import ALGORITHMS
from dprl.learners.tabular.planner import TabularLearner
from dprl.messages import filled, messages
from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.privacy.outside import is_outside

COUNTED = messages("refusals")["counted"]

ONE_E = (
    "The proof of the paper's bonus uses one E for all rows; here each row has its own E, which depends on its "
    "reports, so a value may not be an upper bound. Privacy does not depend on this."
)


def mechanisms_for(algorithm: str, privacy: str) -> tuple[str, ...]:
    """Return the keys of the mechanisms that a learner can use under a privacy model, with the default first.

    The sensitivity of the learner's statistic must be known in the norm that the noise needs. A learner that forgets
    each batch releases it separately, so no draw of noise may be kept for another release. Mechanisms of other packages
    are for running counts only: noise for repeated questions would have another distribution.
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
    """Explain why rows cannot add up only these reports; return "" if they can. choice: the name of `reports` in the
    sentence, if not its key.

    To count only the reports of users who were told to play a row, each report, or each batch, needs noise of its own,
    and who plays which row must be known in advance.
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
    """Return the possible sizes of the noise, with the default first; "paper" is included if a paper states one."""
    known = ALGORITHMS[algorithm].statistic.in_papers
    return ("calibrated", "paper") if mechanism in known else ("calibrated",)


def uncovered(algorithm: str, privacy: str, calibration: str | None, bonus: str, reports: str = "all") -> str:
    """Describe the noise that a learner's exploration bonus does not cover; return "" if there is none.

    Noise as in the paper, and a shuffler's bits, are equally large in every counter. Calibrated noise is as large in
    each part as that part tolerates, so it may exceed a bonus that a paper states for equal noise. Such a bonus does
    not cover rows with an E of their own either.
    """
    even = calibration == "calibrated" and not PRIVATIZERS[privacy].binary_rewards
    if bonus != "paper":
        return ""
    short = ALGORITHMS[algorithm].uncovered if even else ""
    return " ".join(filter(None, (short, ONE_E if reports == "played" else "")))
