"""The tabs that show one run and one data set in detail: Pessimism, Policy and Coverage."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.figures import dataset_cells, steps
from dprl.figures.picture import Picture
from dprl.research.series import learned_picture
from dprl.sentences import offline as sentences
from dprl.sentences.offline import CLOSE
from dprl.simulation import OfflineSpec, OfflineTrace
from dprl.words import count
from pages.offline import names
from pages.offline.record import offline
from pages.shared.controls import view
from pages.shared.layout.chart import empty, kept, show
from pages.shared.layout.terms import explained
from pages.shared.results import answers, data
from pages.shared.results.status import ACTIVE, act, price, working_out
from pages.shared.visitor.state import ask, begin, owner_id


class DataSetSelection(NamedTuple):
    """The visitor's choice: a run with its trace, and one of its data sets with details. at: its index; n: its size."""

    spec: OfflineSpec
    title: str
    trace: OfflineTrace
    at: int
    n: int

    @property
    def key(self) -> tuple[str, int, int]:
        """Return a key that identifies the data set."""
        return self.spec.to_json(), self.trace.seed, self.n

    @property
    def gap(self) -> float:
        """Return the suboptimality of the policy learned from it."""
        return float(self.trace.curve.values[list(self.trace.curve.at).index(self.n)])


def chosen_spec() -> int:
    """Draw a menu of the runs; return the index of the chosen one, by default the most private."""
    part, specs = offline(), offline().specs
    titles, first = names.titles(specs), names.most_private(specs)
    return view.menu(part, "Run", "curve", range(len(specs)), titles, otherwise=first)


def choose_data_set() -> DataSetSelection | None:
    """Draw menus for run, repetition and size; return None after showing the reason if there is nothing to show.
    Bundled results contain curves only, so the run itself is requested here."""
    left, right = st.columns([3, 2], wrap=False)
    with left:
        chosen = chosen_spec()
    spec = offline().specs[chosen]
    with right:
        seed = view.seed_menu(offline(), "Data set", spec.seeds)
    trace = data.trace(spec, seed)
    if trace is None or not len(trace.detail_n):
        absent(spec)
        return None
    sizes = [int(n) for n in trace.detail_n]
    n = view.steps(offline(), "Trajectories in the data set", "n", sizes, count, otherwise=telling(trace))
    return DataSetSelection(spec, names.titles(offline().specs)[chosen], trace, sizes.index(n), n)


def absent(spec: OfflineSpec) -> None:
    """Request a run that nobody has requested yet, and show its status."""
    owner = owner_id("offline")
    run = data.status(spec, owner)
    if run.state in ACTIVE:
        empty("The counts and policies appear when this data set is finished.")
        return
    cost = ""
    if run.state in ("unknown", "done"):
        if begin([spec], owner):
            st.rerun()
        cost = f": {price([spec])}"
    empty(f"This data set was not computed{cost}.")
    act("Run it", "play_arrow", lambda: ask([spec], owner, again=True), "close_look")


def telling(trace: OfflineTrace) -> int:
    """Return the default size: the largest that is not enough yet, else the largest with details."""
    short = trace.curve.at[trace.curve.values > CLOSE * trace.v_star]
    return int(short[-1] if len(short) else trace.detail_n[-1])


def pessimism_tab() -> None:
    """Draw the heatmaps of visits, penalty, and values before and after it."""
    found = choose_data_set()
    if found is None:
        return
    step = view.step_menu(offline(), len(found.trace.policy[found.at]))
    show(kept(("pessimism", step, found.key), partial(pessimism_picture, found, step)), "pessimism")


def pessimism_picture(found: DataSetSelection, step: int | None, night: bool) -> Picture:
    """Draw the heatmaps of one data set with their sentence."""
    trace, at, mdp = found.trace, found.at, data.environment(found.spec)
    released = trace.released.get("visits")
    E = max((float(error) for error in trace.errors.values()), default=0.0) if released is not None else 0.0
    bitten = metrics.bite(trace.Q_hat[at], trace.Q[at], trace.optimal_policy, trace.optimal_occupancy)
    private = found.spec.calibration is not None
    return dataset_cells.pessimism_of_cells(
        trace.visits[at],
        released[at] if released is not None and private else None,
        trace.penalty[at],
        trace.Q_hat[at],
        trace.Q[at],
        typical=trace.guarantee.noise_std or 0.0,
        n=found.n,
        state_labels=mdp.state_labels,
        action_labels=mdp.action_labels,
        step=step,
        see=sentences.about_pessimism(
            bitten,
            mdp.H,
            E=E or None,
            gap=found.gap,
            v_star=trace.v_star,
            ranks=private and released is None and not found.spec.algorithm_params.get("D"),
        ),
        dark=night,
    )


CHARTS = {"steps": "Actions", "V": "Lower bound V~"}


def policy_tab() -> None:
    """Draw the policy learned from one data set."""
    found = choose_data_set()
    if found is None:
        return
    with st.container(key="policy_view"):
        chart = view.segments(offline(), "Chart", "drawn", CHARTS)
    draw = actions if chart == "steps" else values
    show(kept(("offline-policy", chart, found.key), partial(draw, found)), f"offline_{chart}")


def actions(found: DataSetSelection, night: bool) -> Picture:
    """Draw the learned and optimal policies, their differences, and the share of users who took the learned action."""
    return learned_picture(found.trace, found.at, data.environment(found.spec), dark=night)


def values(found: DataSetSelection, night: bool) -> Picture:
    """Draw the lower bounds next to the optimal values."""
    trace, at, mdp = found.trace, found.at, data.environment(found.spec)
    below = float(np.mean(trace.V[at] <= trace.optimal_V + 1e-9))
    start = float(trace.lower[list(trace.curve.at).index(found.n)])
    return steps.state_values(
        trace.V[at],
        trace.optimal_V,
        state_labels=mdp.state_labels,
        when=f"from {sentences.trajectories(found.n)}",
        see=sentences.low_values(below, start, trace.v_star),
        dark=night,
    )


def coverage_tab() -> None:
    """Draw how well the data of one behaviour policy cover the optimal policy."""
    specs = offline().specs
    one = len({(spec.environment, str(spec.environment_params), spec.behaviour) for spec in specs}) == 1
    spec = specs[0] if one else specs[chosen_spec()]
    found = answers.coverage(spec)
    if found is None:
        empty(working_out("what the data cover"))
        return
    mdp = data.environment(spec)
    behaviour, best = np.array(found["visits"]), np.array(found["best"])
    h, s, a = metrics.rarest(behaviour, best)
    where = f"{mdp.action_labels[a]} in {mdp.state_labels[s]} at step {h}"
    st.markdown(explained(sentences.about_coverage(found["optimal"], found["d_m"], where, spec.n)))
    step = view.step_menu(offline(), mdp.H)
    picture = kept(
        ("coverage", step, spec.environment, str(spec.environment_params), spec.behaviour),
        lambda night: dataset_cells.coverage_of_cells(
            behaviour,
            best,
            state_labels=mdp.state_labels,
            action_labels=mdp.action_labels,
            step=step,
            see=sentences.COVERED,
            dark=night,
        ),
    )
    show(picture, "offline_coverage")
