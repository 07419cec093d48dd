"""Room: a teacher and students before one store, each a visitor of their own."""

from __future__ import annotations

import io
import json
import math
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dprl.lessons import LESSONS, Choice, Marker, Order
from dprl.rooms.response import opposites
from dprl.rooms.steps import NO, YES, Content, Guess, Question, Recap
from dprl.runs import rooms
from dprl.runs.limits import Lease, Refused
from dprl.runs.store import Store
from dprl.sentences import room as sentences
from pages.room import teacher
from pages.room.teacher import answers_csv, upcoming
from pages.shared.layout.terms import escape
from pages.shared.lessons import evidence
from tests.pages.conftest import Visit, charts, marked, press, sent, warned, widget, words

PAGE = "room"
ASKED = "Is *this* <b>a</b> question?"
QUESTION = Question(ASKED, 1.0)


def named(app: AppTest, name: int, key: str = "") -> AppTest:
    """The page after its browser said what it calls itself in the room, as pages/room/device.py does."""
    (device,) = (e for e in app.get("bidi_component") if e.proto.component_name.endswith("dprl_device"))
    code = json.loads(device.proto.json)["code"]
    sent(app, device.proto.id, json_value=json.dumps({"said": f"{code} {name:032x} {key}"}))
    return app


def opened(store: Store, first: Content | None = QUESTION) -> tuple[str, str]:
    """The code of a room whose class was given a first step, and its teacher's key."""
    code, key = store.rooms.open(Lease("teacher"))
    if first:
        store.rooms.put_step(code, key, first)
    return code, key


def scripts(app: AppTest, name: str = "coin") -> list[tuple[str, Any]]:
    """The coins, or patients, on a phone: the id of each, and what its script was given."""
    found = [e.proto for e in app.get("bidi_component") if e.proto.component_name.endswith(f"dprl_{name}")]
    return [(proto.id, json.loads(proto.json)) for proto in found]


def ask(teacher: AppTest) -> None:
    (text,) = [w for w in teacher.text_input if "yes-or-no" in w.label]
    text.set_value(ASKED)
    widget(teacher, "button", "Ask the class").click().run()


def offers(app: AppTest, key: str) -> bool:
    return any(button.key == key for button in app.button)


def succeeded(app: AppTest) -> str:
    return " ".join(str(e.value) for e in app.success)


def phones(visit: Visit, code: str, *names: int) -> list[AppTest]:
    """Pages of a room, by what their browsers call themselves in it."""
    return [named(visit(PAGE, room=code), name) for name in names]


def asked(app: AppTest) -> bool:
    """Whether a phone can answer."""
    return any(given["open"] and given["written"] is None for _, given in scripts(app))


def reported(app: AppTest, report: Any, by: str = "coin") -> AppTest:
    """The page after the phone's coin, or patient, left this report, as its script in assets/web/ says it."""
    ((name, _),) = scripts(app, by)
    return sent(app, name, json_value=json.dumps({"report": report}))


def test_a_teacher_opens_a_room_asks_and_reveals_and_a_student_answers(visit: Visit, store: Store) -> None:
    teacher = visit(PAGE)
    press(teacher, "open_room")
    code = "".join(teacher.query_params["room"])
    assert "key" not in teacher.query_params
    assert any(code in e.proto.body for e in teacher.get("html") if "dprl-code" in e.proto.body)
    student = named(visit(PAGE, room=code), 1)
    assert "You have joined the room" in words(student)
    ask(teacher)
    student.run()
    ((_, given),) = scripts(student)
    assert asked(student)
    assert (given["code"], given["place"], given["opposites"]) == (code, 0, opposites(1.0))
    assert r"Is \*this\* \<b\>a\<\/b\> question?" in marked(student)
    assert "Nothing else leaves the phone." in words(student)
    reported(student, NO)
    assert "recorded **no**" in succeeded(student)
    assert store.rooms.steps(code)[0].answers == (NO,)
    assert not asked(student)
    assert charts(student) == []
    teacher.run()
    assert "**1** of 1 answered" in words(teacher)
    assert len(charts(teacher)) == 1
    teacher.button(key="revealed_0").click().run()
    student.run()
    assert len(charts(student)) == 1
    for said in ("**Local.**", "**Shuffle.**", "**Central, simulated.**"):
        assert said in words(student)
        assert said in words(teacher)


def test_the_teachers_link_opens_the_room_and_leaves_the_address(visit: Visit, store: Store) -> None:
    code, key = opened(store)
    app = visit(PAGE, room=code, key=key)
    assert "key" not in app.query_params
    assert offers(app, "paused_0")
    for wrong in ("", "0" * 32):
        stranger = named(visit(PAGE, room=code, key=wrong), 7)
        assert not offers(stranger, "paused_0")
        assert asked(stranger)
    kept = named(visit(PAGE, room=code), 8, key)  # a reload: the teacher's browser has kept the key
    assert offers(kept, "paused_0")


def test_wrong_full_closed_and_forgotten_rooms_get_a_sentence(
    visit: Visit, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = visit(PAGE)
    app.text_input(key="room_code").set_value("hello").run()
    assert "Room: hello is not a code. Enter the 6-letter code" in warned(app)
    for nothing in ("", "  "):
        app.text_input(key="room_code").set_value(nothing).run()
        app.button(key="join").click().run()
        assert warned(app) == "Room: enter the 6-letter code shown on your teacher's screen."
    app.text_input(key="room_code").set_value("bbb-bbb").run()
    assert "There is no room with the code BBBBBB." in warned(named(app, 1))
    code, key = opened(store)
    monkeypatch.setattr(rooms, "MOST_PEOPLE", 1)
    inside = named(visit(PAGE, room=code), 1)
    assert "This room is full" in warned(named(visit(PAGE, room=code), 2))
    store.rooms.turn_step(code, key, 0, "paused")
    assert not asked(inside.run())
    assert "has paused" in " ".join(e.value for e in inside.info)
    store.rooms.close(code, key)
    monkeypatch.setattr(rooms, "MOST_PEOPLE", 2)
    assert rooms.CLOSED in warned(named(visit(PAGE, room=code), 2))
    assert "There is no room" not in warned(inside.run())
    store.rooms.delete(code, key)
    assert warned(inside.run()) == sentences.PHONE["gone"]  # its code was right
    assert "There is no room with the code" in warned(named(visit(PAGE, room=code), 1))


def test_a_second_report_from_one_device_changes_nothing(visit: Visit, store: Store) -> None:
    code, _ = opened(store)
    one, other, third = phones(visit, code, 1, 1, 1)  # tabs of one browser
    reported(one, NO)
    reported(third, NO)  # the browser keeps its report, and sends it again
    assert warned(third) == ""
    reported(other, YES)  # what the page's own script never does
    assert "recorded **no**" in succeeded(other)
    assert store.rooms.steps(code)[0].answers == (NO,)


def test_a_report_that_came_during_a_pause_is_written_down_after_it(visit: Visit, store: Store) -> None:
    code, key = opened(store)
    phone = named(visit(PAGE, room=code), 1)
    store.rooms.turn_step(code, key, 0, "paused")
    reported(phone, YES)
    assert store.rooms.steps(code)[0].answers == ()
    store.rooms.turn_step(code, key, 0, "open")
    phone.run()
    assert store.rooms.steps(code)[0].answers == (YES,)
    assert "recorded **yes**" in succeeded(phone)


def test_a_report_stays_with_its_question_and_its_room(visit: Visit, store: Store) -> None:
    code, key = opened(store)
    other, _ = opened(store)
    phone = named(visit(PAGE, room=code), 1)
    reported(phone, YES)
    store.rooms.put_step(code, key, Question("Another?", 1.0))
    assert asked(phone.run())
    press(phone, "leave")
    phone.text_input(key="room_code").set_value(other).run()
    assert asked(named(phone, 2))
    assert [step.answers for step in store.rooms.steps(code)] == [(YES,), ()]
    assert store.rooms.steps(other)[0].answers == ()


def test_the_total_is_stated_before_the_first_question_and_held(visit: Visit, store: Store) -> None:
    teacher = visit(PAGE)
    teacher.select_slider(key="room_total").set_value(2.0)
    press(teacher, "open_room")
    code = "".join(teacher.query_params["room"])
    phone = named(visit(PAGE, room=code), 1)
    assert sentences.held(2.0) in words(phone)
    for left, offered in ((2.0, ["0.25", "0.5", "1", "1.5", "2"]), (1.0, ["0.25", "0.5", "1"])):
        assert sentences.left(left, 2.0) in words(teacher)
        (epsilon,) = [w for w in teacher.selectbox if w.label.startswith("ε of each answer")]
        assert [option.partition(" ")[0] for option in epsilon.options] == offered
        ask(teacher)
        phone.run()
        assert sentences.held(2.0) in words(phone)
        reported(phone, YES)
    assert sentences.spent_on_phone([1.0, 1.0], 2.0) in words(phone)
    assert not [w for w in teacher.text_input if "yes-or-no" in w.label]
    assert "Earlier questions have used up each phone's whole budget of ε = 2" in words(teacher)


def test_what_no_coin_leaves_gets_a_sentence(visit: Visit, store: Store) -> None:
    code, _ = opened(store)
    (phone,) = phones(visit, code, 1)
    for nonsense in ("maybe", 7, ["yes"], {"yes": "no"}):
        reported(phone, nonsense)
        assert "; give one of yes, no." in warned(phone)
        assert asked(phone)
    assert store.rooms.steps(code)[0].answers == ()


@pytest.mark.parametrize("kind", [Order, Marker, Choice])
def test_a_class_predicts_a_step_of_a_lesson(visit: Visit, store: Store, kind: type[Any]) -> None:
    """The truth is on no chart before it is revealed; predictions lie on the teacher's, or are counted."""
    place = next(
        Guess(key, at)
        for key, lesson in LESSONS.items()
        for at, step in enumerate(lesson.steps)
        if isinstance(step.prediction, kind)
    )
    step: Any = LESSONS[place.lesson].steps[place.step]
    prediction = step.prediction
    code, key = opened(store, place)
    teacher = visit(PAGE, room=code, key=key)
    student = named(visit(PAGE, room=code), 1)
    (send,) = [b for b in student.button if b.key == "send_0"]
    assert send.disabled
    if kind is Order:
        text = prediction.letters
        for item in range(len(prediction.items)):
            press(student, f"item_{item}")
    elif kind is Marker:
        text = prediction.write(prediction.marks[2])
        student.select_slider[0].set_value(prediction.marks[2]).run()
    else:
        text = prediction.write(prediction.choices[0][0])
        (choice,) = [w for w in student.button_group if "slope" in (w.key or "")]
        choice.set_value(text).run()
    press(student, "send_0")
    assert store.rooms.steps(code)[0].answers == (text,)
    store.rooms.join(code, "other", Lease("t"))
    store.rooms.respond(code, "other", 0, "nonsense")  # what no page sends stands in nobody's way
    assert "measured" not in charts(student.run())[0].spec
    teacher.run()
    drawn = charts(teacher)[0].spec
    if kind is Order:
        assert "| curve 1 | 1 |" in words(teacher)
    else:
        assert "other people's guesses" in drawn
    assert "measured" not in drawn
    assert "median of the class" not in drawn
    assert "Your class:" not in words(student) + words(teacher)
    assert escape(step.why(evidence())) not in marked(student) + marked(teacher)
    teacher.button(key="revealed_0").click().run()
    student.run()
    for app in (teacher, student):
        assert escape(step.why(evidence())) in marked(app)
        assert f"Your class: {escape(step.together([text], evidence()))}" in marked(app)
    assert ("median of the class" in charts(teacher)[0].spec) == (kind is not Order)
    off = step.off(text, evidence())
    assert off in words(student)
    rows = pd.read_csv(io.StringIO(answers_csv(store, code)), dtype=str)
    assert sorted(rows["written down"]) == sorted([text, "nonsense"])
    assert prediction.said(prediction.parse(text)) in set(rows["in words"])


def test_all_lessons_are_led_in_order_each_to_its_recap() -> None:
    put: list[Content] = [QUESTION]
    while (coming := upcoming(put)) is not None:
        put += [coming, QUESTION]
    led = [content for content in put if not isinstance(content, Question)]
    assert led == [
        content
        for key, lesson in LESSONS.items()
        for content in [*(Guess(key, at) for at in range(len(lesson.steps))), Recap(key)]
    ]
    assert upcoming([Guess("of a later version", 0)]) == Guess(next(iter(LESSONS)), 0)


def test_a_press_of_a_page_that_is_no_longer_so_does_nothing(
    visit: Visit, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class is led by one button; what it did already, or another tab did, is not done to the next step."""
    code, key = opened(store, Guess("trust", 0))
    app = visit(PAGE, room=code, key=key)
    monkeypatch.setattr(teacher, "DOUBLE_CLICK", math.inf)
    press(app, "lead")

    def states() -> list[str]:
        return [step.state for step in store.rooms.steps(code)]

    press(app, "present_next")  # just drawn, so this is the second click of a double click
    assert states() == ["open"]
    monkeypatch.setattr(teacher, "DOUBLE_CLICK", 0.0)
    store.rooms.turn_step(code, key, 0, "revealed")
    press(app, "present_next")  # which said Reveal
    assert states() == ["revealed"]
    store.rooms.put_step(code, key, Guess("trust", 1))
    press(app, "present_next")  # which said Next
    assert states() == ["revealed", "open"]
    for expected in (["revealed", "revealed"], ["revealed", "revealed", "open"]):
        press(app, "present_next")
        assert states() == expected
    press(app, "present_previous")
    assert "question 2 of 3 · phones show question 3" in words(app)
    store.rooms.close(code, key)
    press(app, "present_next")
    assert [b.disabled for b in app.button if b.key == "present_next"] == [True]
    press(app, "present_leave")
    assert offers(app, "lead")


def test_a_recap_has_the_own_score_on_a_phone_and_the_average_on_the_screen(
    visit: Visit, store: Store
) -> None:
    lesson = LESSONS["trust"]
    code, key = opened(store, None)
    phone, idle = phones(visit, code, 1, 2)
    for at, step in enumerate(lesson.steps[:2]):
        prediction: Any = step.prediction
        store.rooms.put_step(code, key, Guess("trust", at))
        truth = step.truth(evidence())
        right = prediction.write(truth if isinstance(prediction, Order) else prediction.nearest(truth))
        store.rooms.respond(code, f"{1:032x}", at, right)
    store.rooms.put_step(code, key, Recap("trust"))
    app = visit(PAGE, room=code, key=key)
    assert "Your class scored 2 out of 2 on average." in words(app)
    press(app, "lead")
    for page in (phone.run(), idle.run(), app):
        assert all(escape(one) in marked(page) for one in lesson.recap)
    assert "You scored 2 of 2." in words(phone)
    assert "You scored 0 of 2." in words(idle)
    assert store.rooms.steps(code)[2].state == "revealed"
    with pytest.raises(Refused):
        store.rooms.respond(code, f"{1:032x}", 2, "abcd")


@pytest.mark.parametrize("way", ["reveal", "close", "next"])
@pytest.mark.parametrize("sent", [False, True])
def test_only_a_prediction_that_was_sent_counts(visit: Visit, store: Store, way: str, sent: bool) -> None:
    code, key = opened(store, Guess("trust", 1))
    step: Any = LESSONS["trust"].steps[1]
    phone = named(visit(PAGE, room=code), 1)
    assert sentences.PHONE["waits"] not in words(phone)  # nothing is predicted yet
    phone.select_slider[0].set_value(step.prediction.marks[2]).run()
    assert sentences.PHONE["waits"] in words(phone)
    mark = step.prediction.marks[2]
    if sent:  # what the phone shows, though it was moved as the button was pressed, before it was drawn anew
        mark = step.prediction.marks[5]
        phone.select_slider[0].set_value(mark)
        press(phone, "send_0")
    if way == "reveal":
        store.rooms.turn_step(code, key, 0, "revealed")
    elif way == "close":
        store.rooms.close(code, key)
    else:
        store.rooms.put_step(code, key, Guess("trust", 2))
    written = step.prediction.write(mark)
    assert store.rooms.steps(code)[0].answers == ((written,) if sent else ())
    phone.run()
    said = sentences.PHONE["missed" if way == "next" else "unsent"]
    assert warned(phone) == ("" if sent else said)
    if way != "next":
        assert step.off(written, evidence()) in words(phone)


def blocks(node: Any, kind: str) -> list[Any]:
    proto: Any = getattr(node, "proto", None)
    found = [node] if hasattr(proto, kind) and proto.HasField(kind) else []
    return found + [one for child in getattr(node, "children", {}).values() for one in blocks(child, kind)]


def test_a_room_is_deleted_by_a_second_press_that_names_what_goes(visit: Visit, store: Store) -> None:
    code, key = opened(store)
    for name in ("a", "b"):
        store.rooms.join(code, name, Lease("t"))
        store.rooms.respond(code, name, 0, YES)
    app = visit(PAGE, room=code, key=key)
    (popover,) = blocks(app.main, "popover")
    (button,) = popover.button
    assert button.label == f"Delete room {code}"
    assert [b.key for b in app.button if "elete" in b.label] == [button.key]  # no other way
    assert f"room **{code}** with **1 question** and **2 answers**" in words(popover)
    assert store.rooms.find(code)
    button.click().run()
    assert store.rooms.find(code) is None


def test_a_closed_room_has_no_way_in_and_nothing_to_pace_and_phones_keep_the_result(
    visit: Visit, store: Store
) -> None:
    code, key = opened(store)
    teacher, (phone, idle) = visit(PAGE, room=code, key=key), phones(visit, code, 1, 2)
    reported(phone, YES)
    teacher.run()
    for keys in ({"close_room", "paused_0", "revealed_0"}, set[str]()):
        assert {b.key for b in teacher.button} & {"close_room", "paused_0", "open_0", "revealed_0"} == keys
        seen = "".join(e.proto.body for e in teacher.get("html"))
        for shown in ('class="dprl-code"', 'class="dprl-qr"'):
            assert (shown in seen) == bool(keys)
        if keys:
            press(teacher, "close_room")
    assert "Copy link to join" not in str([e.proto for e in teacher.get("bidi_component")])
    assert len(charts(teacher)) == 1
    for app in (phone, idle, *phones(visit, code, 1)):  # the last is loaded anew
        app.run()
        assert len(charts(app)) == 1
        assert not asked(app)
        assert sentences.PHONE["closed"] in " ".join(e.value for e in app.info)
    press(teacher, "leave")
    assert offers(teacher, "open_room")
    assert store.rooms.find(code)


def test_results_travel_as_csv_without_formulas(store: Store) -> None:
    code, _ = opened(store, Question("=1+1", 1.0))
    for i in range(5):
        store.rooms.join(code, str(i), Lease("t"))
        store.rooms.respond(code, str(i), 0, YES)
    found = pd.read_csv(io.StringIO(answers_csv(store, code)))
    assert found["asked"].tolist() == ["'=1+1"] * 5
    assert set(found["written down"]) <= {YES, NO}
    assert found["epsilon"].tolist() == [1.0] * 5


@pytest.mark.parametrize(("switched", "shown"), [("0", False), ("1", True)])
def test_in_public_the_page_says_that_rooms_are_off(
    visit: Visit, store: Store, monkeypatch: pytest.MonkeyPatch, switched: str, shown: bool
) -> None:
    monkeypatch.setenv("DPRL_PUBLIC", "1")
    monkeypatch.setenv("DPRL_ROOMS", switched)
    app: Any = visit(PAGE)
    assert offers(app, "open_room") == shown
    assert ("DPRL_ROOMS=1" in words(app)) != shown


def test_a_class_plays_the_clinic(visit: Visit, store: Store) -> None:
    """The phone's script is told the law and nothing of it is answered for; the report is written down once."""
    code, key = opened(store, None)
    teacher = visit(PAGE, room=code, key=key)
    widget(teacher, "button_group", "Kind of activity").set_value("clinic").run()
    widget(teacher, "button", "Let the class play").click().run()
    student = named(visit(PAGE, room=code), 1)
    ((_, given),) = scripts(student, "patient")
    assert (given["open"], given["law"]["groups"], len(given["law"]["moves"])) == (True, 4, 4)
    assert sentences.held(5.0) in words(student)
    reported(student, "3-n0", "patient")
    assert "allowed" in warned(student)
    reported(student, "3-n010011", "patient")
    assert store.rooms.steps(code)[0].answers == ("3-n010011",)
    assert "stores your" in succeeded(student)
    assert "ε = 1 for all your answers together" in words(student)
    store.rooms.turn_step(code, key, 0, "revealed")
    for app in (teacher.run(), student.run()):
        assert "the reports show" in words(app)
