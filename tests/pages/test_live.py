"""What moves by itself on a page: curves of runs that go on. It stops when it should, and not by itself."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from pages.shared.examples import EXAMPLES
from pages.shared.visitor.state import Session
from tests.pages.conftest import Visit, Work, chip, press, sent, widget

SMALL = "envp.S.3~envp.H.3~K.1000~seeds.2"


def of(app: AppTest) -> Session:
    found: Session = app.session_state["session"]
    return found


def test_a_browser_that_says_again_what_was_never_switched_pauses_nothing(visit: Visit, work: Work) -> None:
    app = visit("explore", c=[SMALL])
    toggle = widget(app, "toggle", "Pause live updates")
    work()
    app.run()
    assert not any(t.label == "Pause live updates" for t in app.toggle)
    app.query_params["c"] = [f"{SMALL}~eps.3"]
    sent(app, toggle.proto.id, bool_value=False)
    assert not of(app).paused


def test_an_example_and_later_runs_do_not_inherit_a_pause(visit: Visit, work: Work) -> None:
    app = visit("explore", c=[SMALL])
    widget(app, "toggle", "Pause live updates").set_value(True).run()
    assert of(app).paused
    work()
    app.run()
    assert not of(app).paused
    chip(app, "Remove", 0).click().run()
    of(app).paused = True
    press(app, f"example_{EXAMPLES[0].title}")
    assert not of(app).paused
