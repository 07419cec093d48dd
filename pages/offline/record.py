"""The settings of the Offline page, its examples, its view, and its part of a visitor's session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.learners import OFFLINE
from dprl.links import MAX_CURVES, last
from dprl.messages import messages
from dprl.simulation import OfflineSpec, RunSpec
from dprl.simulation.budgeted import DEFAULT_DELTA
from dprl.simulation.datasets import BEHAVIOURS, split_behaviour
from dprl.simulation.offline_spec import FIELDS
from pages.shared.results.status import Runs
from pages.shared.visitor.address import Query
from pages.shared.visitor.draft import Draft, draft_of
from pages.shared.visitor.links import decode, encode_specs, looked, read_values, values_text
from pages.shared.visitor.state import PageState, session

SAID = messages("pages")["offline"]
CLINIC = OfflineSpec(environment="clinic", behaviour="mixture:0.7", n=10**6, seeds=10)
PLAIN = ":none"  # marks the non-private form of an algorithm that also has a private one
BUDGET = {"zcdp": "rho", "pure": "epsilon", "approximate": "epsilon"}  # the field that holds the budget
EVERY_RUN = ("n", "seeds", "root_seed", "beta")  # settings with the same value in all runs of the controls
USUAL = {"zcdp": "0.01, 0.1, 1", "pure": "0.1, 1, 10", "approximate": "0.1, 1, 10"}


@dataclass
class OfflineSettings:
    """The values of the controls; the environment and all constants are in the page's draft."""

    behaviour: str = "mixture"
    arguments: dict[str, float] = field(default_factory=dict)  # by behaviour policy, if it has an argument
    policy: str = ""  # the policy that some users follow, as in a spec; it comes from a link
    learners: list[str] = field(default_factory=lambda: ["dp-kl-lcb" + PLAIN, "dp-kl-lcb"])  # see `offered`
    privacy: str = "zcdp"
    values: dict[str, str] = field(default_factory=lambda: dict(USUAL))  # budgets as text, by privacy notion
    delta: float = DEFAULT_DELTA
    calibration: str = "calibrated"
    rewards: str = "known"
    n: int = CLINIC.n
    contribution: int = 1  # the maximum number of episodes of one user
    seeds: int = CLINIC.seeds
    root_seed: int = 0
    beta: float = CLINIC.beta

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
    """Return whether an algorithm, named as in `offered`, adds noise."""
    return not option.endswith(PLAIN) and OFFLINE[option].privacies != ("none",)


def offered(environment: str) -> list[str]:
    """Return the algorithms that an environment supports: linear ones only if it has features."""
    found = []
    for key, learner in OFFLINE.items():
        if "features" in learner.public and not ENVIRONMENTS[environment].features:
            continue
        found.append(key)
        if "none" in learner.privacies and len(learner.privacies) > 1:
            found.append(key + PLAIN)
    return found


def title(option: str) -> str:
    name = OFFLINE[option.removesuffix(PLAIN)].title
    return name if is_private(option) else f"{name}, no privacy"


def in_paper(settings: OfflineSettings, key: str) -> bool:
    """Return whether the paper states this algorithm's noise. It does so only for known rewards."""
    return settings.privacy in OFFLINE[key].paper_noise and not (settings.rewards == "learned" and knows(key))


def knows(option: str) -> bool:
    """Return whether an algorithm can use known mean rewards. If so, it can also learn them."""
    return "rewards" in OFFLINE[option.removesuffix(PLAIN)].public


def specs_of(settings: OfflineSettings, draft: Draft) -> tuple[OfflineSpec, ...]:
    """Return the runs that the controls describe: one per budget, or one without privacy. Raises SpecError."""
    if not settings.learners:
        raise SpecError("learners", "none was chosen; choose at least one.")
    budgets = read_values(FIELDS[BUDGET[settings.privacy]], settings.values[settings.privacy], MAX_CURVES)
    found = dict.fromkeys(
        offline_spec_of(settings, draft, option, value)
        for option in settings.learners
        for value in (budgets if is_private(option) else budgets[:1])
    )
    if len(found) > MAX_CURVES:
        raise SpecError("values", f"these values make {len(found)} curves; give at most {MAX_CURVES}.")
    return tuple(found)


def offline_spec_of(settings: OfflineSettings, draft: Draft, option: str, budget: float) -> OfflineSpec:
    """Return the run of one algorithm, named as in `offered`, at a budget. Raises SpecError."""
    key = option.removesuffix(PLAIN)
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
        algorithm_params=dict(draft.params("algorithm", OFFLINE[key].baseline)),
        behaviour=settings.behaves,
        rewards=settings.rewards,
        **{name: getattr(settings, name) for name in EVERY_RUN},
        **noise,
    )


def settings_of(specs: Sequence[OfflineSpec]) -> OfflineSettings:
    """Return settings that reproduce these runs as far as possible. If the runs differ, the first one decides."""
    first = specs[0]
    private = [spec for spec in specs if spec.calibration]
    settings = OfflineSettings(**{name: getattr(first, name) for name in EVERY_RUN})
    settings.behaviour, argument, settings.policy = split_behaviour(first.behaviour)
    if argument:
        settings.arguments[settings.behaviour] = float(argument)
    plain = {
        spec for spec in specs if not spec.calibration and OFFLINE[spec.algorithm].privacies != ("none",)
    }
    settings.learners = list(dict.fromkeys(s.algorithm + (PLAIN if s in plain else "") for s in specs))
    for one in private[:1]:
        settings.privacy, settings.calibration = one.privacy, one.calibration or "paper"
        settings.delta = DEFAULT_DELTA if one.delta is None else one.delta
        settings.contribution = one.contribution
        given = {getattr(spec, BUDGET[one.privacy]) for spec in private if spec.privacy == one.privacy}
        settings.values[one.privacy] = values_text(sorted(given))
    settings.rewards = next((spec.rewards for spec in specs if spec.rewards), "known")
    return settings


def drafted(draft: Draft, specs: Sequence[OfflineSpec]) -> Draft:
    """Set the draft's environment and constants to those of these runs, and return it."""
    first = specs[0]
    draft.environment = first.environment
    draft.environment_params[first.environment] = dict(first.environment_params)
    for spec in reversed(specs):
        draft.algorithm_params[OFFLINE[spec.algorithm].baseline] = dict(spec.algorithm_params)
    return draft


TABS = ("gap", "pessimism", "policy", "coverage", "guarantee", "data")
BIGGEST = 10**12


@dataclass(frozen=True)
class OfflineView:
    """The view of the page. Links leave these defaults out, so they must never change."""

    tab: str = looked("gap", "the open tab", "tab", choices=TABS)
    curve: int = looked(-1, "the run shown in detail; -1: the most private", "i", low=-1, high=MAX_CURVES - 1)
    seed: int = looked(0, "the repetition in detail", "seed", low=0, high=99)
    n: int = looked(0, "the size; 0: the largest at which learning fails", "n", low=0, high=BIGGEST)
    h: int = looked(-1, "the step of the episode; -1: all", "h", low=-1, high=999)


Specs = tuple[OfflineSpec, ...]


class Example(NamedTuple):
    """A ready-made comparison, described by a plain-text sentence."""

    title: str
    say: str
    specs: Specs


AS_IN_PAPER = CLINIC.replace(algorithm="dp-apvi", n=10**10, rho=0.1)
LINEAR = OfflineSpec(
    environment="linear-synthetic", algorithm="dp-vapvi", behaviour="first:0.6", n=10**6, seeds=10
)


def _budgets(base: OfflineSpec, *rho: float) -> tuple[OfflineSpec, ...]:
    """Return the run without privacy and a run at each of these budgets."""
    return (base.baseline(), *(base.replace(rho=each) for each in rho))


def _example(key: str, *specs: OfflineSpec) -> Example:
    return Example(**SAID["examples"][key], specs=specs)


THREE = (0.01, 0.1, 1.0)  # values of rho
RIVER = OfflineSpec(environment="riverswim", behaviour="uniform", n=10**8, seeds=10)
EXAMPLES = (
    _example("budgets", *_budgets(CLINIC, *THREE)),
    _example(
        "guarantees",
        *_budgets(CLINIC, 0.1),
        *(CLINIC.replace(privacy=privacy, epsilon=1.0) for privacy in ("pure", "approximate")),
    ),
    _example("rare", *_budgets(RIVER, *THREE)),
    _example(
        "constants", *_budgets(AS_IN_PAPER, *THREE), AS_IN_PAPER.replace(algorithm="dp-kl-lcb", rho=0.1)
    ),
    _example("linear", *_budgets(LINEAR, 25.0, 1.0, 0.1)),
    _example("sums", *_budgets(LINEAR, 1.0), LINEAR.replace(algorithm="dp-pevi", rho=0.8)),
)
FIRST = EXAMPLES[0].specs  # shown when the page opens
RUNS = Runs(("offline",), "offline")


@dataclass(kw_only=True)
class OfflineState(PageState):
    view: OfflineView = OfflineView()
    specs: Specs = FIRST
    settings: OfflineSettings = field(default_factory=lambda: settings_of(FIRST))  # outside the draft
    keep: bool = False  # whether Run adds to the current comparison

    @property
    def first_draft(self) -> Draft:
        """Return the draft with the settings of the page's runs."""
        return drafted(draft_of(RunSpec()), self.specs)

    @property
    def link(self) -> list[tuple[str, str]]:
        return encode_specs(self.specs, self.view)

    def follow(self, given: Query, problems: list[str]) -> None:
        """Apply a link and start its runs."""
        link = decode(given, session().files, OfflineView, OfflineSpec.kind)
        problems += link.problems
        if any(last(given, key) for key in ("y", "each")):  # older links may contain these choices
            problems.append("Offline always draws means on logarithmic axes.")
        found: list[Any] = [curve.spec for curve in link.curves]
        self.view, self.specs = link.view, tuple(dict.fromkeys(found)) or self.specs
        self.set_controls(self.specs)
        RUNS.begin(self.specs)

    def set_controls(self, specs: Specs) -> None:
        s = session()
        self.settings, s.draft = settings_of(specs), drafted(s.draft, specs)
        s.version += 1

    def reset(self) -> Callable[[], None]:
        """Reset the controls but not the comparison. Return a function that undoes this, except for the draft."""
        before = {"settings": self.settings, "keep": self.keep}
        self.keep = False
        self.set_controls(FIRST)
        return lambda: vars(self).update(before)

    def compare(self, specs: Sequence[OfflineSpec]) -> None:
        """Show these runs, start the missing ones, and update the address."""
        self.put(specs=tuple(specs), view=replace(self.view, curve=OfflineView.curve))
        RUNS.start(self.specs)

    def take(self, example: Example) -> None:
        """Show an example and set the controls to its values."""
        self.compare(example.specs)
        self.set_controls(example.specs)


offline = OfflineState.mine


def bundled_specs() -> list[Any]:
    """Return all runs of the examples, whose results are bundled with the program."""
    return list(dict.fromkeys(spec for example in EXAMPLES for spec in example.specs))
