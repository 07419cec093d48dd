"""Pulls of bad arms on the hard instances, next to the lower bound on what a private learner needs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.figures import pulls as figures
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.figures.pulls import PullCurve
from dprl.sentences import regret as sentences
from dprl.simulation import SeedTrace
from dprl.words import significant
from pages.explore.focus import begin_lacking
from pages.shared.layout.chart import kept, show
from pages.shared.layout.frame import dark
from pages.shared.layout.terms import explained
from pages.shared.names import kinds
from pages.shared.results import data
from pages.shared.text import escape
from pages.shared.visitor.links import Curve
from pages.shared.visitor.state import session

ENVIRONMENT = "hard-jdp"
SEEDS = 20  # whose pulls are counted, of each run
MOST_BETA = 0.25  # below which the lower bound says something
ROUNDING = 1e-9
DRAWN = "The line is drawn for every run, because we prove δ = 0. It uses the proved ε, and the run's β."
DRAWN_FOR = "The line is drawn for {runs}, because we prove δ = 0. It uses the proved ε, and the run's β."


def tab(titles: Sequence[str]) -> None:
    """Draw the chart for every visible run on the hard instances, and explain its dotted line."""
    s = session()
    found: list[tuple[Curve, CurveStyle, str, list[SeedTrace]]] = []
    for curve, kind, title in zip(s.explore.shown, kinds(s.explore.shown), titles, strict=True):
        if curve.hidden or curve.spec.environment != ENVIRONMENT:
            continue
        begin_lacking([curve.spec])
        seeds = [data.trace(curve.spec, i) for i in range(min(curve.spec.seeds, SEEDS))]
        finished = [t for t in seeds if t is not None and t.complete and len(t.detail_episodes)]
        if finished and bad_arms(finished[0]):
            found.append((curve, kind, title, finished))
    if not found:
        st.info(
            "There are no pulls of bad arms to show. Either no seed is finished, or all arms are equally good."
        )
        return
    said = [
        "An arm is bad when it falls short of the best arm in its start state by α, the largest difference here."
    ]
    if any(c.spec.seeds > SEEDS for c, *_ in found):
        said.append(f"From the first {SEEDS} seeds.")
    st.caption(" ".join(said))
    night = dark()
    key = ("pulls", night, *((c.spec.to_json(), kind, title, len(seeds)) for c, kind, title, seeds in found))
    show(kept(key, lambda: pulls_picture([pulls_series(*one) for one in found], night)), "pulls")
    conditions([(title, why_not(seeds[0])) for *_, title, seeds in found])


def pulls_picture(curves: Sequence[PullCurve], night: bool) -> Picture:
    """Draw the curves with a sentence about them."""
    return figures.pulls_over_episodes(curves, see=sentences.about_pulls(curves), dark=night)


def bad_arms(trace: SeedTrace) -> list[tuple[int, int]]:
    """List the (start state, action) pairs with the largest shortfall from the best action there."""
    short = gaps_to_best(trace)
    if short.max() <= ROUNDING:
        return []
    return [(int(s), int(a)) for s, a in np.argwhere(short > short.max() - ROUNDING)]


def gaps_to_best(trace: SeedTrace) -> metrics.Array:
    """[S, A] how much less likely an action of the first step is to reach + than the best one there. Being in +
    pays 1 a step, so this is the loss in value over H - 1. 0 if no episode begins."""
    short = trace.optimal_V[0][:, None] - trace.optimal_Q[0]
    starts = data.environment(trace.spec).d1 > 0
    steps = len(trace.optimal_V) - 1
    result: metrics.Array = np.where(starts[:, None], short, 0.0) / max(steps, 1)
    return result


def pulls_series(curve: Curve, kind: CurveStyle, title: str, seeds: Sequence[SeedTrace]) -> PullCurve:
    """One run as the figure wants it."""
    first, mdp = seeds[0], data.environment(curve.spec)
    arms = bad_arms(first)
    s, a = np.array(arms).T
    episodes, pulls = metrics.at_common_points([(t.detail_episodes, t.counts[:, 0, s, a, -2]) for t in seeds])
    gap = float(gaps_to_best(first).max())
    return PullCurve(
        mean=Series(title, kind, episodes, pulls.mean(axis=2), *metrics.regret_band(pulls.mean(axis=2))),
        arms=[f"{mdp.state_labels[i]}, {mdp.action_labels[j]}" for i, j in arms],
        gap=gap,
        each=np.reshape(metrics.regret_band(pulls.reshape(len(pulls), -1)), (3, *pulls.shape[1:])),
        bound=None if why_not(first) else bound(first, gap),
        bound_at=f"ε = {first.guarantee.proved_epsilon or 0:g}, α = {gap:.3g}, β = {curve.spec.beta or 0:g}",
    )


def bound(trace: SeedTrace, gap: float) -> float:
    """Return the lower bound for a run that it covers, at the epsilon that the run's noise proves."""
    g, beta = trace.guarantee, trace.spec.beta
    assert g.proved_epsilon is not None
    assert beta is not None
    return metrics.fewest_pulls(g.proved_epsilon, gap, beta)


def why_not(trace: SeedTrace) -> str:
    """Explain why the lower bound does not cover a run; "" if it does."""
    g = trace.guarantee
    if g.proved_epsilon is None:
        return "it guarantees no privacy"
    if g.proved_delta:
        return f"δ = {significant(g.proved_delta)} is proved for its noise, not 0"
    if trace.spec.beta is None or trace.spec.beta >= MOST_BETA:
        return f"its β is not below {MOST_BETA:g}"
    return ""


def conditions(runs: Sequence[tuple[str, str]]) -> None:
    """Explain the dotted line, and list the runs it covers."""
    spoken = [title for title, reason in runs if not reason]
    said = [
        "**The dotted line is context, not a test.** It is Lemma 8 of Vietri et al. (2020), about algorithms "
        "that are (ε, 0)-private and name the best arm with probability at least 1 − β on *every* instance. Such "
        "an algorithm pulls an arm that is worse by α at least ln(1/4β) / (24 ε α) times *in expectation*.",
        "No run here is proved right on every instance. A fixed number of users is too few for the smallest gaps.",
    ]
    if spoken:
        said.append(DRAWN if len(spoken) == len(runs) else DRAWN_FOR.format(runs=escape(", ".join(spoken))))
    else:
        said.append(
            "The line is not drawn, because we cannot prove δ = 0 for any run here. To see it, choose δ = 0 and a "
            "Laplace mechanism."
        )
    said += [f"Not drawn for {escape(title)}: {escape(reason)}." for title, reason in runs if reason]
    st.markdown(explained("\n".join(f"- {line}" for line in said)))
