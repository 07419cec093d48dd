"""What the settings of Linear say: a problem, learners, who is trusted, and several budgets at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.learners import ALGORITHMS
from dprl.links import MAX_CURVES
from dprl.privacy import PRIVATIZERS
from dprl.simulation import FIELDS, RunSpec
from dprl.simulation.pairs import runs_in
from pages.shared import values
from pages.shared.visitor.draft import Draft, draft_of, spec_from
from pages.shared.visitor.links import Curve, most_private

LEARNERS = tuple(key for key, learner in ALGORITHMS.items() if learner.needs)
PROBLEMS = tuple(key for key in ENVIRONMENTS if any(runs_in(learner, key) for learner in LEARNERS))
MODELS = tuple(
    model for model in PRIVATIZERS if any(model in ALGORITHMS[learner].privacies for learner in LEARNERS)
)


@dataclass
class LinearSettings:
    """As the controls show them; all else is in the page's draft.

    Attributes:
        learners, models: keys.
        budgets: values of epsilon as they are written.
    """

    learners: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    budgets: str = "1"

    @property
    def private(self) -> list[str]:
        """Those of its models that add noise."""
        return [model for model in self.models if model != "none"]


def fitting(environment: str) -> list[str]:
    """The learners of linear models that run in an environment."""
    return [key for key in LEARNERS if runs_in(key, environment)]


def specs_of(settings: LinearSettings, draft: Draft) -> tuple[tuple[RunSpec, ...], list[str]]:
    """The runs that the controls describe, and why others cannot be made. Raises SpecError."""
    learners = [key for key in settings.learners if runs_in(key, draft.environment)]
    if not learners:
        raise SpecError("learners", "none was chosen; choose at least one.")
    if not settings.models:
        raise SpecError("models", "no privacy model was chosen; choose at least one.")
    budgets = values.parse(FIELDS["epsilon"], settings.budgets, MAX_CURVES) if settings.private else ()
    found: dict[RunSpec, None] = {}
    refused = []
    for learner in learners:
        plain = spec_from(replace(draft, algorithm=learner, privacy="none"))
        for model in settings.models:
            if model not in ALGORITHMS[learner].privacies:
                refused.append(model_refusal(plain, model))
                continue
            for epsilon in budgets if model != "none" else (draft.epsilon,):
                found[spec_from(replace(draft, algorithm=learner, privacy=model, epsilon=epsilon))] = None
    if len(found) > MAX_CURVES:
        raise SpecError(
            "values", f"these are {len(found)} curves; at most {MAX_CURVES} can be told apart, so give fewer."
        )
    if not found:
        raise SpecError("models", " ".join(refused))
    return tuple(found), refused


def model_refusal(plain: RunSpec, model: str) -> str:
    """Why a learner does not take a privacy model."""
    try:
        plain.replace(privacy=model)
    except SpecError as error:
        return f"{ALGORITHMS[plain.algorithm].title}: {error.sentence[:1].upper()}{error.sentence[1:]}"
    return ""


def settings_of(specs: Sequence[RunSpec]) -> LinearSettings:
    """The settings that give these runs, as far as there are such."""
    budgets = sorted({spec.epsilon for spec in specs if spec.epsilon is not None})
    return LinearSettings(
        learners=list(dict.fromkeys(spec.algorithm for spec in specs)),
        models=list(dict.fromkeys(spec.privacy for spec in specs)),
        budgets=values.values_text(budgets) if budgets else LinearSettings.budgets,
    )


def drafted(specs: Sequence[RunSpec]) -> Draft:
    """What the other controls hold: the most private run's."""
    return draft_of(specs[most_private([Curve(spec) for spec in specs])])
