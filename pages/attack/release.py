"""The best attack on the noise of the chosen run, simulated on thousands of releases."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.figures import attack as figures
from dprl.figures.picture import Picture
from dprl.privacy import MECHANISMS, PRIVATIZERS, Guarantee
from dprl.sentences import attack as sentences
from dprl.simulation import AttackSpec
from dprl.simulation.attack import pairs_of
from dprl.simulation.trajectory import ALLOWED
from dprl.words import at_most, human
from pages.attack.link import (
    RUNS,
    attack,
    attack_status,
    finished_scores,
    is_farthest,
    show_attack,
    start_attack,
)
from pages.shared.controls.widgets import segments
from pages.shared.layout.chart import empty, kept, show
from pages.shared.layout.terms import explained
from pages.shared.results import answers
from pages.shared.results.evidence import AttackScores
from pages.shared.results.status import ACTIVE, line, pause_switch, price, stopped, words, working_out
from pages.shared.text import escape
from pages.shared.visitor.callbacks import button, keyed
from pages.shared.visitor.state import attempt

PLACES = {"together": "All in one release", "random": "Anywhere in the run"}


def release_part() -> None:
    """Draw the choice of the attack, its progress, its results, and its charts."""
    a = attack()
    run, found = attack_status(a.spec), finished_scores(a.spec)
    st.markdown("## Attack a release", anchors=False)
    if not found.counters:
        st.markdown(explained(sentences.MEETS.format(PRIVATIZERS[a.spec.run.privacy].words.seen)))
    if a.spec.run.contribution > 1:
        st.markdown(explained(sentences.several(a.spec.run.contribution)))
    choices(run.state in ACTIVE)
    attack_strip()
    if not len(found.first):
        if run.state in ACTIVE:
            empty("The first trials appear in a moment.")
        elif run.state == "unknown":
            empty("No attack has been run yet.")
        return
    card, curves = answers.guarantee(a.spec.run), answers.promise_curves(a.spec.run)
    if card is None or curves is None:
        empty(working_out("the guarantee of the noise"))
        return
    measured_attack(a.spec, found, card, curves)


def choices(going: bool) -> None:
    """Draw the choices of the two episodes, the noise, and the places of the episodes."""
    a = attack()
    pairs = pairs_of(a.spec.run)
    now = next((key for key, pair in pairs.items() if pair == (a.spec.first, a.spec.second)), None)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="attack_choices"):
        titles = {"farthest": "Farthest apart", "nearest": "One reward differs"}
        segments("The two episodes", "pair", titles, now, lambda key: other_episodes(pairs.get(key)))
        with st.popover("The two episodes", icon=":material/group:"):
            undeclared = " Steps that are not declared possible are left out." if a.spec.run.structure else ""
            st.caption(f"Give {ALLOWED}. The last step is repeated until the episode ends.{undeclared}")
            for name, label in (("first", "First episode"), ("second", "Second episode")):
                typed = keyed(name, partial(attack_other, name))
                st.text_input(label, getattr(a.spec, name), max_chars=4000, **typed)
        st.toggle(
            "Halve the noise",
            a.spec.noise == "half",
            help="Imitates a faulty program with half of the noise, which the proof does not cover. Usually off.",
            **keyed("half", lambda on: attack_other("noise", "half" if on else "whole")),
        )
        mechanism = a.spec.run.mechanism
        # each report has its own noise, so its place does not matter
        if a.spec.run.contribution > 1 and mechanism is not None and not MECHANISMS[mechanism].fresh:
            segments(
                "Place of the episodes", "places", PLACES, a.spec.places, partial(attack_other, "places")
            )
        if going:
            pause_switch()


def other_episodes(pair: tuple[str, str] | None) -> None:
    """Start an attack with two other episodes."""
    if pair is not None:
        show_attack(attack().spec.replace(first=pair[0], second=pair[1]))
        st.rerun()


def attack_other(name: str, value: str) -> None:
    """Start an attack with another episode, another noise or other places."""
    changes: dict[str, Any] = {name: value}
    attempt(lambda: show_attack(attack().spec.replace(**changes)))
    st.rerun()


def attack_strip() -> None:
    """Draw the status of the attack, with buttons for the possible actions."""
    spec = attack().spec
    run = attack_status(spec)
    said = escape(words(run))
    if run.state in ACTIVE:
        line(run.progress, said.replace("seed", "part"), partial(RUNS.withdraw, [spec]))
    elif run.state == "unknown":
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
            cost = f"It takes {price([spec])}.".replace("seed", "part")
            st.markdown(f":material/info: {said} {cost}", width="stretch")
            button(
                f"Play {spec.executions * spec.seeds:,} trials",
                start_attack,
                icon="play_arrow",
                type="primary",
                key="play",
            )
    elif run.state != "done":
        again = partial(RUNS.start, [spec], again=True)
        stopped(f":material/info: {said}", "Try again", "replay", again, "retry")


def measured_attack(spec: AttackSpec, found: AttackScores, card: Guarantee, curves: dict[str, Any]) -> None:
    """Draw the verdict, the numbers behind it, and the charts."""
    delta = curves["delta"]
    proved, claimed = card.proved_epsilon or np.inf, card.claimed_epsilon or np.inf
    epsilon = metrics.epsilon_of_separation(
        metrics.separation(found.first, found.second),
        np.array(curves["separations"]),
        np.array(curves["measures"]),
    )
    half = spec.noise == "half"
    caught, sentence = sentences.about_attack(
        epsilon, proved, claimed, delta, farthest=is_farthest(spec), half=half
    )
    surely = metrics.surely(found.first, found.second, delta)
    guessed = metrics.guessed_right(found.first, found.second)
    st.markdown(explained(f":material/{'gpp_bad' if caught else 'verified_user'}: {sentence}"))
    with st.container(horizontal=True, gap="medium", key="measured"):
        if claimed < 0.99 * proved:
            st.metric("Claimed ε", human(claimed), width="content")
        st.metric("Proved ε", at_most(proved), width="content", help=f"At δ = {human(delta)}.")
        st.metric("Measured ε (95%)", sentences.interval(epsilon), width="content")
        st.metric("Correct guesses", f"{guessed.value:.1%}", width="content")
        st.metric(
            "Lower bound for any noise",
            f"ε ≥ {surely:.2f}",
            width="content",
            help=sentences.surely(surely, delta),
        )
    key = spec.to_json(), found.token
    claim = (claimed, card.claimed_delta or 0.0) if claimed < 0.99 * proved else None
    what = PRIVATIZERS[spec.run.privacy].words.seen
    how = [sentences.saw(what, found.releases, found.counters), sentences.surely(surely, delta)]
    worlds = found.first, found.second
    allowed = np.array(curves["false"]), 1 - np.array(curves["missed"])

    def scores(night: bool) -> Picture:
        see = sentences.about_scores(guessed, curves["right"])
        return figures.score_histograms(*metrics.histogram(*worlds), see=see, dark=night)

    def errors(night: bool) -> Picture:
        see = sentences.about_errors(epsilon.low > proved)
        return figures.error_curves(allowed, metrics.roc(*worlds), claimed=claim, see=see, dark=night)

    left, right = st.columns(2)
    with left:
        show(kept(("attack", "scores", key), scores), "attack_scores", how=how)
    with right:
        show(kept(("attack", "errors", key), errors), "attack_errors", how=how)
