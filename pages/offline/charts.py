"""The tabs of the Offline page: three about all runs, and the others about one data set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from dprl.figures import counts
from dprl.figures.lines import Series
from dprl.figures.looks import numbered
from dprl.figures.picture import Picture
from dprl.figures.regret import distinct
from dprl.learners import OFFLINE
from dprl.messages.labels import called, phrase
from dprl.metrics.policies import bite, rarest
from dprl.research.series import comparable, gap_picture, gap_series, learned_picture, style_of
from dprl.sentences import offline as sentences
from dprl.sentences import promise as said
from dprl.sentences.offline import CLOSE
from dprl.simulation import OfflineSpec, OfflineTrace
from dprl.words import count, promise
from pages.offline.record import RUNS, SAID, offline
from pages.shared.controls import view
from pages.shared.layout.chart import empty, files, kept, make_again, show, tidy
from pages.shared.layout.frame import wide
from pages.shared.layout.terms import escape, explained
from pages.shared.names import episodes_each, places_apart, told_apart
from pages.shared.results import answers, data
from pages.shared.results.guarantee import promised
from pages.shared.results.status import awaited, note, working_out
from pages.shared.visitor.state import owner_id


def run_titles(specs: Sequence[OfflineSpec]) -> list[str]:
    """Return a distinct plain-text title for each run, with the environment and the algorithm if there are several."""
    several = len({spec.algorithm for spec in specs}) > 1
    labels = [place + label(spec, several) for place, spec in zip(places_apart(specs), specs, strict=True)]
    return distinct(told_apart(specs, labels))


def label(spec: OfflineSpec, named: bool) -> str:
    """Return a short name with the budget and, if `named` is true, the algorithm."""
    learned = phrase("rewards") if spec.rewards == "learned" else ""
    algorithm = OFFLINE[spec.algorithm].title if named else ""
    said = called(algorithm, promise_words(spec), episodes_each(spec), learned)
    return said[:1].upper() + said[1:] if said.startswith("no ") else said  # ρ and ε remain lower case


def promise_words(spec: OfflineSpec) -> str:
    """Describe the guarantee in a few words."""
    if spec.rho is not None:
        return f"ρ = {spec.rho:g}"
    if spec.epsilon is None:
        return "no privacy"
    return f"ε = {spec.epsilon:g}" if spec.delta is None else f"(ε, δ) = {promise(spec.epsilon, spec.delta)}"


def most_private(specs: Sequence[OfflineSpec]) -> int:
    """Return the index of the run with the strongest guarantee, or of the first such run if there are several."""
    return min(range(len(specs)), key=lambda i: comparable(specs[i]) or math.inf)


def chosen_spec() -> int:
    """Draw a menu of the runs. Return the index of the chosen one, by default the most private."""
    part, specs = offline(), offline().specs
    titles, first = run_titles(specs), most_private(specs)
    return view.menu(part, "Run", "curve", range(len(specs)), titles, otherwise=first)


def choose_data_set() -> tuple[OfflineTrace, int] | None:
    """Draw menus for the run, the seed and the size. Return the trace and the size's index, or None."""
    part, specs = offline(), offline().specs
    titles, owners = run_titles(specs), [owner_id("offline")] * len(specs)
    found = view.close_look(part, specs, titles, range(len(specs)), most_private(specs), owners)
    if found is None:
        return None
    trace: OfflineTrace = found[1]
    sizes = [int(n) for n in trace.detail_n]
    n = view.steps(part, "Trajectories in the data set", "n", sizes, count, otherwise=telling(trace))
    return trace, sizes.index(n)


def telling(trace: OfflineTrace) -> int:
    """Return the default data size: the largest whose policy is not good enough, or else the largest with details."""
    short = trace.curve.at[trace.curve.values > CLOSE * trace.v_star]
    return int(short[-1] if len(short) else trace.detail_n[-1])


def pessimism_tab() -> None:
    """Draw the heatmaps of the visits, the penalty, and the values before and after the penalty."""
    found = choose_data_set()
    if found is None:
        return
    trace, at = found
    step = view.step_menu(offline(), len(trace.policy[at]))
    key = ("pessimism", step, trace.spec.to_json(), trace.seed, at)
    show(kept(key, partial(pessimism_picture, trace, at, step)), "pessimism")


def pessimism_picture(trace: OfflineTrace, at: int, step: int | None, night: bool) -> Picture:
    spec, mdp, n = trace.spec, data.environment(trace.spec), int(trace.detail_n[at])
    released = trace.released.get("visits")
    E = max((float(error) for error in trace.errors.values()), default=0.0) if released is not None else 0.0
    bitten = bite(trace.Q_hat[at], trace.Q[at], trace.optimal_policy, trace.optimal_occupancy)
    private = spec.calibration is not None
    return counts.pessimism_of_cells(
        trace.visits[at],
        released[at] if released is not None and private else None,
        trace.penalty[at],
        trace.Q_hat[at],
        trace.Q[at],
        typical=trace.guarantee.noise_std or 0.0,
        n=n,
        state_labels=mdp.state_labels,
        action_labels=mdp.action_labels,
        step=step,
        see=sentences.about_pessimism(
            bitten,
            mdp.H,
            E=E or None,
            gap=float(trace.curve.values[list(trace.curve.at).index(n)]),
            v_star=trace.v_star,
            ranks=private and released is None and not spec.algorithm_params.get("D"),
        ),
        dark=night,
    )


def policy_tab() -> None:
    found = choose_data_set()
    if found is None:
        return
    trace, at = found
    draw = partial(learned_picture, trace, at, data.environment(trace.spec))
    key = ("offline-policy", trace.spec.to_json(), trace.seed, at)
    show(kept(key, lambda night: draw(dark=night)), "offline_steps")


def coverage_tab() -> None:
    """Draw how well the data from one behaviour policy cover the optimal policy."""
    specs = offline().specs
    one = len({(spec.environment, str(spec.environment_params), spec.behaviour) for spec in specs}) == 1
    spec = specs[0] if one else specs[chosen_spec()]
    found = answers.table("coverage", spec)
    if found is None:
        empty(working_out("what the data cover"))
        return
    mdp = data.environment(spec)
    behaviour, best = np.array(found["visits"]), np.array(found["best"])
    h, s, a = rarest(behaviour, best)
    where = f"{mdp.action_labels[a]} in {mdp.state_labels[s]} at step {h}"
    st.markdown(explained(sentences.about_coverage(found["optimal"], found["d_m"], where, spec.n)))
    step = view.step_menu(offline(), mdp.H)
    drawn = partial(
        counts.coverage_of_cells,
        behaviour,
        best,
        state_labels=mdp.state_labels,
        action_labels=mdp.action_labels,
        step=step,
        see=sentences.SAID["covered"],
    )
    key = ("coverage", step, spec.environment, str(spec.environment_params), spec.behaviour)
    show(kept(key, lambda night: drawn(dark=night)), "offline_coverage")


def gap_tab() -> None:
    """Draw the chart of suboptimality, and a table of the finished runs at one size."""
    specs = offline().specs
    best, room = best_of(specs), wide()
    if not any(len(RUNS.curves(spec).at) for spec in specs):
        empty(awaited(map(RUNS.status, specs)))
        return
    curves = curves_of(specs, best)
    parts = [
        (spec.to_json(), RUNS.curves(spec).token, curve.label, curve.note)
        for spec, curve in zip(specs, curves, strict=True)
    ]
    key = ("gap", room, best, *parts)
    show(kept(key, lambda night: gap_picture(curves, best, dark=night, wide=room)), "offline_gap")


def best_of(specs: Sequence[OfflineSpec]) -> float | None:
    """Return V* if all runs have the same environment and V* is known, else None."""
    problems = {(spec.environment, str(spec.environment_params)) for spec in specs}
    return answers.v_star(specs[0]) if len(problems) == 1 else None


def curves_of(specs: Sequence[OfflineSpec], best: float | None) -> list[Series]:
    """Return the runs' curves for the figure, in the central model's colours, because the curator is trusted."""
    looks, curves = numbered([style_of(spec) for spec in specs]), []
    for spec, title, look in zip(specs, run_titles(specs), looks, strict=True):
        run, known = RUNS.status(spec), RUNS.curves(spec)
        curves.append(gap_series(title, look, known, best, note=note(run), finished=run.state == "done"))
    return curves


def guarantee_tab() -> None:
    """Draw the guarantees of all runs next to each other. They follow from the specs alone."""
    specs = offline().specs
    with st.expander("What do (ε, δ) and ρ mean?", icon=":material/help:"):
        st.markdown(said.SAID["offline"])
    grid = st.grid("auto", min_column_width=330)
    for i, (spec, title) in enumerate(zip(specs, run_titles(specs), strict=True)):
        with grid.cell(), st.container(border=True, height="stretch"):
            st.markdown(f"## {escape(title)}", anchors=False)
            promised(spec, i)


def data_tab() -> None:
    """Draw downloads for the whole comparison, then the spec, code and command for one run."""
    specs = offline().specs
    known, best = [RUNS.curves(spec) for spec in specs], best_of(specs)
    table = tidy(run_titles(specs), known, "n", "gap")
    rows = zip(curves_of(specs, best), known, strict=True)
    drawn = [curve for curve, run in rows if run.begun]
    draw = partial(gap_picture, drawn, best, dark=False)
    files("gap", SAID["table"], table, specs, "Suboptimality, compared", draw)
    st.markdown("## Reproduce it without this page", anchors=False)
    make_again(specs[chosen_spec()])
