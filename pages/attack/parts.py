"""The parts of Attack around the release: a guess, a hundred guesses, two users who collude, and a belief."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.figures import attack as figures
from dprl.sentences import attack as sentences
from pages.attack.link import attack, finished_scores
from pages.shared.controls.widgets import segments
from pages.shared.layout.chart import empty, kept, show
from pages.shared.layout.frame import dark
from pages.shared.layout.terms import explained
from pages.shared.results import answers
from pages.shared.results.status import working_out
from pages.shared.visitor.callbacks import button, into, keyed
from pages.shared.visitor.state import session

STEPS = {"one": "1. The same noise for all", "subtract": "2. Two users subtract", "tree": "3. A noise tree"}
CHARTS = {
    "one": ("Number that each user receives", ("true visits so far", "number received")),
    "subtract": ("Two users' estimate of the visit between theirs", ("true visit", "estimate")),
    "tree": ("The same estimate with a tree", ("true visit", "estimate")),
}


def guess_part() -> None:
    """Draw one simulated release and ask whose data it contains; then show how often the best attacker is right."""
    a, curves = attack(), answers.promise_curves(attack().spec.run)
    found = finished_scores(a.spec)
    if curves is None:
        empty(working_out("the guarantee of the noise"))
        return
    with st.container(border=True, key="guess"):
        st.markdown("## Whose data is this?", anchors=False)
        if len(found.first):
            first, score = drawn_release(found.first, found.second)
            st.markdown(explained(sentences.asked_whose(score)))
            if a.guessed is None:
                with st.container(horizontal=True, gap="small"):
                    for label, guess in (("The first user's", True), ("The second user's", False)):
                        button(label, take_guess, guess, first, key=f"guess_{guess}")
                    button("Skip", into(a, "skipped"), True, key="skip_guess", type="tertiary")
            else:
                st.markdown(sentences.whose(first, a.guesses))
                button("Guess again", into(a, "guessed"), None, icon="casino", key="again")
        if a.guesses or a.skipped or not len(found.first):
            st.markdown(explained(sentences.advantage(curves["right"])))
            show(
                kept(
                    ("attack", "guesses", a.spec.run.to_json()),
                    lambda night: figures.guesses_of_100(
                        curves["right"], see=sentences.about_guesses(curves["right"]), dark=night
                    ),
                ),
                "promise_guesses",
                how=[sentences.concentrated(curves["rho"])],
            )


def drawn_release(first: Any, second: Any) -> tuple[bool, float]:
    """Return whether the visitor's present release contains the first user's data, and its score."""
    a = attack()
    number = len(a.guesses) - (a.guessed is not None)
    rng = random.Random(f"{session().visitor} {a.spec.to_json()} {number}")
    of_first = rng.random() < 0.5
    return of_first, float(rng.choice(first if of_first else second))


def take_guess(guess: bool, first: bool) -> None:
    """Store a guess, and whether it was right."""
    a = attack()
    a.guessed = guess
    a.guesses.append(guess == first)


def collusion_part() -> None:
    """Draw one step of the collusion with its chart."""
    a = attack()
    st.markdown("## Two users collude", anchors=False)
    segments("Step", "step", STEPS, a.view.step, lambda step: a.change(step=step))
    st.markdown(explained(sentences.STEPS[a.view.step]))
    found = answers.collusion(a.spec)
    if found is None:
        empty(working_out("what colluding users learn"))
        return
    step = a.view.step
    visits = np.array(found["visits"], float)
    users = np.arange(1, len(visits) + 1)
    told = np.cumsum(visits) + (np.array(found["tree"]) if step == "tree" else found["one"])
    if step == "one":
        who, true, seen = users, np.cumsum(visits), told
    else:
        # release t + 1 minus release t - 1 minus user t + 1's own visit
        who, true, seen = users[1:-1], visits[1:-1], told[2:] - told[:-2] - visits[2:]
    wrong = np.abs(seen - true)
    title, words = CHARTS[step]
    see = sentences.about_collusion(step, int((wrong < 1e-9).sum()), len(who), float(wrong.max()))
    names = [str(user) for user in who]
    key = ("collusion", step, a.spec.run.epsilon)
    show(
        kept(
            key,
            lambda night: figures.collusion_bars(
                title, names, true, np.round(seen, 9), words, see=see, dark=night
            ),
        ),
        "collusion",
    )
    st.caption(
        explained(
            f"One counter, {len(visits)} users, ε = {a.spec.run.epsilon:g} for this counter alone. After Vietri et al. "
            "(2020), section 2.2."
        )
    )


def belief_part() -> None:
    """Draw the effect of a release on an attacker's belief."""
    a = attack()
    card, curves = answers.guarantee(a.spec.run), answers.promise_curves(a.spec.run)
    if card is None or curves is None or card.proved_epsilon is None:
        return
    epsilon = card.proved_epsilon
    st.markdown("## What could an attacker believe about you?", anchors=False)
    st.markdown(explained(sentences.MEANING))
    moved = keyed("prior", lambda percent: a.change(prior=int(percent)))
    percent = st.slider("Belief before the release", 1, 99, a.view.prior, format="%d%%", **moved)
    before = percent / 100
    priors = np.linspace(0.01, 0.99, 99)
    least, most = (np.array([metrics.posterior(p, sign * epsilon) for p in priors]) for sign in (-1, 1))
    at = (before, metrics.posterior(before, -epsilon), metrics.posterior(before, epsilon))
    see = sentences.about_belief(before, epsilon, curves["false"], curves["missed"])
    show(figures.belief_curves(priors, least, most, at=at, see=see, dark=dark()), "belief")
