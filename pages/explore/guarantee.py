"""The tab Guarantee: what each run promises to its users, what its noise proves, and where the noise enters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import streamlit as st

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.figures import guarantee as figures
from dprl.figures.attack import epsilon_of_delta
from dprl.figures.guarantee import who_sees_what
from dprl.figures.picture import Picture
from dprl.learners.tabular.planner import OWN
from dprl.privacy import PRIVATIZERS, Guarantee
from dprl.runs.status import RunStatus
from dprl.sentences import attack as attacks
from dprl.sentences import price as sentences
from dprl.sentences import promise as said
from dprl.sentences.noise import IN_A_COUNT
from dprl.simulation import AttackSpec, RunSpec
from dprl.words import count, human, promise, significant
from pages.attack import link as attack_link
from pages.attack.link import AttackView
from pages.explore.look import curve_menu, offered
from pages.shared.layout.chart import kept, show, sketch
from pages.shared.layout.frame import dark, page_link
from pages.shared.layout.terms import escape, explained
from pages.shared.results import answers
from pages.shared.results.guarantee import assumptions, facts, proved, verdict_and_budget
from pages.shared.results.status import working_out
from pages.shared.visitor.links import Curve
from pages.shared.visitor.state import session

PROMISES = {p.words.model: p.words.promise for p in PRIVATIZERS.values()}
MOST_NOISE = " This is a count of a row that all users were told to play. Other rows have less noise."


def tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Draw the promises of the visible curves, the card of one, and the effect of other noise.

    All of it follows from the specs: it is there before the first seed is finished, and whatever becomes of the runs.
    """
    curves = session().explore.shown
    places = offered("see what it guarantees")
    if not places:
        return
    with st.expander("What does (ε, δ) mean?", icon=":material/help:"):
        st.markdown(said.MEANING)
    if len(places) > 1:
        compare(places, curves, titles)
    chosen = curve_menu("Curve in detail", places, titles)
    run = curves[chosen].spec
    guarantee, wrong = promised(run)
    with st.container(border=True):
        picture, text = st.columns([3, 5], gap="medium")
        with picture:
            st.markdown(f"## {escape(titles[chosen])}", anchors=False)
            sketch(who_sees_what(PRIVATIZERS[run.privacy].words, run.privacy, dark=dark()))
        with text:
            if guarantee is None:
                st.markdown(explained(escape(PRIVATIZERS[run.privacy].trust)))
                st.caption(wrong or working_out("the guarantee of this noise"))
            else:
                card(guarantee, run, chosen)
                with suppress(SpecError):  # noise that cannot be attacked
                    link = attack_link.encode(AttackSpec(run=run), AttackView())
                    page_link("attack", "Attack this noise", link)
    if guarantee is not None and guarantee.ladder:
        compare_noise(guarantee, run)


def promised(run: RunSpec) -> tuple[Guarantee | None, str]:
    """Return the guarantee of a run once a worker has computed it, else the reason why there is none."""
    try:
        return answers.guarantee(run), ""
    except SpecError as error:
        return None, f":red[{escape(str(error))}]"


def compare(places: Sequence[int], curves: Sequence[Curve], titles: Sequence[str]) -> None:
    """Draw the promises of several curves, a line each."""
    rows: list[tuple[str, ...]] = [("Curve", "Privacy model", "Claimed", "Proved", IN_A_COUNT)]
    for i in places:
        run = curves[i].spec
        g, wrong = promised(run)
        words = PRIVATIZERS[run.privacy].words
        sign = noise = ""
        claimed = proves = wrong or "not known yet"
        if g is not None:
            claimed = proves = "–"
            noise = f"{human(g.noise_std)} visits" if g.noise_std else "–"
            if g.claimed_epsilon is not None:
                delta = g.claimed_delta or 0.0
                good, _ = said.about_promise(g.claimed_epsilon, delta, g.readings, words.blanked)
                sign = f":material/{'verified' if good else 'warning'}: "
                claimed, proves = promise(g.claimed_epsilon, delta), proved(g)
        rows.append((escape(titles[i]), escape(words.promise), claimed, sign + proves, noise))
    if not any(noise.endswith("visits") for *_, noise in rows):  # learners that are told of no counts
        rows = [row[:-1] for row in rows]
    rows.insert(1, ("---",) * len(rows[0]))
    if any("not known yet" in row for row in rows):
        st.caption(working_out("the claimed and proved guarantees"))
    with st.container(key="promises"):
        st.markdown(explained("\n".join(f"| {' | '.join(row)} |" for row in rows)))


def card(g: Guarantee, run: RunSpec, key: int) -> None:
    """Draw one run's guarantee in words and numbers; the parts have the same order in every card."""
    st.markdown(explained(f"**{PROMISES[g.model]}**{f' ({g.model})' if g.model != 'none' else ''}"))
    st.markdown(explained(escape(g.trust)))
    if run.bonus == OWN:
        st.markdown(
            explained(
                ":material/warning: The bonus is not proved: no theorem says that the algorithm learns."
            )
        )
    if g.claimed_epsilon is None:
        return
    blanked = PRIVATIZERS[run.privacy].words.blanked
    good, sentence = said.about_promise(
        g.claimed_epsilon,
        g.claimed_delta or 0.0,
        g.readings,
        blanked,
        calibrated=run.calibration == "calibrated",
    )
    noise = "Standard deviation of the noise in one visit count, at the release with the most noise."
    most = MOST_NOISE if run.reports != "all" else ""
    verdict_and_budget(g, good, sentence, key, f"{noise}{most}")
    st.markdown(explained(said.readings(g.readings, blanked)))
    delta = g.proved_delta or 0.0
    if warning := said.against_users(delta, g.users or 0):
        st.caption(explained(warning))
    if g.returning is not None:
        st.caption(explained(said.returning(*g.returning, delta)))
    # the noise of a shuffler is bits, and each is one visit: that has no scale to tell
    scaled = g.model != "SDP" and g.noise_scale is not None
    facts(g, f"{significant(g.noise_scale or 0.0)} visits" if scaled else "", g.messages)
    every_promise(g, run, key)
    assumptions(g)


def every_promise(g: Guarantee, run: RunSpec, key: int) -> None:
    """Draw all that we prove for the noise, on request: epsilon for each delta, zCDP, and the best attacker's gain."""
    part = st.expander("All proved (ε, δ)", on_change="rerun", key=f"promises_{key}")
    if not part.open:
        return
    with part:
        curves = answers.promise_curves(run)
        if curves is None:
            st.caption(working_out("all (ε, δ)"))
            return
        st.markdown(explained(f"{attacks.advantage(curves['right'])} {attacks.concentrated(curves['rho'])}"))
        deltas, epsilons = curves["deltas"], curves["epsilons"]
        own = (g.proved_epsilon, g.proved_delta) if g.proved_epsilon and g.proved_delta else None
        see = attacks.about_epsilons(deltas, epsilons)
        drawn = kept(
            ("promise", "curve", run.to_json()),
            lambda night: epsilon_of_delta(
                np.array(deltas), np.array(epsilons), own=own, see=see, dark=night
            ),
        )
        show(drawn, f"promise_{key}")


def compare_noise(g: Guarantee, run: RunSpec) -> None:
    """Draw the ladder from noise as in the paper down."""
    st.markdown("## How much noise does a guarantee need?", anchors=False)
    st.markdown(
        explained(
            "Each bar adds one improvement to the bar above it, and shows the guarantee proved for its noise. The "
            "first bar is the noise in the algorithm's paper, for δ = 0. Up to 4,000 releases, the last bar is a lower "
            "bound. If a bar is longer, the one above proves less, or noise moves to visits from other counts."
        )
    )
    show(kept(("ladder", run.to_json()), lambda night: ladder(g, night, instance(run))), "ladder")


def instance(spec: RunSpec) -> str:
    """Return the problem that a ladder is about."""
    steps = [f"H = {spec.environment_params['H']}"] if "H" in spec.environment_params else []
    return ", ".join(
        [
            ENVIRONMENTS[spec.environment].called(spec.environment_params),
            *steps,
            f"K = {count(spec.episodes)}",
        ]
    )


def ladder(g: Guarantee, night: bool, instance: str = "") -> Picture:
    """Return the ladder of a card, with the run's own noise in it."""
    steps = [figures.NoiseStep(s.what, s.std, s.epsilon, s.delta, s.idea) for s in g.ladder]
    mine = g.noise_std or 0.0
    own = next((i for i, s in enumerate(steps) if math.isclose(s.std, mine, rel_tol=said.EQUAL)), None)
    if own is None:
        ours = figures.NoiseStep(
            f"this run: {g.mechanism}", mine, g.proved_epsilon or 0.0, g.proved_delta or 0.0
        )
        own = next((i for i, s in enumerate(steps) if i > 1 and s.std < mine), len(steps))
        steps.insert(own, ours)
    see = sentences.about_ladder(steps, own)
    return figures.noise_ladder(
        steps, own=own, epsilon=g.claimed_epsilon, instance=instance, see=see, dark=night
    )
