"""Runs on data sets on Trade-offs: learners at several sizes or budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.fields import Field, SpecError, shown
from dprl.figures.tradeoff import Measure
from dprl.learners import OFFLINE
from dprl.privacy.curator import PROMISES
from dprl.research.frontiers import SYMBOLS, proved_exponent
from dprl.research.series import bound_of
from dprl.simulation import OfflineSpec, RunSpec
from dprl.simulation.offline_spec import FIELDS
from dprl.words import count, human, listed, to_the
from pages.shared.offline import names
from pages.shared.offline.settings import OfflineSettings, drafted, settings_of
from pages.shared.visitor import multi_run_link
from pages.shared.visitor.draft import Draft, draft_of
from pages.tradeoffs.axes import CONTRIBUTIONS, around, sizes, without

VALUES: dict[str, tuple[float, ...]] = {
    "rho": (0.001, 0.01, 0.1, 1, 10, 100),
    "epsilon": (0.01, 0.1, 1, 10, 100, 1000),
    "contribution": CONTRIBUTIONS,
}
AMONG = {"rho": (0.01, 0.1, 1), "epsilon": (0.1, 1, 10)}
PROVED_COST = "The proved upper bound of what noise adds is like {powers}."
PROVED_LEFT = "The proved upper bound of what is left when n is large is like {powers}."
TENFOLDS = range(-3, 3)  # about the base's n
SHOWS: Mapping[str, str] = {"price": "Privacy cost", "regret": "Suboptimality", "table": "Table"}
MEASURES: Mapping[str, Measure] = {"price": "gap price", "regret": "gap"}


class Offline:
    """See subject.SweepKind."""

    title, asked = "a data set", "Learned from a data set?"
    base = OfflineSpec(environment="clinic", algorithm="dp-apvi", behaviour="mixture:0.7", n=10**8, seeds=5)
    shows, measures = SHOWS, MEASURES
    worst_named = "v*"
    page = "offline"

    def based(self, base: Any) -> Any:
        return base if base.calibration else base.replace(algorithm=self.base.algorithm)

    def budget(self, base: Any) -> str:
        return PROMISES[base.privacy].fields[0]

    def axes(self, base: Any) -> dict[str, Field]:
        found = {name: FIELDS[name] for name in (self.budget(base), "n", "contribution")}
        return found | {name: f for name, f in sizes(base).items() if name not in found}

    def values(self, base: Any, x: str) -> tuple[Any, ...]:
        if x == "n":
            return _tenfolds(base, TENFOLDS)
        return VALUES[x] if x in VALUES else around(base, x)

    def usual(self, base: Any) -> tuple[str, ...]:
        return tuple(dict.fromkeys((OFFLINE[base.algorithm].baseline, base.algorithm)))

    def checked(self, base: Any, models: Sequence[str]) -> tuple[str, ...]:
        allowed = offered_learners(base.environment, base.privacy)
        for key in models:
            if key not in allowed:
                raise SpecError(
                    "models",
                    f"{shown(key)} is not allowed with {base.environment} and privacy {base.privacy}; give some of "
                    f"{', '.join(allowed)}.",
                )
        return tuple(models)

    def second(self, base: Any, x: str) -> str:
        return "n" if x == self.budget(base) else self.budget(base)

    def among(self, base: Any, x: str) -> tuple[Any, ...]:
        second = self.second(base, x)
        return AMONG[second] if second in AMONG else _tenfolds(base, range(-1, 2))

    def lines(
        self, base: Any, models: tuple[str, ...], x: str, among: tuple[Any, ...]
    ) -> dict[str, Sequence[Any]]:
        return {"algorithm": models, self.second(base, x): among}

    def titles(self, base: Any, x: str, lines: Sequence[tuple[Any, ...]], free: Sequence[bool]) -> list[str]:
        second = self.second(base, x)
        result = []
        for (key, value), alone in zip(lines, free, strict=True):
            parts = [OFFLINE[key].title, "no privacy"] if alone else [OFFLINE[key].title]
            if second == "n":
                parts.append(f"n = {count(value)}")
            elif not alone:
                parts.append(f"{SYMBOLS[second]} = {value:g}")
            result.append(", ".join(parts))
        return result

    def proved(self, specs: Sequence[Any], x: str, show: str) -> str:
        said: dict[str, None] = {}
        for spec in specs:
            exponent, bound = proved_exponent(spec, x, price=show == "price"), bound_of(spec)
            if exponent is not None and bound is not None:
                said[f"{to_the(SYMBOLS.get(x, x), exponent)} ({bound.paper})"] = None
        if not said:
            return ""
        return (PROVED_COST if show == "price" else PROVED_LEFT).format(powers=listed(list(said)))

    def doubted(self, spec: Any) -> bool:
        return False

    def size(self, spec: Any) -> str:
        return f"from {count(spec.n)} trajectories"

    def view(self, spec: Any) -> list[tuple[str, str]]:
        return multi_run_link.encode(list(dict.fromkeys((spec.baseline(), spec))))

    def common(self, base: Any, x: str, users: bool) -> list[str]:
        said = names.in_common([base])
        parts = [part for part in said.split(" · ") if not part.startswith("n up to")]
        if x in base.environment_params:
            parts = [without(x, part) for part in parts]
        if "n" not in (x, self.second(base, x)):
            parts.append(f"n = {count(base.n)}")
        if base.delta is not None:
            parts.append(f"δ = {human(base.delta)}")
        if base.contribution > 1 and x != "contribution":
            parts.append(f"up to {base.contribution} episodes a user")
        return parts

    def draft(self, base: Any) -> Draft:
        return drafted(draft_of(RunSpec()), [base])

    def settings(self, base: Any, models: tuple[str, ...]) -> OfflineSettings:
        return replace(settings_of([base]), learners=list(models))

    def questions(self, base: Any, models: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        asked = {
            self.budget(base): "A larger budget?",
            "n": "More people?",
            "contribution": "Users who return?",
            "H": "A longer horizon?",
            "S": "More states?",
        }
        return {words: {"models": models, "x": x} for x, words in asked.items() if x in self.axes(base)}


def offered_learners(environment: str, privacy: str) -> list[str]:
    """The learners that can be compared: those without privacy, and those that make this promise."""
    return [
        key
        for key, learner in OFFLINE.items()
        if (learner.privacies == ("none",) or privacy in learner.privacies)
        and ("features" not in learner.public or ENVIRONMENTS[environment].features)
    ]


def _tenfolds(base: Any, exponents: Sequence[int]) -> tuple[int, ...]:
    """Sizes so many tenfolds from the base's, as far as they are allowed."""
    most = int(FIELDS["n"].high or 0)
    found = [base.n * 10**e if e >= 0 else base.n // 10**-e for e in exponents]
    return tuple(dict.fromkeys(min(max(n, 1), most) for n in found))
