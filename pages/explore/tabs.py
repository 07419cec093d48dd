"""The Online page's tabs about all runs (Regret and Guarantee), and the comparison as a page without a server."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, cast, get_args

import numpy as np
import streamlit as st

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.figures import guarantee as guarantee_figures
from dprl.figures import regret as figures
from dprl.figures.attack import epsilon_of_delta
from dprl.figures.guarantee import who_sees_what
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.learners.tabular.planner import OWN
from dprl.messages import filled, messages
from dprl.metrics.curves import Statistic
from dprl.papers.report import version
from dprl.player import PlayedCurve, PlayedMeasure, Shown, player_page, sizes_of
from dprl.privacy import PRIVATIZERS, Guarantee
from dprl.privacy.guarantee import LadderStep
from dprl.research.one_user import content, drawable
from dprl.research.series import series_of
from dprl.runs.status import RunStatus
from dprl.sentences import attack as attacks
from dprl.sentences import doubts as words
from dprl.sentences import price
from dprl.sentences import promise as said
from dprl.sentences import regret as sentences
from dprl.sentences.noise import IN_A_COUNT
from dprl.simulation import AttackSpec, RunSpec
from dprl.words import count, human, plural, promise, significant
from pages.attack import link as attack_link
from pages.explore.look import SAID, curve_menu, going, offered
from pages.shared.controls import view
from pages.shared.layout.browser import one_user
from pages.shared.layout.chart import empty, kept, show, sketch
from pages.shared.layout.frame import dark, page_link, wide
from pages.shared.layout.terms import escape, explained
from pages.shared.names import in_common, kinds, titles
from pages.shared.results import answers, data, status
from pages.shared.results.guarantee import assumptions, facts, guarantee_of, proved, verdict_and_budget
from pages.shared.results.status import ACTIVE, ONLINE, awaited, note, working_out
from pages.shared.visitor import links
from pages.shared.visitor.callbacks import button
from pages.shared.visitor.links import MEASURES, STATISTICS, Curve, View
from pages.shared.visitor.state import ExploreState, add, session, write_address
from pages.users.link import asked_of, encode

# the regret axis on which curves of each measure can be told apart
AXIS_OF = {measure: {"y": "linear" if measure == "share" else "log"} for measure in MEASURES}
Row = tuple[Curve, CurveStyle, str, RunStatus]


def regret_tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Draw the controls of the view, the chart, and an offer to run missing baselines."""
    e = session().explore
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="regret_view"):
        measure = view.segments(e, "Regret shown", "measure", SAID["measures"], AXIS_OF)
        with st.popover("Axes and seeds", icon=":material/tune:"):
            averages = {str(one): one.capitalize() for one in STATISTICS}
            view.segments(e, "Average over seeds", "statistic", averages)
            how = {
                "log_x": view.switch(e, "Logarithmic episode axis", "x", "log", "linear"),
                "log_y": view.switch(e, "Logarithmic regret axis", "y", "log", "linear"),
                "show_seeds": view.switch(e, "A line for every seed", "each", "on", "off"),
            }
        if going(runs):
            status.pause_switch()
    rows = [row for row in zip(e.shown, kinds(e.shown), titles, runs, strict=True) if not row[0].hidden]
    if measure == "extra":
        private = [row for row in rows if row[0].spec.privacy != "none"]
        rows = [row for row in private if len(ONLINE.curves(row[0].spec.baseline()).at)]
        if missing := [row[0].spec.baseline() for row in private if row not in rows]:
            why = filled(SAID["no_baseline"], curves=plural(len(missing), "curve"))
            with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
                st.markdown(explained(why), width="stretch")
                button("Run without privacy", run_baselines, missing, icon="play_arrow", type="primary")
    if not any(len(ONLINE.curves(row[0].spec).at) for row in rows):
        if not e.visible:
            empty(filled(SAID["hidden"], why="see the regret"))
        elif measure == "extra" and not any(run.state in ACTIVE for run in runs):
            empty(SAID["no_private"])
        else:
            empty(awaited(runs, [curve.spec for curve in e.shown]))
        return
    regret_chart(rows, measure, e.view.statistic, how)
    if st.context.is_embedded:
        return
    page_link("users", "How many users do I need for this?", encode(asked_of(asked_about(e))))
    part = st.expander("One user, step by step", on_change="rerun", key="learner")
    if part.open:
        with part:
            learner_at_work(titles)


def learner_at_work(titles: Sequence[str]) -> None:
    """Draw a menu of runs, and a user who follows the chosen run's policy."""
    e, said = session().explore, messages("one_user")
    chosen = curve_menu("Curve", offered("follow one user"), titles)
    spec = e.shown[chosen].spec
    mdp = data.environment(spec)
    if not drawable(mdp):
        st.caption(said["large"])
        return
    trace = data.trace(spec, e.view.seed if e.view.seed < spec.seeds else 0)
    if trace is None or not len(trace.detail_episodes):
        view.absent(spec, titles[chosen], session().visitor)
        return
    key = f"{spec.to_json()}#{trace.seed}#{trace.episodes[-1]}"
    one_user(key, lambda: content(mdp, trace))


def asked_about(shown: ExploreState) -> RunSpec:
    """Return the run to show in detail: the one chosen last, or the most private one."""
    curves, at = shown.shown, shown.view.curve
    if not (0 <= at < len(curves)) or curves[at].spec.privacy == "none":
        at = links.most_private(curves)
    return curves[at].spec


def run_baselines(missing: Sequence[RunSpec]) -> None:
    """Request the missing baselines, and add their curves to the comparison if there is room."""
    for spec in missing:
        add(spec)
    write_address(session().explore)
    st.rerun()


def regret_chart(rows: Sequence[Row], measure: str, statistic: Statistic, how: dict[str, bool]) -> None:
    """Draw warnings and the chart of these runs. `how` has options of the chart, such as logarithmic axes."""
    stuck = [(status.stuck(one), one.seeds) for one in {row[0].spec.baseline() for row in rows}]
    status.tell_doubts([words.unsettled(*max(stuck)), words.about_negative_prices(below_zero(rows))])
    baselines = [ONLINE.curves(row[0].spec.baseline()).token for row in rows] if measure == "extra" else []
    best = [answers.v_star(row[0].spec) for row in rows]
    if measure == "share" and not all(best):
        measure = "per-episode"
        st.caption(explained(words.no_share(best)))
    parts = [
        (curve.spec.to_json(), ONLINE.curves(curve.spec).token, kind, title, note(run), value)
        for (curve, kind, title, run), value in zip(rows, best, strict=True)
    ]
    how |= {"wide": wide()}
    drawn = partial(comparison_picture, rows, best, cast(figures.Measure, measure), statistic, **how)
    key = ("regret", measure, statistic, *how.values(), *baselines, *parts)
    show(kept(key, lambda night: drawn(dark=night)), "regret", group="regret")


def below_zero(rows: Sequence[Row]) -> list[str]:
    """List the titles of finished runs whose privacy cost has an interval entirely below zero."""
    found = []
    for curve, _, title, _ in rows:
        spec, other = curve.spec, curve.spec.baseline()
        own, baseline = ONLINE.curves(spec), ONLINE.curves(other)
        if spec != other and own.whole(spec.seeds) and baseline.whole(spec.seeds):
            found += status.below_zero(title, own.ends - baseline.ends)
    return found


def comparison_picture(
    rows: Sequence[Row],
    best: Sequence[float | None],
    measure: figures.Measure,
    statistic: Statistic,
    **how: bool,
) -> Picture:
    """Draw the curves with a sentence about them. `best` has each run's V*, or None if it is unknown."""
    curves = []
    for (curve, kind, title, run), v_star in zip(rows, best, strict=True):
        baseline = ONLINE.curves(curve.spec.baseline()) if measure == "extra" else None
        made = curve.spec, ONLINE.curves(curve.spec), baseline, kind, title, measure, statistic
        curves.append(series_of(*made, note=note(run), finished=run.state == "done", v_star=v_star))
    see = sentences.about_regret(curves, measure, statistic)
    return figures.comparison(curves, view=measure, statistic=statistic, see=see, **how)


def played_page(
    title: str,
    curves: Sequence[Curve],
    view: View,
    replay: Callable[[RunSpec], dict[str, Any]],
    nav: str = "",
    sentence: str = "",
) -> str:
    """Return a page that plays the runs without a server, as HTML. `replay` returns the data of one run."""
    unnamed = [replace(curve, name="") for curve in curves]
    rows = zip(curves, titles(curves), titles(unnamed), kinds(curves), strict=True)
    played = []
    for curve, named, label, look in rows:
        runs = {n: replay(curve.spec.replace(episodes=n)) for n in sizes_of(curve.spec)}
        played.append(PlayedCurve(curve.spec, named, label, look, runs, curve.name))
    shown = Shown(drawn_there(view.measure), view.x, view.y, sentence)
    return player_page(
        title, in_common(curves, moving=True), played, shown, footer=f"dprl {version()['dprl']}", nav=nav
    )


def drawn_there(measure: str) -> PlayedMeasure:
    """Return the measure that a page without a server shows: Online's measure if possible, otherwise the first."""
    found: tuple[PlayedMeasure, ...] = get_args(PlayedMeasure)
    return next((one for one in found if one == measure), found[0])


def guarantee_tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Draw the guarantees of all visible curves, the details of one, and how much noise a guarantee needs."""
    curves = session().explore.shown
    places = offered("see a guarantee")
    if not places:
        return
    with st.expander("What does (ε, δ) mean?", icon=":material/help:"):
        st.markdown(said.SAID["meaning"])
    if len(places) > 1:
        compare(places, curves, titles)
    chosen = curve_menu("Curve in detail", places, titles)
    run = curves[chosen].spec
    guarantee, wrong = guarantee_of(run)
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
                with suppress(SpecError):  # this noise cannot be attacked
                    link = attack_link.encode(AttackSpec(run=run))
                    page_link("attack", "Attack this noise", link)
    if guarantee is not None and guarantee.ladder:
        st.markdown("## How much noise does a guarantee need?", anchors=False)
        st.markdown(explained(SAID["ladder"]))
        given = run.environment_params
        steps = [f"H = {given['H']}"] if "H" in given else []
        problem = ", ".join(
            [ENVIRONMENTS[run.environment].called(given), *steps, f"K = {count(run.episodes)}"]
        )
        show(kept(("ladder", run.to_json()), partial(ladder, guarantee, instance=problem)), "ladder")


def compare(places: Sequence[int], curves: Sequence[Curve], titles: Sequence[str]) -> None:
    """Draw a table of guarantees with a row for each curve."""
    rows: list[tuple[str, ...]] = [("Curve", "Privacy model", "Claimed", "Proved", IN_A_COUNT)]
    for i in places:
        run = curves[i].spec
        g, wrong = guarantee_of(run)
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
    if not any(noise.endswith("visits") for *_, noise in rows):  # the algorithms receive no counts
        rows = [row[:-1] for row in rows]
    rows.insert(1, ("---",) * len(rows[0]))
    if any("not known yet" in row for row in rows):
        st.caption(working_out("the claimed and proved guarantees"))
    with st.container(key="promises"):
        st.markdown(explained("\n".join(f"| {' | '.join(row)} |" for row in rows)))


def card(g: Guarantee, run: RunSpec, key: int) -> None:
    """Draw one run's guarantee in words and numbers, always in the same order."""
    model = PRIVATIZERS[run.privacy].words
    st.markdown(explained(f"**{model.promise}**{f' ({g.model})' if g.model != 'none' else ''}"))
    st.markdown(explained(escape(g.trust)))
    if run.bonus == OWN:
        st.markdown(explained(f":material/warning: {SAID['unproved']}"))
    if g.claimed_epsilon is None:
        return
    noise = SAID["noise"] + (f" {SAID['most_noise']}" if run.reports != "all" else "")
    verdict_and_budget(g, key, noise, model.blanked, calibrated=run.calibration == "calibrated")
    delta = g.proved_delta or 0.0
    if warning := said.against_users(delta, g.users or 0):
        st.caption(explained(warning))
    if g.returning is not None:
        st.caption(explained(said.returning(*g.returning, delta)))
    # the shuffler's noise consists of random bits, so it has no scale
    scaled = g.model != "SDP" and g.noise_scale is not None
    facts(g, f"{significant(g.noise_scale or 0.0)} visits" if scaled else "")
    every_promise(g, run, key)
    assumptions(g)


def every_promise(g: Guarantee, run: RunSpec, key: int) -> None:
    """Draw, on request, all guarantees that we prove for the noise: (ε, δ), zCDP, and the best attacker's gain."""
    part = st.expander("All proved (ε, δ)", on_change="rerun", key=f"promises_{key}")
    if not part.open:
        return
    with part:
        curves = answers.table("promise", run)
        if curves is None:
            st.caption(working_out("all (ε, δ)"))
            return
        st.markdown(explained(f"{attacks.advantage(curves['right'])} {attacks.concentrated(curves['rho'])}"))
        deltas, epsilons = curves["deltas"], curves["epsilons"]
        own = (g.proved_epsilon, g.proved_delta) if g.proved_epsilon and g.proved_delta else None
        see = attacks.about_epsilons(deltas, epsilons)
        line = np.array(deltas), np.array(epsilons)
        named = ("promise", "curve", run.to_json())
        drawn = kept(named, lambda night: epsilon_of_delta(*line, own=own, see=see, dark=night))
        show(drawn, f"promise_{key}")


def ladder(g: Guarantee, night: bool, instance: str = "") -> Picture:
    """Draw how a guarantee's noise shrinks step by step, and mark this run's noise. `instance` is the environment."""
    steps, mine = list(g.ladder), g.noise_std or 0.0
    own = next((i for i, s in enumerate(steps) if math.isclose(s.std, mine, rel_tol=said.EQUAL)), None)
    if own is None:
        ours = LadderStep(f"this run: {g.mechanism}", mine, g.proved_epsilon or 0.0, g.proved_delta or 0.0)
        own = next((i for i, s in enumerate(steps) if i > 1 and s.std < mine), len(steps))
        steps.insert(own, ours)
    how: dict[str, Any] = {"epsilon": g.claimed_epsilon, "instance": instance, "dark": night}
    return guarantee_figures.noise_ladder(steps, own=own, see=price.about_ladder(steps, own), **how)
