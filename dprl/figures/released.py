"""Charts of a policy learned from a private data set next to the usual treatment, both from released counts alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.figures import graph, heat, steps, style
from dprl.figures.lines import Array
from dprl.figures.picture import Picture
from dprl.figures.steps import Policy

ALT = "Heatmaps of the action in each state at each step: by the policy, and most frequent among users."
FEW = "too few users to say"

Known = NDArray[np.bool_]


def most_often(visits: Array, E: float) -> tuple[Policy, Known]:
    """Find the action that users received most often, according to the released counts.

    Args:
        visits: [H, S, A], with noise.
        E: the bound on the error in a number of users.

    Returns:
        [H, S] the action, and [H, S] whether at least one user certainly received it.
    """
    return visits.argmax(-1), visits.max(-1) - E >= 1


class Changed(NamedTuple):
    """The places (a state at a step) in which the policy differs from the most frequent action, if both are known.

    Attributes:
        most: of these places the one with the most users, as (step, state, policy's action, users' action), or None.
        changed, lacking: of all `places`, the number that differ, and the number with too few users for the policy.
    """

    most: tuple[int, int, int, int] | None
    changed: int
    lacking: int
    places: int


def changed(policy: Policy, enough: Known, visits: Array, E: float) -> Changed:
    """Compare a policy with the most frequent actions; arguments are as in `policy_beside_usual`."""
    usual, known = most_often(visits, E)
    differs = enough & known & (policy != usual)
    users = np.where(differs, visits.sum(-1), -np.inf)
    h, s = (int(i) for i in np.unravel_index(int(users.argmax()), users.shape))
    most = (h, s, int(policy[h, s]), int(usual[h, s])) if differs.any() else None
    return Changed(most, int(differs.sum()), int((~enough).sum()), policy.size)


def policy_beside_usual(
    policy: Policy,
    enough: Known,
    visits: Array,
    E: float,
    *,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    somebody: str,
    first_step: int = 0,
    when: str = "",
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw the policy's action in every state at every step, next to the action that users received most often.

    Args:
        policy: [H, S].
        enough: [H, S] whether the policy decides: at least one user certainly received its action.
        visits, E: as in `most_often`.
        somebody: who decides if the policy does not.
        first_step: the number of the first step.
        when: the source of the records, for the subtitle.
    """
    A = len(action_labels)
    palette = [*graph.action_colors(A, dark), style.theme(dark).grid]
    names = np.array([*action_labels, FEW], object)
    scale: style.Scale = tuple(
        stop for a in range(A + 1) for stop in ((a / (A + 1), palette[a]), ((a + 1) / (A + 1), palette[a]))
    )
    usual, known = most_often(visits, E)

    def panel(name: str, actions: Policy, sure: Known, lacking: str) -> heat.Heatmap:
        drawn = np.where(sure, actions, A).T
        words = np.array([*action_labels, lacking], object)[drawn]
        return heat.Heatmap(name, drawn.astype(float), words, scale, -0.5, A + 0.5, form="", bar=False)

    panels = [
        panel("Policy", policy, enough, somebody),
        panel("Most frequent action", usual, known, FEW),
    ]
    chart = steps.over_steps(
        panels, "Policy and most frequent action", when, state_labels, dark, legend=True, first=first_step
    )
    used = sorted({*np.unique(panels[0].z).astype(int), *np.unique(panels[1].z).astype(int)})
    heat.name_colors(
        chart, [(names[a] if a == A else graph.worded(action_labels[a]), palette[a]) for a in used]
    )
    chart.layout["legend"] |= {"itemclick": False, "itemdoubleclick": False}
    columns = {
        "policy": names[policy].ravel(),
        "decides": np.where(enough, "policy", somebody).ravel(),
        "noisy episodes with this action": _taken(visits, policy).ravel(),
        "users got most often": names[np.where(known, usual, A)].ravel(),
        "noisy episodes with that action": _taken(visits, usual).ravel(),
    }
    table = steps.steps_table(len(policy), state_labels, columns, first_step)
    return chart.picture(ALT, see, table, revision="steps")


def _taken(visits: Array, actions: Policy) -> Array:
    """Return [H, S] the visits with the given action in each state at each step, to one decimal place."""
    return np.take_along_axis(visits, actions[..., None].astype(int), -1)[..., 0].round(1)
