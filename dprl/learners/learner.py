"""The interface that every learner implements, and the public facts about its problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from dprl.fields import Field, SpecError
from dprl.mdp import Size
from dprl.messages import messages
from dprl.plugins import Entry
from dprl.statistics import Statistic

PlannerT = TypeVar("PlannerT")

# Facts that a learner may treat as public. They are not protected, and every run's privacy guarantee lists them.
PUBLIC: dict[str, str] = messages("cards")["public"]


# the attributes that every learner must have
NEEDED = (
    "key", "title", "summary", "source", "privacies", "bonuses", "fields", "statistic", "loop", "needs",
    "public", "declarable", "schedule", "forgets", "refused", "note", "uncovered",
    "refusal", "releases", "pace", "seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """The public facts about a run that a learner's constants may depend on.

    K is the number of users, beta the failure probability, and epsilon the privacy budget (None without privacy).
    branching is the largest declared number of next states. ellipsoid is (tau^2, rho^2) from statistics/counts.py, or
    () if m, n and r have equal noise.
    """

    H: int
    S: int
    A: int
    K: int
    beta: float
    epsilon: float | None
    calibration: str | None
    bonus: str
    params: dict[str, Any]
    branching: int | None = None
    ellipsoid: tuple[float, ...] = ()

    @property
    def T(self) -> int:
        """Return the number of steps in the whole run, K * H."""
        return self.K * self.H


@dataclass(frozen=True, kw_only=True, repr=False)
class Learner(Entry):
    """A learner in the registry. It never has access to the model or to raw counts."""

    privacies: tuple[str, ...]  # keys of the privacy models that it supports; the first is the default
    fields: tuple[Field, ...] = ()  # its parameters
    note: str = ""  # a remark for the help text of menus; "" if there is none
    reconstructed: bool = False  # True if we built it without its paper's full text
    # a sentence for `simulation.pairs.uncovered` on how calibrated noise can exceed the paper's bonus, if it can
    uncovered: str = ""

    loop: ClassVar[str]  # key of the loop that runs it
    public: ClassVar[tuple[str, ...]]  # keys of PUBLIC that it always assumes to be public
    declarable: ClassVar[tuple[str, ...]] = ()  # keys of PUBLIC that it uses if a spec declares them
    needs: ClassVar[str] = ""  # "features" or "mixture" if the environment must provide them
    schedule: ClassVar[str] = ""  # the name of its own schedule; "" if it works with any schedule
    forgets: ClassVar[bool] = False  # True if it receives each batch alone instead of running sums

    # Each kind of learner defines its bonuses, with the default first, and the statistic for the default.
    if TYPE_CHECKING:

        @property
        def bonuses(self) -> tuple[str, ...]: ...
        @property
        def statistic(self) -> Statistic: ...

    @property
    def refused(self) -> Mapping[str, str]:
        """Return the privacy models that the learner refuses, each with a reason such as "local is ..."."""
        return {}

    def seen(self, bonus: str) -> Statistic:
        """Return the statistic that the learner receives about its users when it plans with this bonus."""
        raise NotImplementedError

    def refusal(self, size: Size, K: int) -> SpecError | None:
        """Return an error that names a workable size if the learner cannot run at this size with K users, else None."""
        return None

    def releases(self, size: Size, K: int, epsilon: float | None, norm: str) -> int:
        """Estimate the number of releases in the learner's own schedule, if it has one.

        norm is the norm to which the noise is calibrated. Without privacy, epsilon is None and norm is "".
        """
        raise NotImplementedError

    def pace(self, private: bool) -> str:
        """Describe the learner's own schedule in a phrase such as "plays in stages"; return "" if it has none."""
        return ""

    def seconds(self, size: Size, K: int) -> float:
        """Estimate the seconds of planning in a whole run, in addition to one backward induction per release."""
        return 0.0


@dataclass(frozen=True, kw_only=True, repr=False)
class PlannedLearner(Learner, Generic[PlannerT]):
    """A learner with a separate planner for each exploration bonus, keyed by the bonus's name."""

    planners: Mapping[str, PlannerT]

    @property
    def bonuses(self) -> tuple[str, ...]:
        """Return the names of the exploration bonuses, with the default first."""
        return tuple(self.planners)

    @property
    def statistic(self) -> Statistic:
        """Return the statistic that the learner receives with its default bonus."""
        return self.seen(self.bonuses[0])

    def planner(self, bonus: str) -> PlannerT:
        return self.planners[bonus]
