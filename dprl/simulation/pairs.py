"""What goes together: learners with environments, with ways to draw noise, and with how large it is."""

from __future__ import annotations

from typing import cast

from dprl.environments import ENVIRONMENTS
from dprl.learners import ALGORITHMS
from dprl.learners.tabular.planner import TabularLearner
from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.privacy.outside import is_outside

ONE_E = (
    "The proof of the printed bonus takes one E for all rows; here each row has its own, by its reports. So a value "
    "may be no upper bound. Privacy does not depend on it."
)


def mechanisms_for(algorithm: str, privacy: str) -> tuple[str, ...]:
    """Keys of the ways to draw noise that go with a learner and a privacy model, the default first.

    It must be known how far one user moves what the learner sees, in the norm that the noise asks for. A learner that
    forgets each batch releases it by itself, so that no draw may be kept for another release. Mechanisms of other
    packages are for running counts: what is asked anew has noise of another law.
    """
    norms = ALGORITHMS[algorithm].statistic.norms
    known = tuple(key for key in PRIVATIZERS[privacy].mechanisms if MECHANISMS[key].norm in norms)
    if ALGORITHMS[algorithm].forgets:
        known = tuple(key for key in known if MECHANISMS[key].rows(1, 1) == 0)
    if ALGORITHMS[algorithm].forgets or not ALGORITHMS[algorithm].statistic.counted:
        known = tuple(key for key in known if not is_outside(key))
    return known


def runs_in(algorithm: str, environment: str) -> bool:
    """Whether an environment has what a learner needs; it may still be too large."""
    needs = ALGORITHMS[algorithm].needs
    return not needs or getattr(ENVIRONMENTS[environment], needs) is not None


def not_pooled(algorithm: str, mechanism: str | None, calibration: str | None, bonus: str | None) -> str:
    """Why counts cannot be pooled over the steps of an episode, as after "yes"; "" where they can.

    mechanism, calibration: None without noise. The anytime bonus holds for all numbers of visits at once, in whatever
    order they come; printed bounds are for visits at one step.
    """
    if "stationary" not in ALGORITHMS[algorithm].declarable:
        return f"is for algorithms with the anytime bonus: no bonus of {algorithm} is proved for counts of all steps"
    if bonus not in (None, "anytime"):
        return f"is for bonus anytime: bonus {bonus} is for counts of one step"
    if calibration == "paper":
        return "is for calibration tight: papers print noise for counts of one step"
    drawn = MECHANISMS.get(mechanism or "")
    if drawn and (is_outside(drawn.key) or (drawn.norm == "cells" and drawn.rows(1, 1))):
        return f"is for Gaussian or Laplace noise, for questions and for bits of a batch, not for mechanism {mechanism}"
    return ""


def consistencies_for(
    algorithm: str, mechanism: str, structure: str | None, bonus: str | None, stationary: str = "no"
) -> tuple[str, ...]:
    """What noisy counts may be fitted to, the default first.

    To what holds for any users if they are sums over all users so far, and the noise in weighted sums of them has the
    bound that one has: Gaussian or Laplace noise, drawn for each counter alike, and for every transition: where some
    are declared impossible, states do not look alike; nor is there anybody who comes or goes in counts that are pooled
    over steps. To earlier readings of what stood still if it is known how the
    noise of releases goes together, and the bonus asks for the E of each row: the anytime bonus does.
    """
    learner, drawn = ALGORITHMS[algorithm], MECHANISMS[mechanism]
    if not learner.statistic.counted or learner.forgets or is_outside(mechanism):
        return ("own",)
    flow = ("flow",) if structure is None and stationary == "no" and drawn.norm in ("l1", "l2") else ()
    still = ("still",) if drawn.covariance is not None and bonus == "anytime" else ()
    return ("own", *flow, *still)


def not_played(algorithm: str, privacy: str, mechanism: str | None, consistency: str) -> str:
    """Why a row cannot count only reports of users who were told to play it, as after "played"; "" where it can.

    Each report, or each batch, has to have noise of its own, and it has to be known before it who plays what.
    """
    learner, drawn = ALGORITHMS[algorithm], MECHANISMS.get(mechanism or "")
    if privacy not in ("local", "shuffle"):
        return "is for reports that users send, under local or shuffle privacy"
    if not learner.statistic.counted or learner.forgets:
        return f"is for algorithms that plan from running counts, not for {algorithm}"
    if cast(TabularLearner, learner).stochastic:
        return f"is for policies that take one action in a state; {algorithm} takes each with some chance"
    if is_outside(mechanism):
        return f"is not for mechanism {mechanism}, which is of another package"
    if drawn is not None and drawn.rows(1, 1) and not drawn.fresh:
        return f"is not for mechanism {mechanism}, whose nodes mix batches that were told different actions"
    if consistency != "own":
        return f"does not go with consistency {consistency}, which takes the noise of all rows to be alike"
    return ""


def not_counted(
    reports: str, algorithm: str, privacy: str, mechanism: str | None, consistency: str, bonus: str | None
) -> str:
    """Why rows cannot count just these reports, as after their name; "" where they can.

    Windows of batches need noise of each batch by itself, and a bonus that holds from any batch on. bonus: None for
    the algorithm's first.
    """
    if reports == "all":
        return ""
    bonus = bonus or ALGORITHMS[algorithm].bonuses[0]
    reason = not_played(algorithm, privacy, mechanism, consistency)
    if reason or reports == "played":
        return reason
    if privacy != "shuffle":
        return "is for batches that a shuffler mixes: other reports have noise of their own, and early ones no more"
    if bonus != "anytime":
        return f"is for bonus anytime: bonus {bonus} is for all visits from the first one on"
    return ""


def calibrations_for(algorithm: str, mechanism: str) -> tuple[str, ...]:
    """How large the noise may be, the default first: as printed, if some paper prints it for what the learner sees."""
    return ("tight", "paper") if mechanism in ALGORITHMS[algorithm].statistic.prints else ("tight",)


def uncovered(algorithm: str, privacy: str, calibration: str | None, bonus: str, reports: str = "all") -> str:
    """What a learner's bonus does not cover of the noise, in sentences; "" where it covers all or prints none.

    Printed noise, and a shuffler's bits, are the same in every counter; calibrated noise is so large in each part as
    the part's tolerance is, and a bonus that is printed for equal noise may have a smaller one. Nor does it cover rows
    that have an E of their own.
    """
    even = calibration == "tight" and not PRIVATIZERS[privacy].binary_rewards
    if bonus != "paper":
        return ""
    short = ALGORITHMS[algorithm].uncovered if even else ""
    return " ".join(filter(None, (short, ONE_E if reports == "played" else "")))
