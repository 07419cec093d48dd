"""Rooms and short links in the store: who may do what, what is written, and that all of it goes."""

from __future__ import annotations

import contextlib
import math
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dprl.fields import SpecError
from dprl.rooms.steps import NO, YES, Guess, Question, estimate_share
from dprl.runs import limits, rooms
from dprl.runs.limits import Lease, Refused
from dprl.runs.rooms import LETTERS, read_code
from dprl.runs.store import Store
from tests.runs import fake

WHO = Lease("tab")
TEXT = "Did you ever copy an answer?"


def opened(store: Store, devices: int = 2, epsilon: float = 1.0) -> tuple[str, str]:
    """Code and key of a room with some devices, d0, d1, ..., before a question."""
    code, key = store.rooms.open(WHO)
    for i in range(devices):
        store.rooms.join(code, f"d{i}", WHO)
    store.rooms.put_step(code, key, Question(TEXT, epsilon))
    return code, key


def test_a_room_from_its_opening_to_its_end(store: Store) -> None:
    code, key = opened(store)
    assert len(code) == rooms.CODE_LENGTH
    assert set(code) <= set(LETTERS)
    assert len(bytes.fromhex(key)) * 8 == 128
    before = store.rooms.find(code)
    assert before is not None
    assert (before.people, before.steps, before.closed) == (2, 1, False)
    store.rooms.respond(code, "d0", 0, YES)
    after = store.rooms.find(code)
    assert after is not None
    assert after.version != before.version
    store.rooms.turn_step(code, key, 0, "paused")
    with pytest.raises(Refused, match=rooms.WAIT):
        store.rooms.respond(code, "d1", 0, NO)
    store.rooms.turn_step(code, key, 0, "open")
    store.rooms.respond(code, "d1", 0, NO)
    store.rooms.turn_step(code, key, 0, "revealed")
    (step,) = store.rooms.steps(code)
    assert (step.state, sorted(step.answers)) == ("revealed", [NO, YES])
    assert store.rooms.written(code, "d0") == {0: YES}
    store.rooms.turn_step(code, key, 0, "open")
    assert store.rooms.steps(code)[0].state == "revealed"
    store.rooms.put_step(code, key, Question(TEXT, 1.0))
    store.rooms.close(code, key)
    assert [step.state for step in store.rooms.steps(code)] == ["revealed", "revealed"]
    assert store.rooms.join(code, "d0", WHO).closed  # who was in stays in, to see what came back
    with pytest.raises(Refused, match=rooms.CLOSED):
        store.rooms.put_step(code, key, Question(TEXT, 1.0))
    with pytest.raises(Refused, match=rooms.CLOSED):
        store.rooms.join(code, "d9", WHO)
    with pytest.raises(Refused, match=rooms.CLOSED):
        store.rooms.respond(code, "d0", 0, YES)
    store.rooms.delete(code, key)
    assert store.rooms.find(code) is None


def test_a_device_reports_once_and_the_same_again_changes_nothing(store: Store) -> None:
    """A phone that does not know whether its report came sends it again."""
    code, _ = opened(store, epsilon=0.1)
    store.rooms.respond(code, "d0", 0, YES)
    before = store.rooms.find(code)
    store.rooms.respond(code, "d0", 0, YES)
    assert store.rooms.find(code) == before
    with pytest.raises(Refused, match=rooms.TWICE):
        store.rooms.respond(code, "d0", 0, NO)
    assert store.rooms.steps(code)[0].answers == (YES,)


def test_a_script_that_skips_the_page_counts_as_one_phone(store: Store) -> None:
    """1,000 answers of one device that joined and of others that did not, many of them no reports: one counts. It
    moves the estimate by at most (e^epsilon + 1)/(e^epsilon - 1) answers, as docs/how-to/rooms.md says."""
    code, _ = opened(store, devices=41)
    for i in range(40):
        store.rooms.respond(code, f"d{i}", 0, YES if i % 2 else NO)
    honest = estimate_share(code, store.rooms.steps(code)[0])
    refused = 0
    for i in range(1000):
        device, answer = ("d40", f"s{i}")[i % 2], (YES, NO, "yes!", "")[i // 2 % 4]
        try:
            store.rooms.respond(code, device, i % 3, answer)
        except (Refused, SpecError):
            refused += 1
    answers = store.rooms.steps(code)[0].answers
    assert len(answers) == 41
    assert refused > 800  # of the rest each said the same again
    with_it = estimate_share(code, store.rooms.steps(code)[0])
    assert honest is not None
    assert with_it is not None
    assert abs(with_it.yes.value - honest.yes.value) <= (math.e + 1) / (math.e - 1) < 2.2


@pytest.mark.parametrize("wrong", ["", "Yes", "yes ", "maybe", "1", "yes" * 100_000])
def test_what_no_coin_leaves_is_refused_in_a_sentence(store: Store, wrong: str) -> None:
    code, _ = opened(store)
    with pytest.raises(SpecError, match=r"^report: .* is not allowed.*; give one of yes, no") as refused:
        store.rooms.respond(code, "d0", 0, wrong)
    assert len(str(refused.value)) < 200
    assert store.rooms.steps(code)[0].answers == ()


def test_a_phone_never_spends_more_than_the_rooms_total(store: Store) -> None:
    """Whatever was answered: who is asked may answer. Steps of lessons cost nothing, and decimal budgets add up."""
    code, key = store.rooms.open(WHO, 0.8)
    for epsilon in (0.1, 0.2, 0.3):
        store.rooms.put_step(code, key, Question(TEXT, epsilon))
        store.rooms.put_step(code, key, Guess("trust", 0))
    left = "Each phone has ε = 0.2 left of its budget of ε = 0.8; choose at most that much for this question."
    with pytest.raises(Refused, match=left):
        store.rooms.put_step(code, key, Question(TEXT, 0.3))
    store.rooms.put_step(code, key, Question(TEXT, 0.2))
    with pytest.raises(Refused, match=r"^Earlier questions have used up each phone's whole budget of ε"):
        store.rooms.put_step(code, key, Question(TEXT, 0.1))
    store.rooms.put_step(code, key, Guess("trust", 1))
    put = [step.content for step in store.rooms.steps(code)]
    assert sum(content.epsilon for content in put if isinstance(content, Question)) == pytest.approx(0.8)
    found = store.rooms.find(code)
    assert found is not None
    assert found.total == 0.8


@pytest.mark.parametrize("total", [0.0, 21.0, float("nan")])
def test_a_total_that_no_room_can_have_is_refused_in_a_sentence(store: Store, total: float) -> None:
    with pytest.raises(SpecError, match=r"^total: .* is not allowed; give"):
        store.rooms.open(WHO, total)


def test_of_forty_that_answer_at_once_none_is_lost(store: Store) -> None:
    code, _ = opened(store, devices=40)
    threads = [threading.Thread(target=store.rooms.respond, args=(code, f"d{i}", 0, YES)) for i in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.rooms.steps(code)[0].answers) == 40


def pages_of(file: Path) -> list[bytes]:
    """The pages of a database and of its write-ahead log, without the log's own salts and sums, drawn at random."""
    wal = Path(f"{file}-wal").read_bytes()
    frames = [wal[at + 24 : at + 24 + 4096] for at in range(32, len(wal), 24 + 4096)]
    return [file.read_bytes(), *frames]


def test_a_day_later_nothing_of_a_room_is_left_in_the_file(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    code, key = opened(store, devices=120)
    for i in range(29):
        store.rooms.put_step(code, key, Question(f"Number {i}, and {TEXT}", 0.1))
    for i in range(120):
        store.rooms.respond(code, f"d{i}", 29, YES)
    other, _ = opened(store, devices=0)
    monkeypatch.setattr(rooms.time, "time", lambda: now + 3600 * rooms.HOURS + 60)
    assert store.rooms.find(code) is None  # at once, even where nobody has cleared up yet
    with pytest.raises(Refused, match="There is no room"):
        store.rooms.join(code, "d0", WHO)
    assert store.rooms.forget_old() == 2
    assert store.rooms.forget_old() == 0
    everything = b"".join(pages_of(store._rooms_file.path))
    for trace in (TEXT.encode(), code.encode(), other.encode(), rooms._room_digest(code, "d7")):
        assert trace not in everything
    with contextlib.closing(sqlite3.connect(store._rooms_file.path)) as db:
        for table in ("room", "room_device", "room_step", "room_answer"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_nothing_that_names_a_device_is_written(store: Store) -> None:
    device = secrets.token_hex(16)
    code, key = store.rooms.open(WHO)
    store.rooms.join(code, device, Lease("tab", "an address"))
    everything = b"".join(pages_of(store._rooms_file.path))
    for secret in (device, key, "an address"):
        assert secret.encode() not in everything
    assert bytes.fromhex(device) not in everything


def test_a_full_room_takes_nobody_and_keeps_those_it_has(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "MOST_PEOPLE", 2)
    code, _ = opened(store, devices=2)
    with pytest.raises(Refused, match="This room is full"):
        store.rooms.join(code, "d2", WHO)
    assert store.rooms.join(code, "d1", WHO).people == 2
    with pytest.raises(Refused, match=rooms.WAIT):
        store.rooms.respond(code, "d2", 0, YES)


def test_caps_on_rooms_and_on_what_is_put_to_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "MOST_ROOMS", 1)
    monkeypatch.setattr(rooms, "MOST_STEPS", 1)
    code, key = opened(store)
    with pytest.raises(Refused, match="that many are open now"):
        store.rooms.open(WHO)
    with pytest.raises(Refused, match="open another room"):
        store.rooms.put_step(code, key, Question(TEXT, 1.0))


@pytest.mark.parametrize(
    "act",
    [
        lambda store, code, key: store.rooms.put_step(code, key, Question(TEXT, 1.0)),
        lambda store, code, key: store.rooms.turn_step(code, key, 0, "revealed"),
        lambda store, code, key: store.rooms.close(code, key),
        lambda store, code, key: store.rooms.delete(code, key),
    ],
)
def test_only_the_teachers_key_paces(store: Store, act: Callable[[Store, str, str], None]) -> None:
    code, _ = opened(store)
    other, key = opened(store)
    before = store.rooms.find(code), store.rooms.steps(code)
    for wrong in ("", code, key):
        with pytest.raises(Refused, match=rooms.STRANGER):
            act(store, code, wrong)
    assert (store.rooms.find(code), store.rooms.steps(code)) == before
    assert store.rooms.find(other)


def test_codes_cannot_be_guessed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tab, an address and all together may be wrong only so often; then a right code is refused as well, but for
    devices that are in the room. All guesses of a day hit one of fifty rooms with a chance below 4%."""
    code, _ = opened(store)
    for _ in range(limits.OFTEN["code"][0]["tab"]):
        with pytest.raises(Refused, match="There is no room with the code BBBBBB"):
            store.rooms.join("BBBBBB", "x", WHO)
    with pytest.raises(Refused, match="wait 10 minutes"):
        store.rooms.join(code, "x", WHO)
    store.rooms.join(code, "d0", WHO)
    store.rooms.join(code, "x", Lease("another"))
    clock = time.monotonic() + 60 * limits.MINUTES + 1
    monkeypatch.setattr(limits.time, "monotonic", lambda: clock)
    store.rooms.join(code, "y", WHO)
    a_day = limits.OFTEN["code"][0]["all"] * 24 * 60 / limits.MINUTES
    assert a_day * rooms.MOST_ROOMS / len(LETTERS) ** rooms.CODE_LENGTH < 0.04


def test_one_address_and_all_of_them_are_counted_too() -> None:
    for by, lease in (
        ("address", lambda i: Lease(f"t{i}", "here")),
        ("all", lambda i: Lease(f"t{i}", f"a{i}")),
    ):
        tried = limits.RateLimiter()
        for i in range(limits.OFTEN["code"][0][by]):
            tried.check("code", lease(i))
        with pytest.raises(Refused, match="Too many wrong codes"):
            tried.check("code", lease(10**6))


@pytest.mark.parametrize(
    ("text", "epsilon"), [("", 1.0), (" \n ", 1.0), ("x" * 141, 1.0), (TEXT, 0.01), (TEXT, float("nan"))]
)
def test_a_question_that_cannot_be_put_is_refused_in_a_sentence(text: str, epsilon: float) -> None:
    said = "is not allowed; give" if text.strip() else "^question: enter 1 to 140 "
    with pytest.raises(SpecError, match=said):
        Question(text, epsilon)


@pytest.mark.parametrize(
    ("public", "rooms_", "has"), [("0", "", True), ("1", "", False), ("1", "1", True), ("0", "0", False)]
)
def test_in_public_rooms_are_off_unless_switched_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, public: str, rooms_: str, has: bool
) -> None:
    monkeypatch.setenv("DPRL_PUBLIC", public)
    monkeypatch.setenv("DPRL_ROOMS", rooms_)
    found = Store(tmp_path / "runs.sqlite").rooms
    assert found.allowed == has
    if not has:
        with pytest.raises(Refused, match="DPRL_ROOMS=1"):
            found.open(WHO)


@pytest.mark.parametrize(
    "text",
    [
        "BCDFGH", "bcdfgh", " BCD FGH\n", "BCD-FGH", "BCD – FGH", "b.c.d.f.g.h", "B C D - F G H", "BCD_FGH", "„BCDFGH“",
        "\uff22\uff23\uff24\uff26\uff27\uff28", "\uff42\uff43\uff44\u3000\uff46\uff47\uff48", "BCD\uff0dFGH",
        "BCD\u200bFGH", "\ufeffBCDFGH",
    ],
)  # fmt: skip
def test_a_code_is_read_as_people_type_it(text: str) -> None:
    assert read_code(text) == "BCDFGH"


@pytest.mark.parametrize("text", ["", " ", "BCDFG", "BCDFGHJ", "ACDFGH", "BCDFG1", "BCDFGÉ", "BCDFGH" * 20])
def test_what_is_no_code(text: str) -> None:
    assert read_code(text) == ""


TAB = Lease("tab", "address")
QUERY = "v=1&c=eps.0.3~K.1e7"


def test_the_same_link_has_the_same_letters_for_as_long_as_the_store_is_there(
    store: Store, path: Path
) -> None:
    code = store.links.shorten("explore", QUERY, TAB)
    assert len(code) == rooms.LINK_LENGTH
    assert set(code) <= set(LETTERS)
    assert store.links.shorten("explore", QUERY, Lease("another")) == code
    others = {store.links.shorten("explore", f"{QUERY}&k={k}", TAB) for k in range(10)}
    assert len(others | {code, store.links.shorten("", QUERY, TAB)}) == 12
    store.close()
    again = Store(path, fake.NAME)
    for typed in (f" {code.lower()}", f"{code[:4]}–{code[4:]}", "".join(chr(ord(c) + 0xFEE0) for c in code)):
        assert again.links.lengthen(typed) == ("explore", QUERY)
    again.close()


@pytest.mark.parametrize(
    "text", ["", "BCDFGHJ", "BCDFGHJKL", "BCDFGHJ1", "ÄCDFGHJK", "B" * 10_000, "%_%_%_%_"]
)
def test_letters_that_are_none_and_those_that_stand_for_nothing_get_one_sentence(
    store: Store, text: str
) -> None:
    with pytest.raises(Refused, match=r"^s: .* is not allowed; give the 8 letters of a short link\.$"):
        store.links.lengthen(text)
    with pytest.raises(Refused, match=r"^s: BCDFGHJK is not a short link on this server"):
        store.links.lengthen("BCDFGHJK")


def test_links_are_capped_in_length_and_number(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPRL_SHORT_LINKS", "2")
    with contextlib.closing(Store(path, fake.NAME)) as store:
        with pytest.raises(Refused, match="only links of at most 4,000 can be shortened"):
            store.links.shorten("explore", "c" * (rooms.MOST_LETTERS + 1), TAB)
        first = store.links.shorten("explore", "c" * rooms.MOST_LETTERS, TAB)
        store.links.shorten("explore", "2", TAB)
        with pytest.raises(Refused, match=r"already keeps 2 short links, the maximum \(DPRL_SHORT_LINKS\)"):
            store.links.shorten("explore", "3", TAB)
        assert store.links.shorten("explore", "c" * rooms.MOST_LETTERS, TAB) == first
        assert store.links.lengthen(first) == ("explore", "c" * rooms.MOST_LETTERS)


def test_nobody_makes_many_in_a_while(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(limits.OFTEN, "link", ({"tab": 3, "address": 5, "all": 7}, limits.OFTEN["link"][1]))
    made = [store.links.shorten("", str(i), TAB) for i in range(3)]
    with pytest.raises(Refused, match="Too many short links were made from here"):
        store.links.shorten("", "3", TAB)
    assert store.links.shorten("", "2", TAB) == made[2]  # nothing is made
    for i in range(2):
        store.links.shorten("", f"b{i}", Lease(f"tab {i}", "address"))
    with pytest.raises(Refused, match="Too many short links"):
        store.links.shorten("", "c", Lease("new", "address"))
    store.links.shorten("", "d", Lease("far", "elsewhere"))
