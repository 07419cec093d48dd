"""What a promise means: this run's noise as curves, the best attacker's advantage, and what a belief becomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.figures import attack as figures
from dprl.figures.picture import Picture
from dprl.sentences import attack as sentences
from pages.attack.link import FIELDS
from pages.attack.state import attack
from pages.shared.layout.chart import empty, kept, show
from pages.shared.layout.frame import dark
from pages.shared.layout.terms import explained
from pages.shared.online.promise import epsilon_picture
from pages.shared.results import answers
from pages.shared.results.status import working_out
from pages.shared.visitor.callbacks import callback, on_value
from pages.shared.visitor.state import session

PRESSES = 10  # until all draws are seen


def part() -> None:
    """The advantage in words, three curves, and a slider."""
    run = attack().spec.run
    card, curves = answers.guarantee(run), answers.promise_curves(run)
    if card is None or curves is None:
        empty(working_out("what is proved for the noise"))
        return
    st.markdown(explained(f"{sentences.advantage(curves['right'])} {sentences.concentrated(curves['rho'])}"))
    night, key = dark(), run.to_json()
    left, right = st.columns(2)
    with left:
        show(
            kept(("promise", "curve", night, key), lambda: epsilon_picture(card, curves, night)),
            "promise_curve",
        )
    with right:
        show(
            kept(("promise", "errors", night, key), lambda: tradeoff_picture(curves, night)), "promise_errors"
        )
    if curves["outcomes"]:
        show_draws(curves["outcomes"], curves["right"], key)
    believed(card.proved_epsilon, curves)


def tradeoff_picture(curves: dict[str, Any], night: bool) -> Picture:
    """The trade-off of any test's two errors."""
    allowed = np.array(curves["false"]), 1 - np.array(curves["missed"])
    return figures.error_curves(allowed, see=sentences.TRADE_OFF, dark=night)


def show_draws(outcomes: Sequence[float], right: float, key: str) -> None:
    """The noise as draws, some more at each press, and the risk beside it."""
    st.markdown("## What does noise cost, and what does it buy?", anchors=False)
    new, night, presses = len(outcomes) // PRESSES, dark(), attack().presses
    shown = outcomes[: new * (1 + presses % PRESSES)]
    left, right_side = st.columns(2)
    with left:
        see = sentences.about_draws(shown)
        picture = kept(
            ("promise", "outcomes", night, key, len(shown)),
            lambda: figures.noise_dots(np.array(shown), new, see=see, dark=night),
        )
        show(picture, "promise_outcomes")
    with right_side:
        see = sentences.about_guesses(right)
        picture = kept(
            ("promise", "guesses", night, key), lambda: figures.guesses_of_100(right, see=see, dark=night)
        )
        show(picture, "promise_guesses")
    st.button("Draw again", icon=":material/casino:", on_click=callback(draw_more), key="draw_again")


def draw_more() -> None:
    """More draws; after the last of them from the start."""
    attack().presses += 1


def believed(epsilon: float | None, curves: dict[str, Any]) -> None:
    """What somebody believes before and after."""
    if epsilon is None:
        return
    st.markdown("## What may somebody believe about you?", anchors=False)
    st.markdown(explained(sentences.MEANING))
    key = f"{session().version}:attack:prior"
    low, high = FIELDS["prior"].low, FIELDS["prior"].high
    assert low is not None
    assert high is not None
    percent = st.slider(
        "Believed before",
        int(low),
        int(high),
        attack().view.prior,
        format="%d%%",
        key=key,
        on_change=on_value(key, prior),
    )
    before, night = percent / 100, dark()
    priors = np.linspace(0.01, 0.99, 99)
    least, most = (np.array([metrics.posterior(p, sign * epsilon) for p in priors]) for sign in (-1, 1))
    at = (before, metrics.posterior(before, -epsilon), metrics.posterior(before, epsilon))
    see = sentences.about_belief(before, epsilon, curves["false"], curves["missed"])
    show(figures.belief_curves(priors, least, most, at=at, see=see, dark=night), "belief")


def prior(percent: int) -> None:
    """The slider was moved."""
    attack().change(prior=int(percent))
