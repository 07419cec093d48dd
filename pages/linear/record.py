"""Linear as a page that compares runs."""

from __future__ import annotations

from dprl.learners import ALGORITHMS
from dprl.simulation import RunSpec
from dprl.words import plural
from pages.linear.examples import EXAMPLES, harder
from pages.linear.settings import LinearSettings, drafted, settings_of
from pages.linear.view import LinearView
from pages.shared import names
from pages.shared.comparison.record import ComparisonPage, ComparisonState
from pages.shared.visitor.links import Curve, curves_of, most_private


class LinearState(ComparisonState[RunSpec, LinearView, LinearSettings]):
    """What a visitor has on the page."""

    @property
    def curves(self) -> list[Curve]:
        """The runs as Explore takes them."""
        return curves_of(self.specs)


def further(state: LinearState) -> list[RunSpec]:
    """The runs of problems that get harder with their users, while their exponents are looked at."""
    if state.view.tab != "exponents" or state.view.problem != "harder":
        return []
    return [one for spec in state.specs for one in harder(spec)]


LINEAR = ComparisonPage(
    path="linear",
    kind=RunSpec.kind,
    view=LinearView,
    state_type=LinearState,
    examples=EXAMPLES,
    settings_of=settings_of,
    draft_of=lambda draft, specs: drafted(specs),
    titles=lambda specs: names.titles(curves_of(specs)),
    in_common=lambda specs: names.in_common(curves_of(specs)),
    most_private=lambda specs: most_private(curves_of(specs)),
    amount=lambda specs: f"{plural(len(specs), 'run')} of {plural(specs[0].seeds, 'seed')}",
    shows=lambda spec: bool(ALGORITHMS[spec.algorithm].needs),
    left_out="Only runs of algorithms of linear models are shown here; the others are left out.",
    further=further,
)
