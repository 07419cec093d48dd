"""The tab Pessimism: the data set as the learner sees it, and the effect of its uncertainty on the actions' values."""

from __future__ import annotations

from dprl import metrics
from dprl.figures import dataset_cells as figures
from dprl.figures.picture import Picture
from dprl.sentences import offline as sentences
from pages.offline.tabs.focus import DataSetSelection, choose_data_set, step_menu
from pages.shared.layout.chart import kept, show
from pages.shared.layout.frame import dark
from pages.shared.results import data


def tab() -> None:
    """Visits, penalty, and values before and after it."""
    found = choose_data_set()
    if found is None:
        return
    step = step_menu(len(found.trace.policy[found.at]))
    night = dark()
    show(
        kept(("pessimism", step, night, found.key), lambda: pessimism_picture(found, step, night)),
        "pessimism",
    )


def pessimism_picture(found: DataSetSelection, step: int | None, night: bool) -> Picture:
    """Draw the heatmaps of one data set, with their sentence."""
    trace, at, mdp = found.trace, found.at, data.environment(found.spec)
    released = trace.released.get("visits")
    E = max((float(error) for error in trace.errors.values()), default=0.0) if released is not None else 0.0
    bitten = metrics.bite(trace.Q_hat[at], trace.Q[at], trace.optimal_policy, trace.optimal_occupancy)
    private = found.spec.calibration is not None
    return figures.pessimism_of_cells(
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
