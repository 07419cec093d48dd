"""Whose turn is next, and when a run will be done."""

from __future__ import annotations

from dprl.runs.queue import Claim, first
from dprl.runs.status import Forecast, Waiting, forecast


def claim(
    name: str, last: bool = False, running: int = 0, served: float = 0, run: float = 0, asked: float = 0
) -> Claim:
    return Claim(last, running, served, run, asked, name)


def order(*claims: Claim) -> list[str]:
    """In which they would get turns if nothing changed."""
    rest, found = list(claims), []
    while (best := first(rest)) is not None:
        rest.remove(best)
        found.append(best.seed)
    return found


def test_drafts_and_lost_tabs_come_last_then_who_has_fewest_running_then_who_was_unserved_longest() -> None:
    assert first([]) is None
    claims = (
        claim("draft", last=True),
        claim("busy", running=1),
        claim("served late", served=9.0),
        claim("served early, run late", served=5.0, run=5.0),
        claim("served early, run early", served=5.0, run=3.0, asked=8),
        claim("served early, run early, asked first", served=5.0, run=3.0, asked=2),
        claim("new", asked=99),
    )
    assert order(*claims) == [
        "new",
        "served early, run early, asked first",
        "served early, run early",
        "served early, run late",
        "served late",
        "busy",
        "draft",
    ]


def test_forecast_of_visitors_in_turn() -> None:
    waiting = [
        Waiting("ann", 1, 10, 100.0, False),
        Waiting("bob", 2, 1, 10.0, False),
        Waiting("ann", 3, 1, 1.0, False),
    ]
    found = forecast(waiting, 1)
    assert found == {1: Forecast(0, 110.0), 2: Forecast(1, 20.0), 3: Forecast(2, 111.0)}
    assert forecast(waiting, 2)[1].seconds_left == 55.0


def test_forecast_never_ends_before_the_longest_seed() -> None:
    assert forecast([Waiting("ann", 1, 2, 20.0, False)], 8)[1].seconds_left == 10.0


def test_forecast_of_those_who_are_away_comes_after_all_others() -> None:
    waiting = [Waiting("gone", 1, 1, 50.0, True), Waiting("ann", 2, 1, 1.0, False)]
    assert forecast(waiting, 1) == {1: Forecast(1, 51.0), 2: Forecast(0, 1.0)}
