"""The tab Eigenvalues: how much each direction of the weights has been seen, against what noise can do."""

from __future__ import annotations

from dprl import metrics
from dprl.figures import linear as figures
from dprl.figures.picture import Picture
from dprl.sentences import linear as sentences
from pages.linear.tabs.focus import BELIEFS, BeliefSelection, step_of
from pages.shared.layout.chart import kept, show
from pages.shared.layout.frame import dark


def tab() -> None:
    """Of the matrix of one step, over users."""
    found = BELIEFS.choose()
    if found is None:
        return
    h = step_of(found)
    night = dark()
    show(
        kept(("eigenvalues", found.key, h, night), lambda: eigenvalues_picture(found, h, night)),
        "eigenvalues",
    )


def eigenvalues_picture(found: BeliefSelection, h: int, night: bool) -> Picture:
    """The figure of one step, with what it says of the moment looked at."""
    beliefs = found.trace.beliefs
    quiet = metrics.spectrum(found.sums, h)
    return figures.eigenvalues(
        found.trace.detail_episodes,
        quiet,
        metrics.spectrum(found.trace.noisy, h) if found.private else None,
        shift=beliefs["shift"][:, h],
        ridge=beliefs["ridge"][:, h],
        label=f"{found.title}, seed {found.trace.seed}, step {h}",
        see=sentences.eigenvalues(
            quiet[found.at], float(beliefs["shift"][found.at, h]), found.users, found.private
        ),
        dark=night,
    )
