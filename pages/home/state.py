"""The home page's state of a visitor, its link, and its runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

from dprl import links, metrics
from dprl.fields import SpecError
from dprl.figures.trust import LEARNED, Cost
from dprl.metrics import search
from dprl.privacy import PRIVATIZERS
from dprl.simulation import RunSpec
from dprl.simulation.table import FIELDS
from pages.shared.examples import BASE, HOME_BUDGETS, HOME_EPISODES, trust
from pages.shared.results import answers
from pages.shared.results.bundled import bundled
from pages.shared.visitor.address import Query
from pages.shared.visitor.state import PageState, session

EPSILON = replace(FIELDS["epsilon"], optional=False)
LABEL = "Privacy budget (a smaller one hides more)"  # of the slider
STOPS = tuple(f"ε = {epsilon:g}" for epsilon in HOME_BUDGETS)
NEEDED = f"Users until an average episode loses less than {LEARNED:.0%} of V*"


@dataclass
class Home(PageState):
    """The page's state of a visitor. drawn: the epsilon of its chart and whether it is dark; story: whether
    the story is above it."""

    epsilon: float = EPSILON.default
    drawn: tuple[float, bool] = (EPSILON.default, False)
    story: bool = False
    begun: bool = False  # its slider writes the address by itself

    @property
    def link(self) -> list[tuple[str, str]]:
        return link_to(self.epsilon)

    def follow(self, given: Query) -> None:
        """Apply the epsilon of a link."""
        if "eps" not in given:
            return
        problems: list[str] = []
        links.check_version(given, problems)
        epsilon = nearest(given["eps"][-1], problems)
        self.problems = tuple(problems)
        if epsilon != self.epsilon:  # else the slider wrote it
            self.epsilon = epsilon
            session().version += 1


def link_to(epsilon: float) -> list[tuple[str, str]]:
    """Return the query parameters of the link to this page at an epsilon."""
    return [*links.link_heading(), ("eps", f"{epsilon:g}")]


def nearest(text: str, problems: list[str]) -> float:
    """Return the epsilon of HOME_BUDGETS for a link's; a sentence is added to `problems` if it is another one."""
    epsilon: float = EPSILON.default
    try:
        wanted = EPSILON.parse(text)
        epsilon = min(HOME_BUDGETS, key=lambda e: abs(math.log(e / wanted)))
        if epsilon != wanted:
            problems.append(f"The slider has no ε = {wanted:g} and shows the nearest. Online runs any ε.")
    except SpecError as error:
        problems.append(str(error))
    return epsilon


@cache
def known(epsilon: float) -> list[Cost]:
    """Return the cost of each privacy model at an epsilon, from the bundled runs."""
    return [cost_of(curve.spec) for curve in trust(epsilon, HOME_EPISODES).curves]


def cost_of(spec: RunSpec) -> Cost:
    """Return one privacy model's curve, and where it has come down."""
    run = bundled("home")[spec]
    average = metrics.per_episode(run.at, run.values)
    mean, low, high = metrics.regret_band(average)
    needed = search.stays_below(run.at.astype(float), mean, LEARNED * best())
    model = PRIVATIZERS[spec.privacy]
    return Cost(spec.privacy, model.title, model.words.given, run.at, mean, low, high, needed)


def best() -> float:
    """Return the value of an optimal episode, which is known for the page's runs."""
    known = answers.v_star(BASE)
    assert known is not None
    return known
