"""Who waits for what, and which seed a worker gets; turns are played by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from dprl.runs.database import StoreError
from dprl.runs.limits import Lease, Refused
from dprl.runs.queue import Claim, first
from dprl.runs.status import Forecast, Waiting, forecast
from dprl.runs.store import Store
from dprl.runs.turn import HELD, MOST, Order, Report
from dprl.runs.workers import Died, Lost
from tests.runs import fake
from tests.runs.fake import FakeSpec, FakeTrace
from tests.runs.slots import Hand, failing, work

ANN, BOB = Lease("ann", "here"), Lease("bob", "there")
SPEC = FakeSpec(seeds=3, seconds=10.0)


class Slow(Hand):
    """Every seed takes so many turns; played: (name, seed) of each turn."""

    def __init__(self, turns: int = 2) -> None:
        super().__init__(self.turn)
        self.turns, self.played, self.done = turns, list[tuple[str, int]](), dict[str, int]()

    def turn(self, order: Order) -> Report:
        name = fake.spec_from_json(order.spec).name
        self.played.append((name, order.seed))
        self.done[order.key] = self.done.get(order.key, 0) + 1
        share = self.done[order.key] / self.turns
        points = b"\x01" + 7 * b"\0" + 8 * b"\0"
        return Report(share, points, FakeTrace(order.seed, True).to_bytes() if share >= 1 else None)


@pytest.fixture
def slow() -> Slow:
    return Slow()


def close_tabs(store: Store, seconds: float = 46.0) -> int:
    """As if all tabs had been gone for so long; how many were given up."""
    queue = store._queue
    queue.tabs = {tab: seen - seconds for tab, seen in queue.tabs.items()}
    return queue.withdraw(store.grace)


def test_an_unknown_run(store: Store) -> None:
    status = store.status(SPEC, "ann")
    assert (status.state, status.seeds, status.progress) == ("unknown", 3, 0.0)
    assert store.traces(SPEC) == []
    assert store.live(SPEC) == []
    assert store.runs("ann") == []
    store.cancel(SPEC, "ann")


def test_from_asking_to_done(store: Store, slow: Slow) -> None:
    versions = [store.version(SPEC)]
    store.ask(SPEC, "ann")
    status = store.status(SPEC, "ann")
    assert (status.state, status.place, status.seconds_left) == ("queued", 0, 30.0)
    for done in range(6):
        versions.append(store.version(SPEC))
        assert store.status(SPEC).seeds_done == done // 2
        assert store.engine.turn(slow)
    assert not store.engine.turn(slow)
    assert len({*versions, store.version(SPEC)}) == 8
    status = store.status(SPEC, "ann")
    assert (status.state, status.progress, status.seconds_left) == ("done", 1.0, None)
    assert [trace.seed for trace in store.traces(SPEC)] == [0, 1, 2]
    assert [seed for seed, _, _ in store.live(SPEC)] == [0, 1, 2]
    assert [trace.seed for trace in store.traces(SPEC, seeds=(1,))] == [1]
    [row] = store.runs("ann")
    assert (row.spec, row.state, row.bytes > 0) == (SPEC, "done", True)


def test_a_seed_is_played_once_however_many_ask(store: Store, slow: Slow) -> None:
    store.ask(SPEC, "ann")
    store.ask(SPEC, "bob")
    store.ask(FakeSpec(seeds=4, seconds=10.0), "eve")  # which shares three of its seeds
    assert store.activity().seeds_queued == 4
    work(store, slow)
    assert sorted(slow.played) == [("a", seed) for seed in range(4) for _ in range(2)]
    store.ask(SPEC, "dan")
    assert store.status(SPEC, "dan").state == "done"
    assert store.going({"ann", "bob", "dan"}) == 0
    assert not store.engine.turn(slow)


def test_the_runs_of_a_visitor_grow_side_by_side(store: Store) -> None:
    """Each begins one seed, and they take turns; when a seed is done, the run's next one begins."""
    slow = Slow(turns=3)
    for name in "abc":
        store.ask(FakeSpec(name, seeds=2), "ann")
    work(store, slow)
    assert slow.played[:9] == [("a", 0), ("b", 0), ("c", 0)] * 3
    assert slow.played[9:] == [("a", 1), ("b", 1), ("c", 1)] * 3


def test_a_worker_begins_few_seeds_at_a_time(store: Store) -> None:
    slow = Slow(turns=100)
    for name in range(10):
        store.ask(FakeSpec(f"run {name}"), "ann")
    work(store, slow, 60)
    assert len({name for name, _ in slow.played}) == HELD
    for name in range(10):
        store.ask(FakeSpec(f"of {name}"), f"visitor {name}")
    work(store, slow, 60)
    assert len({name for name, _ in slow.played}) == MOST


def test_a_newcomer_is_next_whatever_others_have_begun(store: Store) -> None:
    slow = Slow(turns=100)
    for name in range(40):
        store.ask(FakeSpec(f"run {name}", seeds=50), "ann")
    work(store, slow, 20)
    slow.turns = 1
    store.ask(FakeSpec("new", seeds=5), "bob")
    work(store, slow, 10)
    assert [seed for name, seed in slow.played[20:] if name == "new"] == [0, 1, 2, 3, 4]
    assert slow.played[20][0] == "new"
    assert store.status(FakeSpec("new", seeds=5)).state == "done"


@pytest.mark.parametrize("draft", [False, True])
def test_a_newcomer_is_next_although_a_worker_has_begun_drafts_or_runs_of_tabs_that_have_gone(
    store: Store, draft: bool
) -> None:
    slow = Slow(turns=100)
    for i in range(2 * MOST):
        lease = None if draft else Lease(f"gone {i}", f"{i}")
        store.ask(FakeSpec(f"last {i}", seeds=1), f"last {i}", lease, draft=draft)
    work(store, slow, 2 * MOST)
    store._queue.tabs = {tab: seen - 10 for tab, seen in store._queue.tabs.items()}
    store.ask(FakeSpec("new", seeds=1), "bob")
    assert store.status(FakeSpec("new", seeds=1), "bob").place == 0
    work(store, slow, 3)
    assert [name for name, _ in slow.played[2 * MOST :]] == ["new"] * 3
    assert len(store._queue.begun()) == MOST + 1


def test_drafts_come_last_until_they_are_asked_for(store: Store, slow: Slow) -> None:
    store.ask(FakeSpec("draft", seeds=1), "ann", draft=True)
    store.ask(FakeSpec("run", seeds=1), "bob")
    work(store, slow)
    assert slow.played == [("run", 0)] * 2 + [("draft", 0)] * 2
    store.ask(FakeSpec("other draft", seeds=1), "ann", draft=True)
    store.ask(FakeSpec("other draft", seeds=1), "ann")
    store.ask(FakeSpec("other", seeds=1), "bob")
    store.engine.turn(slow)
    store.engine.turn(slow)
    assert {name for name, _ in slow.played[4:]} == {"other draft", "other"}


def test_cancelled_seeds_get_no_turn_keep_what_they_have_and_go_on(store: Store) -> None:
    slow = Slow(turns=4)
    store.ask(SPEC, "ann")
    work(store, slow, 2)
    store.cancel(SPEC, "ann")
    status = store.status(SPEC, "ann")
    assert (status.state, status.progress) == ("cancelled", pytest.approx(0.5 / 3))
    assert store.activity().seeds_queued == store.activity().seeds_running == work(store, slow) == 0
    assert store.traces(SPEC) == []
    assert [seed for seed, _, _ in store.live(SPEC)] == [0]
    store.ask(SPEC, "ann")
    assert store.status(SPEC, "ann").state == "running"
    work(store, slow)
    assert slow.played == [("a", 0)] * 4 + [("a", 1)] * 4 + [("a", 2)] * 4  # it went on


def test_what_is_cancelled_in_its_turn_stops_and_asked_for_again_goes_on(store: Store) -> None:
    other = Slow(turns=2)

    def cancelling(order: Order) -> Report:
        store.cancel(SPEC, "ann")
        return other.turn(order)

    store.ask(SPEC, "ann")
    hand = Hand(cancelling)
    assert store.engine.turn(hand)
    assert store.status(SPEC, "ann").state == "cancelled"
    store.ask(SPEC, "ann")
    hand.do = other.turn
    work(store, hand)
    assert store.status(SPEC, "ann").state == "done"


def test_a_seed_that_ends_as_it_is_cancelled_is_done(store: Store) -> None:
    def cancelling(order: Order) -> Report:
        store.cancel(FakeSpec(seeds=1), "ann")
        return Slow(turns=1).turn(order)

    store.ask(FakeSpec(seeds=1), "ann")
    assert work(store, Hand(cancelling)) == 1
    assert store.status(FakeSpec(seeds=1), "ann").state == "done"


def test_another_who_waits_keeps_a_run_going(store: Store, slow: Slow) -> None:
    store.ask(SPEC, "ann")
    store.ask(SPEC, "bob")
    store.engine.turn(slow)
    store.cancel(SPEC, "ann")
    assert store.status(SPEC, "ann").state == "cancelled"
    assert store.status(SPEC, "bob").state == "running"
    work(store, slow)
    assert store.status(SPEC, "ann").state == "done"


def test_a_failed_seed_leaves_the_others_and_is_tried_again_on_request(store: Store, slow: Slow) -> None:
    store.ask(SPEC, "ann")
    assert work(store, failing("Seed 0 failed: no."), 1) == 1
    work(store, slow)
    status = store.status(SPEC, "ann")
    assert (status.state, status.seeds_done, status.message) == ("failed", 2, "Seed 0 failed: no.")
    assert store.cost([SPEC]) == (0, 0.0)
    store.ask(SPEC, "ann")
    assert not store.engine.turn(slow)
    store.ask(SPEC, "ann", again=True)
    work(store, slow)
    assert (store.status(SPEC).state, store.status(SPEC).message) == ("done", "")


def test_what_a_seed_raises_is_one_sentence(store: Store) -> None:
    raised = "Seed 0 failed: ZeroDivisionError: no such thing."
    for act, said in (("raise", raised), ("refuse", "episodes: too many.")):
        spec = FakeSpec(act, seeds=1, seconds=0.01, act=act)
        store.ask(spec, "ann")
        work(store)
        assert (store.status(spec).state, store.status(spec).message) == ("failed", said)


def test_a_spec_of_an_older_program_is_not_played(store: Store) -> None:
    spec = FakeSpec(seeds=1, source="yesterday")
    store.ask(spec, "ann")
    work(store)
    assert store.status(spec).state == "failed"
    assert "request it again" in store.status(spec).message


class Dying(Slow):
    """A worker that dies at its turns that are named, and is there again."""

    deaths: tuple[int, ...] = ()
    cause = "killed by SIGKILL"
    count = -1

    def turn(self, order: Order) -> Report:
        self.count += 1
        if self.count in self.deaths:
            self.done.clear()
            raise Died(self.cause)
        return super().turn(order)


def test_a_seed_whose_worker_dies_starts_again_once(store: Store) -> None:
    dying = Dying(turns=2)
    dying.deaths = (1,)
    one = FakeSpec(seeds=1)
    store.ask(one, "ann")
    work(store, dying, 2)
    status = store.status(one)
    assert (status.state, status.progress) == ("queued", 0.0)
    assert status.message == "A worker process died; seed 0 will run again."
    work(store, dying)
    assert (store.status(one).state, store.status(one).message) == ("done", "")
    dying.count, dying.deaths = -1, (0, 1)
    two = FakeSpec("b", seeds=2)
    store.ask(two, "ann")
    work(store, dying)
    status = store.status(two)
    assert (status.state, status.seeds_done) == ("failed", 1)
    assert status.message == (
        "Seed 0 failed: its worker process died twice (killed by SIGKILL), perhaps because memory ran out."
    )


def test_a_worker_that_dies_idle_blames_nobody(store: Store) -> None:
    dying = Dying(turns=2)
    dying.deaths, dying.cause = (0, 1, 2), ""
    store.ask(SPEC, "ann")
    work(store, dying)
    assert (store.status(SPEC).state, store.status(SPEC).message) == ("done", "")


@pytest.mark.parametrize(("end", "blamed"), [(Died("killed by SIGKILL"), [1, 0]), (Lost(), [0, 0])])
def test_seeds_that_a_dead_worker_had_put_down_start_again_at_any_other_and_are_not_blamed(
    store: Store, end: Exception, blamed: list[int]
) -> None:
    def killed(order: Order) -> Report:
        raise end

    specs = FakeSpec("a", seeds=1), FakeSpec("b", seeds=1)
    hand = Hand(Slow(turns=4).turn)
    for spec in specs:
        store.ask(spec, spec.name)
        store.engine.turn(hand)
    hand.do = killed
    store.engine.turn(hand)
    found = [store.status(spec) for spec in specs]
    assert [(status.state, status.progress) for status in found] == [("queued", 0.0)] * 2
    assert [seed.deaths for seed in store._queue.seeds.values()] == blamed
    work(store, Slow(turns=4))
    assert [store.status(spec).state for spec in specs] == ["done"] * 2


def test_place_and_seconds_left_follow_the_queue(store: Store, slow: Slow) -> None:
    for name in "abc":
        store.ask(FakeSpec(name, seeds=2, seconds=8.0), name)
    assert [store.status(FakeSpec(n, seeds=2, seconds=8.0)).place for n in "abc"] == [0, 1, 2]
    assert store.status(FakeSpec("c", seeds=2, seconds=8.0)).seconds_left == 3 * 16.0
    store.engine.turn(slow)
    assert store.status(FakeSpec("a", seeds=2, seconds=8.0)).place is None


def test_a_visitors_runs_latest_first_and_clear(store: Store, slow: Slow) -> None:
    for name in "abc":
        store.ask(FakeSpec(name, seeds=1), "ann")
    store.ask(FakeSpec("b", seeds=1), "bob")
    assert [row.spec.name for row in store.runs("ann")] == ["c", "b", "a"]
    store.cancel(FakeSpec("c", seeds=1), "ann")
    work(store, slow)
    store.ask(FakeSpec("d", seeds=1), "ann")
    assert store.clear("ann") == 3
    assert [row.spec.name for row in store.runs("ann")] == ["d"]
    store.results.write()
    assert [store.status(FakeSpec(name, seeds=1)).state for name in "abc"] == ["unknown", "done", "unknown"]


def test_questions_come_before_seeds_the_newest_first_each_once(store: Store) -> None:
    asked: list[str] = []

    def do(order: Order) -> Report:
        asked.append(order.question or str(order.seed))
        return Report(1.0, order.question.encode(), FakeTrace(0, True).to_bytes())

    store.ask(FakeSpec(seeds=1), "ann")
    for question in ("one", "two", "one"):
        assert store.answer(question, SPEC) is None
    work(store, Hand(do))
    assert asked == ["two", "one", "0"]
    assert store.answer("one", SPEC) == "one"
    store.results.write()
    assert store.answer("two", FakeSpec(seeds=1, seconds=10.0)) == "two"  # of the same seeds


def test_a_question_that_breaks_something_has_no_answer(store: Store) -> None:
    assert store.answer("raise", SPEC) is None
    work(store)
    assert store.answer("raise", SPEC) == ""
    dying = Dying()
    dying.deaths = (0, 1)
    for _ in range(2):  # once more after the first death
        assert store.answer("deadly", SPEC) is None
        assert work(store, dying) == 1
    assert store.answer("deadly", SPEC) == ""


# tabs and caps


def test_what_a_tab_asked_for_ends_when_it_has_gone(store: Store, slow: Slow) -> None:
    store.ask(SPEC, "ann", ANN)
    store.ask(FakeSpec("sweep", seeds=4), "ann:sweep", ANN)
    store.engine.turn(slow)
    assert store.present({"ann"}) == {"ann"}
    assert close_tabs(store, 20) == 0  # it may be loaded anew
    assert store.present({"ann"}) == {"ann"}
    assert close_tabs(store) == 1
    assert store.activity().seeds_queued == store.activity().seeds_running == 0
    assert store.status(SPEC, "ann").state == "cancelled"
    assert store.present({"ann"}) == set()


def test_a_page_loaded_anew_takes_over_what_its_address_names(store: Store, slow: Slow) -> None:
    store.ask(SPEC, "ann", ANN)
    store.engine.turn(slow)
    assert store.cost([SPEC]) == (0, 0.0)
    close_tabs(store, 30)
    store.ask(SPEC, "ann again", Lease("ann again", "here"))
    close_tabs(store, 16)
    assert store.status(SPEC, "ann again").state == "running"
    assert store.status(SPEC, "ann").state == "cancelled"


def test_what_was_asked_for_without_a_lease_stays(store: Store) -> None:
    store.ask(SPEC, "ann")
    store.ask(SPEC, "ann", ANN)  # and a link does not take that back
    other = FakeSpec("other")
    store.ask(other, "ann", ANN)
    store.ask(other, "ann")  # nor does it last when Run is pressed
    close_tabs(store)
    assert store.activity().seeds_queued == 5


def test_what_it_costs_to_ask(store: Store, slow: Slow) -> None:
    assert store.cost([SPEC, FakeSpec("b", seeds=2, seconds=1.0)]) == (5, 32.0)
    store.ask(SPEC, "ann")
    assert store.cost([SPEC, FakeSpec("b", seeds=2, seconds=1.0)]) == (2, 2.0)
    store.cancel(SPEC, "ann")
    assert store.cost([SPEC]) == (3, 30.0)


@pytest.mark.parametrize(
    ("what", "most", "already"), [("SEEDS", "3 seeds", "2"), ("SECONDS", "30 s of computing", "20 s")]
)
@pytest.mark.parametrize(
    ("who", "said"),
    [("TAB", "one tab"), ("ADDRESS", "one network address"), ("ALL", "all visitors together")],
)
def test_each_cap_is_one_setting_and_says_what_would_fit(
    path: Path, monkeypatch: pytest.MonkeyPatch, what: str, most: str, already: str, who: str, said: str
) -> None:
    monkeypatch.setenv(f"DPRL_{who}_{what}", most.split()[0])
    store = Store(path, fake.NAME)
    store.ask(FakeSpec("pressed", seeds=50, seconds=10.0), "eve")  # without a lease
    store.ask(FakeSpec("first", seeds=2, seconds=10.0), "ann", ANN)
    with pytest.raises(Refused) as refused:
        store.ask(SPEC, "ann", ANN)
    assert str(refused.value) == (
        f"Not started: at most {most} may wait for {said}, and {already} already do. "
        "Of 3 seeds requested, 1 seed would fit now."
    )
    assert store.status(SPEC, "ann").state == "unknown"
    store.ask(FakeSpec("fits", seeds=1, seconds=10.0), "ann", ANN)
    store.cancel(FakeSpec("first", seeds=2, seconds=10.0), "ann")  # what is cancelled does not count
    store.ask(FakeSpec("now", seeds=2, seconds=10.0), "ann", ANN)
    store.close()


def test_addresses_that_are_not_known_are_not_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPRL_ADDRESS_SEEDS", "3")
    store = Store(path, fake.NAME)
    for tab in ("a", "b"):
        store.ask(FakeSpec(tab, seeds=3), tab, Lease(tab))
    store.close()


@pytest.mark.parametrize(
    "name", ["DPRL_TAB_SEEDS", "DPRL_ALL_SECONDS", "DPRL_GRACE_SECONDS", "DPRL_PUBLIC", "DPRL_STORE_MB"]
)
def test_a_setting_that_is_none_is_said(path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "plenty")
    with pytest.raises(StoreError, match=f"^{name} is 'plenty'; give a whole number from "):
        Store(path)


def test_drafts_and_lost_tabs_come_last_then_who_has_fewest_running_then_who_was_unserved_longest() -> None:
    assert first([]) is None
    new = Claim(False, 0, 0.0, 0.0, 99.0, "new")
    claims = [
        new._replace(last=True, asked=0, seed="draft"),
        new._replace(running=1, asked=0, seed="busy"),
        new._replace(served=9.0, asked=0, seed="served late"),
        new._replace(served=5.0, run_served=5.0, asked=0, seed="served early, run late"),
        new._replace(served=5.0, run_served=3.0, asked=8, seed="served early, run early"),
        new._replace(served=5.0, run_served=3.0, asked=2, seed="served early, run early, asked first"),
        new,
    ]
    order = []  # in which they would get turns if nothing changed
    while (best := first(claims)) is not None:
        claims.remove(best)
        order.append(best.seed)
    assert order == [
        "new",
        "served early, run early, asked first",
        "served early, run early",
        "served early, run late",
        "served late",
        "busy",
        "draft",
    ]


def test_forecast_of_visitors_in_turn() -> None:
    """It never ends before the longest seed, and those who are away come after all others."""
    waiting = [
        Waiting("ann", 1, 10, 100.0, False),
        Waiting("bob", 2, 1, 10.0, False),
        Waiting("ann", 3, 1, 1.0, False),
    ]
    found = forecast(waiting, 1)
    assert found == {1: Forecast(0, 110.0), 2: Forecast(1, 20.0), 3: Forecast(2, 111.0)}
    assert forecast(waiting, 2)[1].seconds_left == 55.0
    assert forecast([Waiting("ann", 1, 2, 20.0, False)], 8)[1].seconds_left == 10.0
    away = [Waiting("gone", 1, 1, 50.0, True), Waiting("ann", 2, 1, 1.0, False)]
    assert forecast(away, 1) == {1: Forecast(1, 51.0), 2: Forecast(0, 1.0)}
