"""Start, lessons and a phone in a room, in a language that nobody speaks: what there is to read is from its files.

tests/pages/test_language.py has these run in a process of their own: messages are read when they are imported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import dprl
from dprl.environments import ENVIRONMENTS
from dprl.figures.lines import BANDS, DATA_SETS, SEEDS, SEEN
from dprl.jobs.store import Lease, Store
from dprl.lessons import LESSONS, Lesson, Marker, Order, Slope
from dprl.lessons.prediction import OPEN
from dprl.messages import FOLDER
from dprl.rooms.clinic import world
from dprl.rooms.clinic_run import after_class
from dprl.rooms.steps import NO, YES, Clinic, Content, Guess, Onward, Question, Recap
from dprl.sitemap import PAGES
from tests.pages import strings as english_rules
from tests.pages.conftest import Visit
from tests.pages.strings import passages, strings
from tests.pages.test_room import named
from tests.rooms.test_clinic import reports

WORD = re.compile(r"[A-Za-z]{2,}")
NO_WORDS = re.compile(r"<[^>]*>|https?://\S+|%?\{[^}]*\}")  # signs of HTML, addresses, fields
ASKED = "Да?"  # what a teacher asks
EPSILON = 1.0
WORLDS = [
    *(text for one in ENVIRONMENTS.values() for text in (one.title, one.summary)),
    *world().state_labels,
]
WORLDS += map(str, world().action_labels)
WORLDS += ENVIRONMENTS["clinic"].make().state_labels
NAMES = {*WORD.findall(" ".join(WORLDS)), "Code", YES, NO}
# What stands on pages of every kind, and is said by the code that they share.
SHARED = {
    *(heading for page in PAGES.values() for heading in passages(page.heading)),
    *(f"{band} {SEEN}".replace("seeds", over) for band in BANDS.values() for over in (SEEDS, DATA_SETS)),
    "Numbers of this chart",
    "Citations (BibTeX)",
    "Share",
    "The papers",
    "Words used here",
    "Drawing of the environment: states, and arrows for where actions lead, wider where likelier.",
}


@pytest.fixture(autouse=True)
def _no_rules_of_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(english_rules, "read", lambda app: None)


def english(texts: Iterable[str]) -> list[str]:
    """Parts of texts with a word of English, but for what environments are called and what all pages share."""
    parts = {part for text in texts for part in passages(NO_WORDS.sub(" ", text))}
    return sorted(part for part in parts - SHARED if set(WORD.findall(part)) - NAMES)


def read(app: AppTest) -> list[str]:
    """All that a page says but for what is folded away (the glossary, papers, ways to share), and what its scripts
    are given to say."""
    found = [said.text for said in strings(app) if not said.folded]
    for one in app.get("bidi_component"):
        given = json.loads(one.proto.json or "{}")
        found += within((given or {}).get("words", {}))
    return found


def within(words: Any) -> Iterator[str]:
    """All texts in what a script is given."""
    if isinstance(words, str):
        yield words
    for part in words.values() if isinstance(words, dict) else words if isinstance(words, list) else ():
        yield from within(part)


def test_a_language_is_complete() -> None:
    first = Path(dprl.__file__).parent / "messages" / "en"
    assert first != FOLDER
    assert {file.name for file in FOLDER.iterdir()} == {file.name for file in first.iterdir()}


def test_start_is_told_in_it(visit: Visit) -> None:
    app = visit("home")
    (story,) = (e for e in app.get("bidi_component") if e.proto.component_name.endswith("dprl_story"))
    texts = [*within(json.loads(story.proto.json)["words"]), *(header.value for header in app.header)]
    assert len(texts) > 50
    assert english(texts) == []


def test_lessons_are_taught_in_it(visit: Visit) -> None:
    app = visit("lessons")
    found = set(read(app))
    for lesson in LESSONS.values():
        for link in links(lesson):
            app = visit("lessons", lesson=lesson.key, **link)
            found |= set(read(app))
    assert english(found) == []


def links(lesson: Lesson) -> Iterator[dict[str, str]]:
    """To each question, asked and answered; to the recap, and to what is handed in."""
    for at, text in enumerate(answers(lesson), 1):
        yield {"step": str(at)}
        yield {"step": str(at), "guess": text, "shown": "yes"}
    yield {"step": str(len(lesson.steps) + 1), "shown": "yes"}
    yield {"answers": "~".join(answers(lesson))}
    yield {"answers": "~".join(begun(lesson))}


def answers(lesson: Lesson) -> list[str]:
    """A prediction for each question, of which few are right."""
    found = []
    for step in lesson.steps:
        match step.prediction:
            case Order() as order:
                found.append(order.letters)
            case Marker() as marker:
                found.append(marker.write(marker.marks[0]))
            case Slope() as slope:
                found.append(slope.write(slope.choices[0][0]))
    return found


def begun(lesson: Lesson) -> list[str]:
    """Orders of which one curve has a name, and nothing else."""
    orders = [step.prediction for step in lesson.steps]
    return [one.letters[0] + OPEN * (len(one.items) - 1) if isinstance(one, Order) else "" for one in orders]


def test_a_phone_speaks_it(visit: Visit, store: Store) -> None:
    code, key = store.rooms.open(Lease("teacher"))
    phone = named(visit("room", room=code), 1)
    found = set(read(phone))
    guess, sent = Guess("trust", 0), reports(1, EPSILON)[0]
    put: list[tuple[Content, str]] = [
        (Question(ASKED, EPSILON), YES),
        (guess, "abcd"),
        (Clinic(EPSILON), sent),
    ]
    put += [(Onward(2), ""), (Recap("trust"), "")]
    for place, (content, report) in enumerate(put):
        store.rooms.put_step(code, key, content)
        found |= set(read(phone.run()))
        if not report:
            continue
        store.rooms.turn_step(code, key, place, "paused")
        found |= set(read(phone.run()))
        store.rooms.turn_step(code, key, place, "open")
        store.rooms.respond(code, f"{1:032x}", place, report)
        found |= set(read(phone.run()))
        store.rooms.turn_step(code, key, place, "revealed")
        found |= set(read(phone.run()))
        if isinstance(content, Clinic):
            taken = store.class_runs.next()
            assert taken is not None
            store.class_runs.keep(taken, after_class(taken.reports, taken.epsilon))
    store.rooms.close(code, key)
    found |= set(read(phone.run()))
    store.rooms.delete(code, key)
    found |= set(read(phone.run()))
    assert english(text.replace(code, "") for text in found) == []
