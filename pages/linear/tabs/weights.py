"""The tab Weights: estimated against true weights, at every step."""

from __future__ import annotations

from dprl import metrics
from dprl.figures import linear as figures
from dprl.figures.picture import Picture
from dprl.sentences import linear as sentences
from pages.linear.tabs.focus import BELIEFS, BeliefSelection
from pages.shared.layout.chart import kept, show
from pages.shared.layout.frame import dark


def tab() -> None:
    """All weights after some number of users."""
    found = BELIEFS.choose()
    if found is None:
        return
    night = dark()
    show(kept(("weights", found.key, night), lambda: weights_picture(found, night)), "weights")


def weights_picture(found: BeliefSelection, night: bool) -> Picture:
    """The figure, with what it says."""
    beliefs = found.trace.beliefs
    estimate, truth = beliefs["weights"][found.at], beliefs["truth"][found.at]
    widths = metrics.widths_over_steps(beliefs, found.trace.noisy, found.at)
    return figures.weights_over_steps(
        estimate,
        widths,
        truth,
        bound=found.bound,
        label=f"{found.title}, seed {found.trace.seed}",
        private=found.private,
        see=sentences.about_weights(estimate - truth, widths, found.bound, found.users),
        dark=night,
    )
