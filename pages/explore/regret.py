"""The tab Regret: what learning has cost so far, one curve for each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import streamlit as st

from dprl import metrics
from dprl.figures import regret as figures
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.messages import messages
from dprl.research.one_user import content, drawable
from dprl.research.series import series_of
from dprl.runs.status import RunStatus
from dprl.sentences import doubts as words
from dprl.sentences import regret as sentences
from dprl.simulation import RunSpec
from dprl.words import plural
from pages.explore.look import absent, curve_menu, going
from pages.shared.controls import view
from pages.shared.layout.chart import empty, kept, show
from pages.shared.layout.frame import page_link, wide
from pages.shared.layout.terms import explained
from pages.shared.names import kinds
from pages.shared.one_user import one_user
from pages.shared.results import answers, data, status
from pages.shared.results.status import ACTIVE, ONLINE, awaited, note
from pages.shared.visitor import links
from pages.shared.visitor.callbacks import button
from pages.shared.visitor.links import STATISTICS, Curve
from pages.shared.visitor.state import ExploreState, add, session, write_address
from pages.users.link import asked_of, encode

Row = tuple[Curve, CurveStyle, str, RunStatus]  # a curve, its look, its title, and how its run stands
MEASURES = {
    "share": "Share lost",
    "cumulative": "Cumulative",
    "per-episode": "Per episode",
    "extra": "Privacy cost",
}


def tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Draw the controls of the view, the chart, and the runs without privacy that one view needs."""
    s = session()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="regret_view"):
        measure = view.segments(s.explore, "Regret shown", "measure", MEASURES)
        with st.popover("Axes and seeds", icon=":material/tune:"):
            averages = {str(one): one.capitalize() for one in STATISTICS}
            view.segments(s.explore, "Average over seeds", "statistic", averages)
            log_x = view.switch(s.explore, "Logarithmic episode axis", "x", "log", "linear")
            log_y = view.switch(s.explore, "Logarithmic regret axis", "y", "log", "linear")
            each = view.switch(s.explore, "A line for every seed", "each", "on", "off")
        if going(runs):
            status.pause_switch()
    if measure == "extra":
        private = [curve for curve in s.explore.visible if curve.spec.privacy != "none"]
        if missing := [curve for curve in private if not has_baseline(curve)]:
            offer_baselines(missing)
    rows = [
        row
        for row in zip(s.explore.shown, kinds(s.explore.shown), titles, runs, strict=True)
        if not row[0].hidden and (measure != "extra" or has_baseline(row[0]))
    ]
    if not any(len(ONLINE.curves(row[0].spec).at) for row in rows):
        no_regret_yet(measure, s.explore.shown, runs)
        return
    regret_chart(rows, measure, s.explore.view.statistic, log_x=log_x, log_y=log_y, each=each)
    if st.context.is_embedded:
        return
    page_link("users", "How many users do I need for this?", encode(asked_of(asked_about(s.explore))))
    part = st.expander("One user, step by step", on_change="rerun", key="learner")
    if part.open:
        with part:
            learner_at_work(titles, runs)


def learner_at_work(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Draw one user who follows what a run has learned, and the menu of runs."""
    s = session()
    said = messages("one_user")
    offered = [i for i, one in enumerate(s.explore.shown) if not one.hidden]
    chosen = curve_menu("Curve", offered, titles)
    spec = s.explore.shown[chosen].spec
    mdp = data.environment(spec)
    if not drawable(mdp):
        st.caption(said["large"])
        return
    trace = data.trace(spec, s.explore.view.seed if s.explore.view.seed < spec.seeds else 0)
    if trace is None or not len(trace.detail_episodes):
        absent(spec, titles[chosen], runs[chosen])
        return
    key = f"{spec.to_json()}#{trace.seed}#{trace.episodes[-1]}"
    one_user(key, lambda: content(mdp, trace))


def asked_about(shown: ExploreState) -> RunSpec:
    """Return the run to look at closely: the last one that was run; a private one, if there is one."""
    curves, at = shown.shown, shown.view.curve
    if not (0 <= at < len(curves)) or curves[at].spec.privacy == "none":
        at = links.most_private(curves)
    return curves[at].spec


def no_regret_yet(measure: str, curves: Sequence[Curve], runs: Sequence[RunStatus]) -> None:
    """Draw the placeholder of the chart."""
    if not session().explore.visible:
        empty("All curves are hidden. Show one to see its regret.")
    elif any(run.state in ACTIVE for run in runs):
        empty(awaited(runs, [curve.spec for curve in curves]))
    elif measure == "extra":
        empty("No private curve is shown, so there is no privacy cost to measure.")
    else:
        empty("Nothing has been computed.")


def offer_baselines(missing: Sequence[Curve]) -> None:
    """Offer to run the missing baselines: the privacy cost is measured against the same run without privacy."""
    with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
        st.markdown(
            explained(
                "The privacy cost is the regret beyond that of the same run without privacy. That run is missing for "
                f"{plural(len(missing), 'curve')}."
            ),
            width="stretch",
        )
        button("Run without privacy", run_baselines, missing, icon="play_arrow", type="primary")


def run_baselines(missing: Sequence[Curve]) -> None:
    """Run them without privacy, each as a curve of its own if there is room, else unseen."""
    for curve in missing:
        add(curve.spec.baseline())
    write_address(session().explore)
    st.rerun()


def has_baseline(curve: Curve) -> bool:
    """Return whether the privacy cost of this curve is known."""
    return curve.spec.privacy != "none" and len(ONLINE.curves(curve.spec.baseline()).at) > 0


def regret_chart(
    rows: Sequence[Row],
    measure: str,
    statistic: metrics.Statistic,
    *,
    log_x: bool,
    log_y: bool,
    each: bool,
) -> None:
    """Draw the chart of these runs, below what cannot be read off it."""
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
    how = {"log_x": log_x, "log_y": log_y, "show_seeds": each, "wide": wide()}
    picture = kept(
        ("regret", measure, statistic, *how.values(), *baselines, *parts),
        lambda night: comparison_picture(
            rows, best, cast(figures.Measure, measure), statistic, dark=night, **how
        ),
    )
    show(picture, "regret", group="regret")


def below_zero(rows: Sequence[Row]) -> list[str]:
    """List the titles of finished runs whose price of privacy lies below zero with its whole interval."""
    found = []
    for curve, _, title, _ in rows:
        own, baseline = ONLINE.curves(curve.spec), ONLINE.curves(curve.spec.baseline())
        if (
            curve.spec.privacy != "none"
            and own.done.all()
            and baseline.done.all()
            and len(own.values) == len(baseline.values) > 0
        ):
            found += status.below_zero(title, own.ends - baseline.ends)
    return found


def comparison_picture(
    rows: Sequence[Row],
    best: Sequence[float | None],
    measure: figures.Measure,
    statistic: metrics.Statistic,
    **how: bool,
) -> Picture:
    """Draw the curves with a sentence about them. best: the value of an optimal episode of each, if it is known."""
    curves = []
    for (curve, kind, title, run), v_star in zip(rows, best, strict=True):
        baseline = ONLINE.curves(curve.spec.baseline()) if measure == "extra" else None
        made = curve.spec, ONLINE.curves(curve.spec), baseline, kind, title, measure, statistic
        curves.append(series_of(*made, note=note(run), finished=run.state == "done", v_star=v_star))
    see = sentences.about_regret(curves, measure, statistic)
    return figures.comparison(curves, view=measure, statistic=statistic, see=see, **how)
