"""The page Attack: it starts, fills, catches, tells what a promise means, and its link carries all of it."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from dprl.links import encode_spec
from dprl.runs.store import Store
from dprl.simulation import AttackSpec, RunSpec
from pages.attack.link import DEFAULT, Attack, decode
from tests.pages.conftest import Visit, Work, charts, choice, go, kept, press, widget, words

PAGE = "attack"
RUN = RunSpec(
    environment="random",
    environment_params={"S": 2, "A": 2, "H": 2},
    episodes=1000,
    privacy="local",
    mechanism="gaussian",
)
LINK = {"b": encode_spec(RUN)}


def drawn(app: AppTest) -> str:
    return "".join(chart.spec for chart in charts(app)).encode().decode("unicode_escape")


@pytest.mark.parametrize("page", [PAGE, "tradeoffs"])
def test_settings_from_another_page_are_not_those_shown_until_run(visit: Visit, page: str) -> None:
    app = visit("explore")
    widget(app, "text_input", "Episodes K, exact value").input("20000").run()
    go(app, page)
    assert "The page still shows other settings." in words(app)
    press(app, "run")
    assert "other settings" not in words(app)


def test_the_first_visit_shows_an_attack_at_once_and_starts_nothing(visit: Visit, store: Store) -> None:
    app = visit(PAGE)
    assert "The attacker sees every noisy count that is released" in words(app)
    assert "3,000 simulated releases for each episode" in charts(app)[0].spec
    assert "**Consistent with the proof.** We prove ε = 1" in words(app)
    assert store.activity().runs_waiting == 0
    widget(app, "toggle", "Halve the noise").set_value(True).run()
    assert store.activity().runs_waiting == 1


def test_the_page_opens_with_a_guess_and_then_says_how_often_the_best_is_right(visit: Visit) -> None:
    app = visit(PAGE)
    headings = [m.value for m in app.markdown if m.value.startswith("## ")]
    assert headings == ["## Whose data is this?", "## Attack a release", "## Two users collude"]
    assert "The best attacker guesses right" not in words(app)
    for _ in range(3):
        press(app, "guess_True")
        press(app, "again")
    assert "The best attacker guesses right at most 54.8% of the time instead of 50%" in words(app)
    assert len(kept(app, Attack).guesses) == 3
    press(app, "guess_False")
    assert f"You guessed right {sum(kept(app, Attack).guesses)} out of 4 times." in words(app)
    skipped = visit(PAGE)
    press(skipped, "skip_guess")
    assert "The best attacker guesses right at most" in words(skipped)


def test_histograms_fill_as_parts_are_finished_and_half_the_noise_is_caught(visit: Visit, work: Work) -> None:
    app = visit(PAGE, **LINK)
    assert "simulated releases" not in drawn(app)
    work(2)
    app.run()
    assert "500 simulated releases for each episode" in drawn(app)
    work()
    app.run()
    assert "3,000 simulated releases for each episode" in drawn(app)
    assert "**Consistent with the proof.** We prove ε = 1" in words(app)
    assert "The attacker sees the user's own message" in words(app)
    assert "12 counters in which the two episodes differ" in words(app)
    half = visit(PAGE, **LINK, noise="half")
    work()
    half.run()
    assert "**The attack finds the fault.** We prove ε = 1, but the attack measures ε = 2" in words(half)
    assert "rises above" in words(half)
    toggle = widget(half, "toggle", "Halve the noise")
    assert toggle.value
    toggle.set_value(False).run()
    assert "Consistent with the proof" in words(half)


def test_an_attack_stands_still_is_cancelled_taken_up_and_changed(visit: Visit, store: Store) -> None:
    app = visit(PAGE, **LINK)
    widget(app, "toggle", "Pause live updates").set_value(True).run()
    assert app.session_state["session"].paused
    for pressed, state in (("cancel", "cancelled"), ("begin", "queued")):
        press(app, pressed)
        assert store.status(kept(app, Attack).spec).state == state
    widget(app, "selectbox", "Privacy model").set_value("central").run()
    press(app, "run")
    assert kept(app, Attack).spec.run.privacy == "central"
    assert store.status(kept(app, Attack).spec).state == "queued"
    press(app, "reset")
    assert widget(app, "selectbox", "Environment").value == DEFAULT.run.environment


def test_the_claim_of_paper_noise_is_caught_and_nearer_episodes_are_said_to_be_nearer(
    finished: Visit,
) -> None:
    app = finished(PAGE, b=encode_spec(RUN.replace(calibration="paper")))
    assert "**The attack refutes the claim.** The claim is (1, 0)" in words(app)
    assert "within the ε = 2 that we prove" in words(app)
    assert "maximum under (1, 0)" in drawn(app)
    app = finished(PAGE, **LINK, first="0/0/1", second="0/0/1 0/0/0")
    assert "1 counter in which the two episodes differ" in words(app)
    assert "The guarantee also covers episodes that differ more than" in words(app)


def test_all_episodes_of_a_user_who_returns_are_attacked(visit: Visit, work: Work) -> None:
    run = RUN.replace(privacy="central", mechanism="gaussian-tree")
    app = visit(PAGE, b=encode_spec(run))
    widget(app, "text_input", "Most episodes of one user").set_value("3").run()
    press(app, "run")
    assert kept(app, Attack).spec == AttackSpec(run=run.replace(contribution=3))
    work()
    app.run()
    assert "The user has 3 episodes here" in words(app)
    assert "**Consistent with the proof.** We prove ε = 1" in words(app)
    choice(app, "Episodes at random times").set_value("random").run()
    assert kept(app, Attack).spec.places == "random"
    assert app.query_params["places"] == "random"
    again = visit(PAGE, **app.query_params)
    assert kept(again, Attack).spec == kept(app, Attack).spec
    reports = visit(PAGE, b=encode_spec(RUN.replace(contribution=3)))
    assert "The user has 3 episodes here" in words(reports)
    assert not [row for row in reports.segmented_control if "Episodes at random times" in row.options]


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        (LINK | {"step": "one"}, "always differ by the same noise"),
        (LINK | {"step": "subtract"}, "work out the data of 6 of 6 users exactly"),
        (LINK | {"step": "tree"}, "The estimates are exact for 0 of 6 users"),
        ({"b": "priv.none"}, "without privacy there is no noise to attack"),
    ],
)
def test_collusion_step_by_step_and_that_there_is_nothing_to_attack(
    visit: Visit, link: dict[str, str], sentence: str
) -> None:
    assert sentence in words(visit(PAGE, **link))


def test_a_card_in_explore_leads_to_the_attack_on_its_noise(visit: Visit) -> None:
    app = visit("explore", c=[LINK["b"], f"{LINK['b']}~priv.none"], tab="guarantee")
    (found,) = [e.proto.query_string for e in app.get("page_link") if e.proto.label == "Attack this noise"]
    problems: list[str] = []
    assert decode(parse_qs(found), problems) == (AttackSpec(run=RUN), "one")
    assert problems == []
