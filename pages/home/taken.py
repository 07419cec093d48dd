"""The chart of Home with its slider, to take along."""

from __future__ import annotations

from dprl.figures import standalone_html
from dprl.figures.picture import Picture
from dprl.figures.trust import LEARNED, lost_by_trust
from dprl.sentences import price as sentences
from dprl.sitemap import PAGES
from pages.shared.examples import HOME_BUDGETS
from pages.shared.results.trusted import known

LABEL = "Privacy budget (a smaller one hides more)"
STOPS = tuple(f"ε = {epsilon:g}" for epsilon in HOME_BUDGETS)
NEEDED = f"Users until an average episode loses less than {LEARNED:.0%} of V*"


def taken_along(epsilon: float, v_star: float, about: str, footer: str) -> str:
    """Home as a page of its own: its chart, the sentence below it and its numbers of users, at each of HOME_BUDGETS.

    Args:
        epsilon: the one of them that is shown first.
        v_star: the most that an episode can lose.
        about, footer: as for `standalone_html.page`.
    """
    by_epsilon = {e: known(e) for e in HOME_BUDGETS}

    def picture(e: float) -> Picture:
        costs = by_epsilon[e]
        return lost_by_trust(
            {e: costs}, epsilon=e, v_star=v_star, see=sentences.about_trust(costs, e), dark=False
        )

    def numbers(at: tuple[int, ...]) -> list[list[str]]:
        return [[cost.name, sentences.rough_users(cost.needed)] for cost in by_epsilon[HOME_BUDGETS[at[0]]]]

    slider = standalone_html.Slider(LABEL, HOME_BUDGETS, STOPS, HOME_BUDGETS.index(epsilon))
    charts = [standalone_html.ChartSlot([picture(e) for e in HOME_BUDGETS], turned=0)]
    return standalone_html.html_page(
        PAGES[""].heading, about, [slider], charts, ["", NEEDED], numbers, footer=footer
    )
