from __future__ import annotations

from dprl.jobs.queue import FairQueue, Ticket, forecast


def tickets(
    *entries: tuple[str, int, int], running: tuple[int, ...] = (), served: dict[str, float] | None = None
) -> list[Ticket]:
    """Tickets from (visitor, run, unit), each on_value ten seconds, all asked for at time 1."""
    return [
        Ticket(visitor, run, unit, unit in running, 10.0, 1.0, (served or {}).get(visitor, 0.0))
        for visitor, run, unit in entries
    ]


def taken(queue: FairQueue, count: int) -> list[int]:
    found = []
    for now in range(count):
        ticket = queue.take(100.0 + now)
        assert ticket is not None
        found.append(ticket.unit)
        queue.ended(ticket.unit)
    assert queue.take(1000.0) is None
    return found


def test_visitors_alternate_and_seeds_keep_their_order() -> None:
    entries = [("ann", 1, unit) for unit in (1, 2, 3, 4)] + [("bob", 2, 11), ("bob", 2, 12)]
    assert taken(FairQueue(tickets(*entries)), 6) == [1, 11, 2, 12, 3, 4]


def test_the_visitor_with_fewest_seeds_running_is_next() -> None:
    queue = FairQueue(
        tickets(("ann", 1, 1), ("ann", 1, 2), ("bob", 2, 11), running=(1,), served={"bob": 50.0})
    )
    ticket = queue.take(100.0)
    assert ticket is not None
    assert ticket.unit == 11


def test_among_equals_the_longest_unserved_is_next() -> None:
    queue = FairQueue(tickets(("ann", 1, 1), ("bob", 2, 11), served={"ann": 60.0, "bob": 50.0}))
    assert taken(queue, 2) == [11, 1]


def test_a_shared_seed_is_taken_once_and_counts_for_both() -> None:
    queue = FairQueue(tickets(("ann", 1, 1), ("bob", 1, 1), ("bob", 2, 11), ("cy", 3, 21)))
    first = queue.take(100.0)
    assert first is not None
    assert first.unit == 1
    second = queue.take(101.0)
    assert second is not None
    assert second.unit == 21


def test_forecast_gives_places_and_ends() -> None:
    entries = [("ann", 1, 1), ("ann", 1, 2), ("ann", 2, 3), ("bob", 3, 11)]
    found = forecast(tickets(*entries, running=(1,), served={"ann": 50.0}), workers=1, now=100.0)
    # Unit 1 ends at 10, then bob's, then ann's second seed, then her second run.
    assert (found[3].place, found[3].seconds_left) == (0, 20.0)
    assert (found[1].place, found[1].seconds_left) == (1, 30.0)
    assert (found[2].place, found[2].seconds_left) == (2, 40.0)


def test_a_run_with_nothing_queued_has_no_place() -> None:
    found = forecast(tickets(("ann", 1, 1), running=(1,)), workers=2, now=100.0)
    assert found[1].place is None


def test_forecast_of_a_full_classroom() -> None:
    entries = [
        (f"visitor {v}", 100 * v + r, 1000 * v + 10 * r + s)
        for v in range(40)
        for r in range(8)
        for s in range(5)
    ]
    found = forecast(tickets(*entries), workers=2, now=100.0)
    assert len(found) == 320
    assert sorted(ticket.place or 0 for ticket in found.values())[-1] < 320
