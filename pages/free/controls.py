"""The controls of "When is privacy free?": a problem, a learner, a budget, and how often to repeat."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from dprl.learners import ALGORITHMS
from dprl.simulation import RunSpec
from dprl.words import plural
from pages.free.link import BASE, LEARNERS, four_models
from pages.free.state import free, show_runs
from pages.shared.controls.launch import offer, spec_of_controls
from pages.shared.controls.noise import (
    epsilon_slider,
    noise_controls,
)
from pages.shared.controls.panel import about, environment, environment_parameters, number_field
from pages.shared.controls.widgets import fold, menu_titles, select, setter
from pages.shared.results.bundled import bundled
from pages.shared.results.data import status
from pages.shared.visitor.state import Session, session


def controls() -> tuple[RunSpec | None, str]:
    """All controls; the run with a trusted curator that they describe, or the sentence that says why there is none."""
    s = session()
    environment(s)
    named = menu_titles(ALGORITHMS)
    algorithm = s.draft.algorithm
    select(
        "Algorithm",
        LEARNERS,
        algorithm,
        setter("algorithm"),
        named,
        about(algorithm),
        "algorithm",
    )
    epsilon_slider(s, "All three privacy models have this budget: central, shuffle and local.")
    environment_parameters(s)
    fold("More settings", "more", partial(more_settings, s))
    return spec_of_controls(s)


def more_settings(s: Session) -> None:
    """What most visitors leave alone."""
    noise_controls(s)
    number_field(s, "seeds", "Seeds")
    number_field(s, "root_seed", "Root seed")


def four_box(base: RunSpec | None, refusal: str) -> None:
    """What pressing Run will do, and the buttons. base, refusal: what `controls` returns."""
    missing, refused = still_to_run(base) if base else ([], [refusal])
    offer(base, run_four, lambda: missing, amount, refused, BASE)


def amount(runs: Sequence[RunSpec]) -> str:
    """How much runs are."""
    return f"{plural(len(runs), 'run')} of {plural(runs[0].seeds, 'seed')}"


def still_to_run(base: RunSpec) -> tuple[list[RunSpec], list[str]]:
    """What the view shown has still to run, and a sentence for each run that cannot be made."""
    curves, refused = four_models(base)
    known = bundled("free")
    return [c.spec for c in curves if c.spec not in known and status(c.spec).state != "done"], refused


def run_four(base: RunSpec) -> None:
    """Shows the runs and asks for what is missing of them."""
    free().problems = ()
    show_runs(base)
