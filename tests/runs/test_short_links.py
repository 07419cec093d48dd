"""Short links in the store: the same letters for the same link, and caps."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from dprl.runs import limits, rooms
from dprl.runs.limits import Lease, Refused
from dprl.runs.rooms import LETTERS
from dprl.runs.store import Store
from tests.runs import fake

WHO = Lease("tab", "address")
QUERY = "v=1&c=eps.0.3~K.1e7"


def test_the_same_link_has_the_same_letters_for_as_long_as_the_store_is_there(
    store: Store, path: Path
) -> None:
    code = store.links.shorten("explore", QUERY, WHO)
    assert len(code) == rooms.LINK_LENGTH
    assert set(code) <= set(LETTERS)
    assert store.links.shorten("explore", QUERY, Lease("another")) == code
    others = {store.links.shorten("explore", f"{QUERY}&k={k}", WHO) for k in range(10)}
    assert len(others | {code, store.links.shorten("", QUERY, WHO)}) == 12
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
            store.links.shorten("explore", "c" * (rooms.MOST_LETTERS + 1), WHO)
        first = store.links.shorten("explore", "c" * rooms.MOST_LETTERS, WHO)
        store.links.shorten("explore", "2", WHO)
        with pytest.raises(Refused, match=r"already keeps 2 short links, the maximum \(DPRL_SHORT_LINKS\)"):
            store.links.shorten("explore", "3", WHO)
        assert store.links.shorten("explore", "c" * rooms.MOST_LETTERS, WHO) == first
        assert store.links.lengthen(first) == ("explore", "c" * rooms.MOST_LETTERS)


def test_nobody_makes_many_in_a_while(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(limits.OFTEN, "link", ({"tab": 3, "address": 5, "all": 7}, limits.OFTEN["link"][1]))
    made = [store.links.shorten("", str(i), WHO) for i in range(3)]
    with pytest.raises(Refused, match="Too many short links were made from here"):
        store.links.shorten("", "3", WHO)
    assert store.links.shorten("", "2", WHO) == made[2]  # nothing is made
    for i in range(2):
        store.links.shorten("", f"b{i}", Lease(f"tab {i}", "address"))
    with pytest.raises(Refused, match="Too many short links"):
        store.links.shorten("", "c", Lease("new", "address"))
    store.links.shorten("", "d", Lease("far", "elsewhere"))
