"""The interface of a learner, for every planner and every loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from dprl.fields import Field, SpecError
from dprl.mdp import Size
from dprl.statistics import Statistic

# What a learner may take as known by everybody: it is not protected, and the guarantee card says so.
PUBLIC = {
    "sizes": "the numbers of states, actions, steps and users",
    "d1": "the distribution of the first state",
    "features": "the features of every state and action",
    "mixture": "the features of every transition, and how long their weights can be",
    "rewards": "the mean reward of every state and action",
    "structure": "which transitions are possible at all, as declared (any other step is not counted)",
}


# attributes of every learner
NEEDED = (
    "key", "title", "summary", "source", "privacies", "bonuses", "fields", "statistic", "loop", "needs",
    "public", "declarable", "schedule", "forgets", "refused", "note", "uncovered",
    "refusal", "releases", "pace", "seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """The facts that a learner's constants may depend on, all public.

    Sizes, users K, failure probability beta, the privacy budget epsilon (None without privacy), whether noise is
    calibrated as in the paper, the set of constants, the learner's own parameters, how many next states are possible at
    most, if declared, and (tau^2, rho^2) of the noise, see statistics/counts.py; empty
    where m, n and r have equal noise.
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
        """Steps in the whole run, K * H."""
        return self.K * self.H


class Learner(Protocol):
    """An entry of the registry. It never holds the model or raw counts.

    Attributes:
        key: its name in a spec.
        privacies: keys of the privatizers it may be run with, the first is the default.
        bonuses: which sets of constants it has, the first is the default.
        fields: its parameters.
        statistic: what it sees of its users.
        loop: key of the loop that plays it.
        needs: what an environment has to have, "features" or "mixture", "" if any will do.
        public: keys of PUBLIC, what it takes as known by everybody.
        declarable: keys of PUBLIC, what it takes so, too, where a spec declares it.
        schedule: the name of its own schedule, "" when it takes any.
        forgets: it receives each batch by itself, not of running sums.
        refused: privacy models that it does not have, by key, each with the reason: "local is ...".
        note: a remark for the help of its menu, "" for none.
        reconstructed: its paper's full text was not read: menus and the table of algorithms call it a reconstruction.
        uncovered: what its bonus as in the paper does not cover of calibrated noise, "" if it covers all; see
            `simulation.pairs.uncovered`.
    """

    @property
    def key(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def privacies(self) -> tuple[str, ...]: ...
    @property
    def bonuses(self) -> tuple[str, ...]: ...
    @property
    def fields(self) -> tuple[Field, ...]: ...
    @property
    def statistic(self) -> Statistic: ...
    @property
    def loop(self) -> str: ...
    @property
    def needs(self) -> str: ...
    @property
    def public(self) -> tuple[str, ...]: ...
    @property
    def declarable(self) -> tuple[str, ...]: ...
    @property
    def schedule(self) -> str: ...
    @property
    def forgets(self) -> bool: ...
    @property
    def refused(self) -> Mapping[str, str]: ...
    @property
    def note(self) -> str: ...
    @property
    def reconstructed(self) -> bool: ...
    @property
    def uncovered(self) -> str: ...

    def seen(self, bonus: str) -> Statistic:
        """Return the statistic that it sees of its users with a set of constants."""

    def refusal(self, size: Size, K: int) -> SpecError | None:
        """Explain why it cannot solve a problem of this size with K users, naming a possible size; None if it can."""

    def releases(self, size: Size, K: int, epsilon: float | None, norm: str) -> int:
        """Estimate the number of releases of its own schedule; not used if it has none.

        epsilon: None without privacy; norm: of changes, that the noise goes by, "" without.
        """

    def pace(self, private: bool) -> str:
        """Describe its own schedule in words that follow its title: "plays stages ..."; "" if it has none.

        private: whether it is run with privacy.
        """

    def seconds(self, size: Size, K: int) -> float:
        """Estimate the seconds of planning in a whole run, beyond one backward induction a release."""
