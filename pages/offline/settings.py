"""The settings of Offline: a problem and its data, learners, and several budgets at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.fields import Field, SpecError
from dprl.learners import OFFLINE
from dprl.links import MAX_CURVES
from dprl.privacy.curator import PROMISES
from dprl.simulation import OfflineSpec
from dprl.simulation.budgeted import DEFAULT_DELTA
from dprl.simulation.datasets import BEHAVIOURS, split_behaviour
from dprl.simulation.offline_spec import FIELDS
from pages.shared import values
from pages.shared.visitor.draft import Draft

CLINIC = OfflineSpec(environment="clinic", behaviour="mixture:0.7", n=10**6, seeds=10)
FIRST = CLINIC.baseline()  # the controls start with this run's sizes

PLAIN = ":none"  # suffix for the non-private form of a learner with the same key
BUDGET = {"zcdp": "rho", "pure": "epsilon", "approximate": "epsilon"}  # the field with several values
USUAL = {"zcdp": "0.01, 0.1, 1", "pure": "0.1, 1, 10", "approximate": "0.1, 1, 10"}
REWARDS = {"known": "known", "learned": "learned from noisy sums"}  # mean rewards
SPLIT = "data"  # the constant of learners that can split the data set


@dataclass
class OfflineSettings:
    """The values of the controls; the environment and all constants are in the page's draft."""

    behaviour: str = "mixture"
    arguments: dict[str, float] = field(default_factory=dict)  # argument of each behaviour that has one
    policy: str = ""  # the policy that some users follow, as in a spec
    learners: list[str] = field(default_factory=lambda: ["dp-kl-lcb" + PLAIN, "dp-kl-lcb"])  # see `offered`
    privacy: str = "zcdp"  # the privacy notion
    values: dict[str, str] = field(default_factory=lambda: dict(USUAL))  # budgets as text, by promise
    delta: float = DEFAULT_DELTA
    calibration: str = "calibrated"
    split: str = "halves"
    rewards: str = "known"
    n: int = FIRST.n
    contribution: int = 1  # the maximum number of episodes of one user
    seeds: int = FIRST.seeds
    root_seed: int = 0
    beta: float = FIRST.beta

    @property
    def behaves(self) -> str:
        """Return the behaviour policy as written in a spec."""
        chosen = BEHAVIOURS[self.behaviour]
        if chosen.argument is None:
            return self.behaviour
        named = f"{self.behaviour}:{self.arguments.get(self.behaviour, chosen.argument.default):g}"
        return f"{named}:{self.policy}" if chosen.takes_policy else named

    @property
    def private(self) -> list[str]:
        """Return the chosen learners that add noise."""
        return [key for key in self.learners if is_private(key)]


def is_private(option: str) -> bool:
    """Return whether a learner, named as in `offered`, adds noise."""
    return not option.endswith(PLAIN) and OFFLINE[option].privacies != ("none",)


def offered(environment: str) -> list[str]:
    """Return the learners that an environment supports: linear ones only if it has features."""
    found = []
    for key, learner in OFFLINE.items():
        if "features" in learner.public and not ENVIRONMENTS[environment].features:
            continue
        found.append(key)
        if "none" in learner.privacies and len(learner.privacies) > 1:
            found.append(key + PLAIN)
    return found


def title(option: str) -> str:
    """Return a learner's title in a menu."""
    name = OFFLINE[option.removesuffix(PLAIN)].title
    return name if is_private(option) else f"{name}, no privacy"


def promises(learners: Sequence[str]) -> list[str]:
    """Return the privacy notions that all of these private learners support."""
    made = [OFFLINE[key].privacies for key in learners]
    return [key for key in BUDGET if all(key in privacies for privacies in made)]


def in_paper(settings: OfflineSettings, key: str) -> bool:
    """Return whether the paper states this learner's noise; it does not if rewards are learned."""
    return settings.privacy in OFFLINE[key].paper_noise and not (settings.rewards == "learned" and knows(key))


def constants_by_family(learners: Sequence[str]) -> dict[str, list[Field]]:
    """Return the constants of these learners by the key of the non-private form, which a private learner shares; the
    split of the data is left out."""
    found: dict[str, list[Field]] = {}
    for option in learners:
        learner = OFFLINE[option.removesuffix(PLAIN)]
        found[learner.baseline] = [f for f in learner.fields if f.name != SPLIT]
    return {key: fields for key, fields in found.items() if fields}


def splits(option: str) -> bool:
    """Return whether a learner can use the data set in halves."""
    return any(f.name == SPLIT for f in OFFLINE[option.removesuffix(PLAIN)].fields)


def knows(option: str) -> bool:
    """Return whether a learner supports known mean rewards; it then also supports learning them."""
    return "rewards" in OFFLINE[option.removesuffix(PLAIN)].public


def specs_of(settings: OfflineSettings, draft: Draft) -> tuple[OfflineSpec, ...]:
    """Return the runs that the controls describe: one for each non-private learner, and one per budget for the others.

    Raises SpecError.
    """
    if not settings.learners:
        raise SpecError("learners", "none was chosen; choose at least one.")
    budgets = values.parse(FIELDS[BUDGET[settings.privacy]], settings.values[settings.privacy], MAX_CURVES)
    found: dict[OfflineSpec, None] = {}
    for option in settings.learners:
        for value in budgets if is_private(option) else budgets[:1]:
            found[offline_spec_of(settings, draft, option, value)] = None
    if len(found) > MAX_CURVES:
        raise SpecError("values", f"these are {len(found)} curves; give at most {MAX_CURVES}.")
    return tuple(found)


def offline_spec_of(
    settings: OfflineSettings, draft: Draft, option: str, budget: float | None = None
) -> OfflineSpec:
    """Return the run of one learner, named as in `offered`, at a budget. Raises SpecError."""
    key = option.removesuffix(PLAIN)
    params = {k: v for k, v in draft.params("algorithm", OFFLINE[key].baseline).items() if k != SPLIT}
    noise: dict[str, Any] = {"privacy": "none"}
    if is_private(option):
        noise = {
            "privacy": settings.privacy,
            "calibration": settings.calibration if in_paper(settings, key) else None,
            "delta": settings.delta,
            "contribution": settings.contribution,
            BUDGET[settings.privacy]: budget,
        }
    return OfflineSpec(
        environment=draft.environment,
        environment_params=draft.environment_params.get(draft.environment, {}),
        algorithm=key,
        algorithm_params=params | ({SPLIT: settings.split} if splits(option) else {}),
        behaviour=settings.behaves,
        n=settings.n,
        seeds=settings.seeds,
        root_seed=settings.root_seed,
        beta=settings.beta,
        rewards=settings.rewards,
        **noise,
    )


def settings_of(specs: Sequence[OfflineSpec]) -> OfflineSettings:
    """Return settings that give these runs as far as possible; if runs differ, the first one counts."""
    first = specs[0]
    private = [spec for spec in specs if spec.calibration]
    settings = OfflineSettings(n=first.n, seeds=first.seeds, root_seed=first.root_seed, beta=first.beta)
    settings.behaviour, argument, settings.policy = split_behaviour(first.behaviour)
    if argument:
        settings.arguments[settings.behaviour] = float(argument)
    learners = [
        spec.algorithm
        if spec.calibration or OFFLINE[spec.algorithm].privacies == ("none",)
        else spec.algorithm + PLAIN
        for spec in specs
    ]
    settings.learners = list(dict.fromkeys(learners))
    if private:
        one = private[0]
        settings.privacy, settings.calibration = one.privacy, one.calibration or "paper"
        settings.delta = DEFAULT_DELTA if one.delta is None else one.delta
        settings.contribution = one.contribution
        given = {getattr(spec, BUDGET[one.privacy]) for spec in private if spec.privacy == one.privacy}
        settings.values[one.privacy] = values.values_text(sorted(given))
    settings.rewards = next((spec.rewards for spec in specs if spec.rewards), "known")
    for spec in specs:
        if SPLIT in spec.algorithm_params:
            settings.split = spec.algorithm_params[SPLIT]
            break
    return settings


def drafted(draft: Draft, specs: Sequence[OfflineSpec]) -> Draft:
    """Return the draft with the environment and the constants of these runs."""
    first = specs[0]
    draft.environment = first.environment
    draft.environment_params[first.environment] = dict(first.environment_params)
    for spec in reversed(specs):
        draft.algorithm_params[OFFLINE[spec.algorithm].baseline] = dict(spec.algorithm_params)
    return draft


assert set(BUDGET) == {key for key, promise in PROMISES.items() if promise.fields}
