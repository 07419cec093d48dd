"""Online runs on Trade-offs: privacy models and mechanisms of one learner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dprl.fields import Field, SpecError, shown
from dprl.figures.tradeoff import Measure
from dprl.learners import ALGORITHMS
from dprl.privacy import PRIVATIZERS
from dprl.simulation import FIELDS, RunSpec
from dprl.simulation.axes import REPORTS, PrivacyChoice
from dprl.simulation.pairs import calibrations_for, mechanisms_for, not_counted, not_played
from dprl.words import count, human
from pages.shared.names import in_common
from pages.shared.offline.settings import OfflineSettings
from pages.shared.visitor import links
from pages.shared.visitor.draft import Draft, draft_of
from pages.shared.visitor.links import Curve
from pages.tradeoffs.axes import CONTRIBUTIONS, around, sizes, without

VALUES: dict[str, tuple[float, ...]] = {
    "epsilon": (0.1, 0.2, 0.5, 1, 2, 5, 10, 20),
    "episodes": (10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9, 10**10),
    "contribution": CONTRIBUTIONS,
}
SHOWS: Mapping[str, str] = {
    "price": "Privacy cost",
    "regret": "Regret",
    "users": "Users needed",
    "table": "Table",
}
MEASURES: Mapping[str, Measure] = {"price": "price", "regret": "regret"}


class Online:
    """See subject.SweepKind."""

    title, asked = "users, one after another", "Learned online?"
    base = RunSpec(episodes=10**6, seeds=10)
    shows, measures = SHOWS, MEASURES
    worst_named = "K·V*"
    page = "explore"

    def based(self, base: Any) -> Any:
        return base

    def budget(self, base: Any) -> str:
        return "epsilon"

    def axes(self, base: Any) -> dict[str, Field]:
        found = {name: FIELDS[name] for name in ("epsilon", "episodes", "contribution")}
        return found | {name: f for name, f in sizes(base).items() if name not in found}

    def values(self, base: Any, x: str) -> tuple[Any, ...]:
        return VALUES[x] if x in VALUES else around(base, x)

    def usual(self, base: Any) -> tuple[str, ...]:
        return tuple(m for m in PRIVATIZERS if m in ALGORITHMS[base.algorithm].privacies)

    def checked(self, base: Any, models: Sequence[str]) -> tuple[str, ...]:
        taken = ALGORITHMS[base.algorithm].privacies
        found = tuple(PrivacyChoice.parse(text).text for text in models)
        for model in found:
            if PrivacyChoice.parse(model).privacy not in taken:
                raise SpecError(
                    "models", f"{base.algorithm} does not take {shown(model)}; it takes {', '.join(taken)}."
                )
        return found

    def second(self, base: Any, x: str) -> str:
        return ""

    def among(self, base: Any, x: str) -> tuple[Any, ...]:
        return ()

    def lines(
        self, base: Any, models: tuple[str, ...], x: str, among: tuple[Any, ...]
    ) -> dict[str, Sequence[Any]]:
        return {"privacy": models}

    def titles(self, base: Any, x: str, lines: Sequence[tuple[Any, ...]], free: Sequence[bool]) -> list[str]:
        models = [PrivacyChoice.parse(text) for (text,) in lines]
        kinds = [model.privacy for model in models]
        result = []
        for model in models:
            alone = kinds.count(model.privacy) == 1 and model.mechanism is None
            title = PRIVATIZERS[model.privacy].title if alone or model.privacy == "none" else model.title
            result.append(title[0].upper() + title[1:])
        return result

    def proved(self, specs: Sequence[Any], x: str, show: str) -> str:
        return ""

    def doubted(self, spec: Any) -> bool:
        return True

    def size(self, spec: Any) -> str:
        return f"after {count(spec.episodes)} users"

    def view(self, spec: Any) -> list[tuple[str, str]]:
        return links.encode([Curve(each) for each in dict.fromkeys((spec, spec.baseline()))], links.AT_FIRST)

    def common(self, base: Any, x: str, users: bool) -> list[str]:
        said = in_common([Curve(base.baseline())]).split(" · ")
        if x == "episodes" or users:
            said = [part for part in said if not part.startswith("K = ")]
        if x in base.environment_params and not users:
            said = [without(x, part) for part in said]
        if base.epsilon is not None and (x != "epsilon" or users):
            said.append(f"ε = {base.epsilon:g}")
        if base.delta is not None:
            said.append(f"δ = {human(base.delta)}")
        if base.contribution > 1 and (x != "contribution" or users):
            said.append(f"up to {base.contribution} episodes a user")
        return [ALGORITHMS[base.algorithm].title, *said]

    def draft(self, base: Any) -> Draft:
        return draft_of(base)

    def settings(self, base: Any, models: tuple[str, ...]) -> OfflineSettings:
        return OfflineSettings()

    def questions(self, base: Any, models: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        mechanisms = tuple(way for way in ways(base, models) if PrivacyChoice.parse(way).privacy == "central")
        if mechanisms:
            found["Which mechanism?"] = {"models": mechanisms, "x": "epsilon"}
        for x, words in (
            ("episodes", "More users?"),
            ("contribution", "Users who return?"),
            ("H", "A longer horizon?"),
            ("S", "More states?"),
        ):
            if x in self.axes(base):
                found[words] = {"models": self.usual(base), "x": x}
        return found


def ways(base: Any, models: Sequence[str]) -> tuple[str, ...]:
    """Of each private model, every mechanism with the least noise that proves the same, and the paper's Laplace noise
    scaled to prove (epsilon, 0). Rows count whose reports they count by default."""
    found: dict[str, None] = {}
    for privacy in dict.fromkeys(PrivacyChoice.parse(text).privacy for text in models):
        known = mechanisms_for(base.algorithm, privacy)
        for mechanism in known:
            played = "played" if plays(base, privacy, mechanism) else None
            found[PrivacyChoice(privacy, mechanism, "calibrated", played).text] = None
        if "laplace-tree" in known:
            found["central:laplace-tree:scaled"] = None
    return tuple(found)


def plays(base: Any, privacy: str, mechanism: str) -> bool:
    """Whether a row counts only reports of users who were told to play it, where that is the model's default."""
    wanted = PRIVATIZERS[privacy].reports == "played" and base.bonus != "paper"
    return wanted and not not_played(base.algorithm, privacy, mechanism)


def offered_models(algorithm: str) -> list[str]:
    """The models that can be compared for an algorithm: each privacy model, then its mechanisms one by one."""
    found = []
    for privacy in PRIVATIZERS:
        if privacy not in ALGORITHMS[algorithm].privacies:
            continue
        found.append(privacy)
        for mechanism in mechanisms_for(algorithm, privacy):
            for noise in calibrations_for(algorithm, mechanism):
                found.append(f"{privacy}:{mechanism}:{noise}")
                for reports in REPORTS if noise == "calibrated" else ():
                    if not not_counted(reports, algorithm, privacy, mechanism):
                        found.append(f"{privacy}:{mechanism}:{noise}:{reports}")
                if noise == "paper" and "laplace" in mechanism:
                    found.append(f"{privacy}:{mechanism}:scaled")
    return found
