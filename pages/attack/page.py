"""The Attack page, which compares the best attack on one user with the proved limit."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.figures import attack as figures
from dprl.figures.picture import Picture
from dprl.messages import filled, messages
from dprl.metrics.attack import epsilon_of_separation, guessed_right, histogram, roc, separation, surely
from dprl.privacy import MECHANISMS, PRIVATIZERS, Guarantee
from dprl.sentences import attack as sentences
from dprl.simulation import AttackSpec, RunSpec
from dprl.simulation.attack import pairs_of
from dprl.simulation.trajectory import ALLOWED
from dprl.words import at_most, human, plural
from pages.attack.link import RUNS, attack, finished_scores, show_attack
from pages.shared.controls import panel
from pages.shared.controls.launch import described, offer
from pages.shared.controls.noise import noise, structure
from pages.shared.controls.widgets import segments
from pages.shared.layout.chart import empty, kept, save_citations, show
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common, head, share
from pages.shared.layout.terms import explained
from pages.shared.names import in_common
from pages.shared.results import answers
from pages.shared.results.data import AttackScores
from pages.shared.results.status import ACTIVE, pace, pause_switch, working_out
from pages.shared.visitor.callbacks import button, into, keyed
from pages.shared.visitor.links import Curve
from pages.shared.visitor.state import Session, read_address, session


def main() -> None:
    a = attack()
    read_address(a)
    with st.sidebar:
        panel.sidebar(controls, lambda found: attack_box(*found))
    corner = head(a)
    run = RUNS.status(a.spec)
    redrawn(partial(draw_parts, corner), pace([run] if run.state in ACTIVE else []))


def draw_parts(corner: DeltaGenerator, live: bool) -> None:
    """Draw the parts of the page and the link in the corner, and redraw them while an attack runs."""
    a = attack()
    if live and RUNS.status(a.spec).state not in ACTIVE:
        st.rerun()
    run = a.spec.run
    known = [part for part in in_common([Curve(run)]).split(" · ") if not part.endswith(" seed")]
    declared = ["structure declared"] if run.structure else []
    common(" · ".join([*known, PRIVATIZERS[run.privacy].title, f"ε = {run.epsilon:g}", *declared]))
    guess_part()
    release_part()
    collusion_part()
    save_citations([a.spec])
    with corner:
        share(a)


def controls() -> tuple[RunSpec | None, str]:
    """Draw all controls. Return the run that they describe, or a sentence that explains why there is none."""

    def expert(s: Session) -> None:
        with st.expander("Expert settings"):
            noise(s)
            structure(s)
            panel.number_field(s, "contribution", "Most episodes of one user")

    return panel.run_settings(expert)


def attack_box(run: RunSpec | None, refusal: str) -> None:
    """Describe what Run will do, and draw the buttons. The arguments are the return values of `controls`."""
    spec, shown = None, attack().spec
    if run is not None:
        same = run.replace(seeds=1, root_seed=0) == shown.run
        spec, refusal = described(
            lambda: shown if same else AttackSpec(run=run, noise=shown.noise, places=shown.places)
        )
    work = f"{plural(spec.executions * spec.seeds, 'release')} for each of two episodes" if spec else ""
    offer(spec, show_attack, lambda: RUNS.missing([spec]), lambda _: work, [refusal], shown=spec == shown)


SAID = messages("pages")["attack"]


def release_part() -> None:
    """Draw the attack's controls, progress, results and charts."""
    a = attack()
    run, found = RUNS.status(a.spec), finished_scores(a.spec)
    st.markdown("## Attack a release", anchors=False)
    if not found.counters:
        st.markdown(explained(sentences.SAID["meets"].format(PRIVATIZERS[a.spec.run.privacy].words.seen)))
    if a.spec.run.contribution > 1:
        st.markdown(explained(sentences.several(a.spec.run.contribution)))
    choices(run.state in ACTIVE)
    RUNS.strip(RUNS.progress([a.spec]))
    if not len(found.first):
        if run.state in ACTIVE:
            empty("The first trials will appear in a moment.")
        elif run.state == "unknown":
            empty("No attack has been run yet.")
        return
    card, curves = answers.guarantee(a.spec.run), answers.table("promise", a.spec.run)
    if card is None or curves is None:
        empty(working_out("the guarantee of the noise"))
        return
    measured_attack(a.spec, found, card, curves)


def choices(going: bool) -> None:
    """Draw the controls for the two episodes, the noise, and the positions of the episodes in the run."""
    a = attack()
    pairs = {key: {"first": one, "second": other} for key, (one, other) in pairs_of(a.spec.run).items()}
    shown = {"first": a.spec.first, "second": a.spec.second}
    now = next((key for key, pair in pairs.items() if pair == shown), None)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="attack_choices"):
        titles = SAID["pairs"]
        segments("The two episodes", "pair", titles, now, lambda key: attack_other(**pairs.get(key, shown)))
        with st.popover("The two episodes", icon=":material/group:"):
            declared = SAID["declared"] if a.spec.run.structure else ""
            st.caption(f"{filled(SAID['give'], allowed=ALLOWED)} {declared}".strip())
            first = keyed("first", lambda text: attack_other(first=text))
            st.text_input("First episode", a.spec.first, max_chars=4000, **first)
            second = keyed("second", lambda text: attack_other(second=text))
            st.text_input("Second episode", a.spec.second, max_chars=4000, **second)
        half = keyed("half", lambda on: attack_other(noise="half" if on else "whole"))
        st.toggle("Halve the noise", a.spec.noise == "half", help=SAID["half"], **half)
        mechanism = a.spec.run.mechanism
        # if each report has noise of its own, its place does not matter
        if a.spec.run.contribution > 1 and mechanism is not None and not MECHANISMS[mechanism].fresh:
            places, now = SAID["places"], a.spec.places
            segments("Position of the episodes", "places", places, now, lambda to: attack_other(places=to))
        if going:
            pause_switch()


def attack_other(**changes: Any) -> None:
    show_attack(attack().spec.replace(**changes))
    st.rerun()


def measured_attack(spec: AttackSpec, found: AttackScores, card: Guarantee, curves: dict[str, Any]) -> None:
    """Draw the verdict, the numbers behind it, and the charts."""
    delta = curves["delta"]
    proved, claimed = card.proved_epsilon or np.inf, card.claimed_epsilon or np.inf
    epsilon = epsilon_of_separation(
        separation(found.first, found.second), np.array(curves["separations"]), np.array(curves["measures"])
    )
    half = spec.noise == "half"
    farthest = (spec.first, spec.second) == pairs_of(spec.run)["farthest"]
    caught, sentence = sentences.about_attack(epsilon, proved, claimed, delta, farthest=farthest, half=half)
    bound = surely(found.first, found.second, delta)
    guessed = guessed_right(found.first, found.second)
    st.markdown(explained(f":material/{'gpp_bad' if caught else 'verified_user'}: {sentence}"))
    with st.container(horizontal=True, gap="medium", key="measured"):
        if claimed < 0.99 * proved:
            st.metric("Claimed ε", human(claimed), width="content")
        st.metric("Proved ε", at_most(proved), width="content", help=f"At δ = {human(delta)}.")
        st.metric("Measured ε (95%)", sentences.interval(epsilon), width="content")
        st.metric("Correct guesses", f"{guessed.value:.1%}", width="content")
        lower = f"ε ≥ {bound:.2f}"
        st.metric("Lower bound for any noise", lower, width="content", help=sentences.surely(bound, delta))
    key = spec.to_json(), found.token
    claim = (claimed, card.claimed_delta or 0.0) if claimed < 0.99 * proved else None
    what = PRIVATIZERS[spec.run.privacy].words.seen
    how = [sentences.saw(what, found.releases, found.counters), sentences.surely(bound, delta)]
    worlds = found.first, found.second
    allowed = np.array(curves["false"]), 1 - np.array(curves["missed"])

    def scores(night: bool) -> Picture:
        see = sentences.about_scores(guessed, curves["right"], half)
        return figures.score_histograms(*histogram(*worlds), see=see, dark=night)

    def errors(night: bool) -> Picture:
        see = sentences.SAID["errors_above" if epsilon.low > proved else "errors_below"]
        return figures.error_curves(allowed, roc(*worlds), claimed=claim, see=see, dark=night)

    left, right = st.columns(2)
    with left:
        show(kept(("attack", "scores", key), scores), "attack_scores", how=how)
    with right:
        show(kept(("attack", "errors", key), errors), "attack_errors", how=how)


def guess_part() -> None:
    """Draw a simulated release, ask whose data it contains, and then show how often the best attacker is right."""
    a, curves = attack(), answers.table("promise", attack().spec.run)
    found = finished_scores(a.spec)
    if curves is None:
        empty(working_out("the guarantee of the noise"))
        return
    with st.container(border=True, key="guess"):
        st.markdown("## Whose data is this?", anchors=False)
        if len(found.first):
            number = len(a.guesses) - a.guessed
            rng = random.Random(f"{session().visitor} {a.spec.to_json()} {number}")
            first = rng.random() < 0.5
            score = float(rng.choice(found.first if first else found.second))
            st.markdown(explained(sentences.asked_whose(score)))
            if not a.guessed:
                with st.container(horizontal=True, gap="small"):
                    for label, guess in (("The first user's", True), ("The second user's", False)):
                        button(label, take_guess, guess == first, key=f"guess_{guess}")
                    button("Skip", into(a, "skipped"), True, key="skip_guess", type="tertiary")
            else:
                st.markdown(sentences.whose(first, a.guesses))
                button("Guess again", into(a, "guessed"), False, icon="casino", key="again")
        if a.guesses or a.skipped or not len(found.first):
            right = curves["right"]
            see, key = sentences.advantage(right), ("attack", "guesses", a.spec.run.to_json())
            picture = kept(key, lambda night: figures.guesses_of_100(right, see=see, dark=night))
            show(picture, "promise_guesses", how=[sentences.concentrated(curves["rho"])])


def take_guess(right: bool) -> None:
    a = attack()
    a.guessed = True
    a.guesses.append(right)


def collusion_part() -> None:
    """Draw one step of the example in which two users collude, with its chart."""
    a = attack()
    st.markdown("## Two users collude", anchors=False)
    segments("Step", "step", SAID["steps"], a.step, lambda step: a.put(step=step))
    step = a.step
    st.markdown(explained(sentences.SAID[f"steps_{step}"]))
    found = answers.table("collusion", a.spec)
    if found is None:
        empty(working_out("what colluding users learn"))
        return
    visits = np.array(found["visits"], float)
    users = np.arange(1, len(visits) + 1)
    told = np.cumsum(visits) + (np.array(found["tree"]) if step == "tree" else found["one"])
    if step == "one":
        who, true, seen = users, np.cumsum(visits), told
    else:
        # release t + 1 minus release t - 1 minus user t + 1's own visit
        who, true, seen = users[1:-1], visits[1:-1], told[2:] - told[:-2] - visits[2:]
    wrong = np.abs(seen - true)
    chart = SAID["charts"][step]
    see = sentences.about_collusion(step, int((wrong < 1e-9).sum()), len(who), float(wrong.max()))
    bars = chart["title"], [str(user) for user in who], true, np.round(seen, 9), chart["bars"]
    key = ("collusion", step, a.spec.run.epsilon)
    show(kept(key, lambda night: figures.collusion_bars(*bars, see=see, dark=night)), "collusion")
    st.caption(explained(filled(SAID["alone"], users=len(visits), epsilon=f"{a.spec.run.epsilon:g}")))


main()
