"""The base class of specs for learning from one private data set, and the fields that they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from dprl import names
from dprl.learners import OFFLINE
from dprl.learners.offline.learner import OfflineLearner
from dprl.messages.labels import called, phrase
from dprl.privacy.curator import PROMISES, Budget
from dprl.simulation import cost
from dprl.simulation.base import Spec
from dprl.statistics import DATASET

DEFAULT_DELTA = 1e-6


class Budgeted(Spec):
    """The base class of specs for learning from one private data set."""

    algorithm: str
    algorithm_params: Mapping[str, Any]
    privacy: names.Given[str, str | None]
    calibration: str | None
    rho: names.NumberOrNone
    epsilon: names.NumberOrNone
    delta: names.NumberOrNone
    beta: names.Number
    contribution: Any  # the largest number of one user's episodes that the noise protects together
    rewards: Any  # known or learned; None for a learner without this choice

    @property
    def learner(self) -> OfflineLearner:
        """Return the registry entry of the spec's algorithm."""
        return OFFLINE[self.algorithm]

    @property
    def budget(self) -> Budget:
        """Return the privacy budget: the kind of guarantee, with rho, epsilon and delta."""
        return Budget(PROMISES[self.privacy], self.rho, self.epsilon, self.delta)

    def label(self) -> str:
        """Return a short name for a legend."""
        names, m = PROMISES[self.privacy].fields, self.contribution
        if not names:
            return called(self.learner.title, phrase("plain"))
        budget = (phrase("budget", symbol=name, value=f"{getattr(self, name):g}") for name in names)
        return called(self.learner.title, *budget, phrase("episodes", m=m) if m > 1 else "")

    def replace(self, **changes: Any) -> Self:
        """Copy the spec with some fields changed, and check the copy. Raises SpecError.

        Fields that belong to a changed field return to their defaults. A new algorithm keeps parameters that it shares.
        """
        kept = self._kept(changes)
        algorithm = changes.get("algorithm", self.algorithm)
        if "algorithm_params" in kept and algorithm in OFFLINE:
            known = {f.name for f in OFFLINE[algorithm].fields}
            kept["algorithm_params"] = {k: v for k, v in kept["algorithm_params"].items() if k in known}
        return self.from_dict(kept | changes)

    def _choose_budget(self, promises: tuple[str, ...]) -> None:
        """Fill in the kind of guarantee, the calibration and the budget's numbers; unused numbers become None."""
        self._set("privacy", self.privacy or promises[0])
        self._choose("privacy", promises, self.algorithm)
        promise = PROMISES[self.privacy]
        if not promise.fields:
            self._set("calibration", None)
        else:
            in_paper = promise.key in self.learner.paper_noise and self.rewards != "learned"
            ways = ("paper", "calibrated") if in_paper else ("calibrated",)
            self._set("calibration", self.calibration or ways[0])
            self._choose("calibration", ways, f"privacy {promise.key} of {self.algorithm}")
        for name, usual in (("rho", 1.0), ("epsilon", 1.0), ("delta", DEFAULT_DELTA)):
            given = getattr(self, name)
            self._set(name, (usual if given is None else given) if name in promise.fields else None)

    def _check_cells(self, field: str) -> None:
        """Raise SpecError if a data set would need more counters than the limit allows."""
        cells, most = DATASET.draws(self.problem_size), int(cost.limit(cost.COUNTERS))
        if cells > most:
            S, A, H, _ = self.problem_size
            needed = f"S={S}, A={A}, H={H} would need {cells:,} counters {DATASET.formula}"
            allowed = f"at most {most:,} are allowed; give a smaller S, A or H."
            raise cost.refused(field, f"{needed}, but {allowed}", cost.COUNTERS)
