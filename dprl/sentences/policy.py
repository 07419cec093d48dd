"""Sentences about policies: their actions, visits and estimated values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.messages import filled, messages
from dprl.metrics.curves import Array
from dprl.words import human, percent, quoted

SAID = messages("charts")["policy"]

Actions = NDArray[np.integer[Any]]


def at_step(
    step: int,
    chosen: Actions,
    action_labels: Sequence[str],
    *,
    wrong: NDArray[np.bool_],
    reached: NDArray[np.bool_],
    over: float = 0.0,
    sure: Array | None = None,
) -> str:
    """Describe a policy's actions at one step in the states that it can reach by then.

    `chosen` and `wrong` [S] are the actions, and whether the optimal action is better. `over` is the share of episodes
    that have ended before this step. `sure` [S] is the probability of the likeliest action of a stochastic policy.
    """
    counts = np.bincount(chosen[reached].astype(int), minlength=len(action_labels))
    leading, lost = int(counts.argmax()), int((wrong & reached).sum())
    chosen_as, all_states = "chosen" if sure is None else "likeliest", len(chosen)
    told = {"action": quoted(action_labels[leading]), "states": counts[leading]}
    if reached.all():
        said = [filled(SAID[chosen_as], step=step, all=all_states, **told)]
    else:
        said = [filled(SAID["reached"], step=step, reached=reached.sum(), all=all_states)]
        said.append(filled(SAID[f"{chosen_as}_there"], **told))
    said.append(filled(SAID["worse"], states=lost) if lost else SAID["worse_nowhere"])
    if sure is not None:
        said.append(filled(SAID["sure"], chance=percent(float(sure[reached].mean()))))
    if over > 0:
        said.append(filled(SAID["over"], share=percent(over)))
    return " ".join(said if reached.all() else [*said, SAID["grey"]])


def about_steps(wrong: NDArray[np.bool_], weight: Array, sure: Array | None = None) -> str:
    """Describe in how many state-step pairs a policy is worse than optimal. `wrong` marks them, and `weight` is the
    optimal policy's probability of them (0 elsewhere). All arrays are [H,S]. For `sure`, see `at_step`."""
    what = SAID["wrong" if sure is None else "wrong_likeliest"]
    said = [filled(what, pairs=f"{int(wrong.sum()):,}", all=f"{wrong.size:,}")]
    said.append(filled(SAID["weight"], share=percent(float(weight.sum()) / len(wrong))))
    if sure is not None:
        said.append(filled(SAID["sure_pairs"], chance=percent(float(sure.mean()))))
    return " ".join(said)


def about_visits(occupancy: Array, state_labels: Sequence[str], shared: float) -> str:
    """Describe the states that a policy visits. `shared` is its share of time in the best policy's states."""
    favourite = int(occupancy.mean(axis=0).argmax())
    time = percent(float(occupancy[:, favourite].mean()))
    return filled(SAID["visits"], time=time, state=quoted(state_labels[favourite]), shared=percent(shared))


def about_chances(policy: Array, optimal_policy: Actions, weight: Array) -> str:
    """Describe the action probabilities [H,S,A] of a stochastic policy, along the optimal policy's path and overall."""
    right = np.take_along_axis(policy, optimal_policy[..., None].astype(int), -1)[..., 0]
    sure, share = policy.max(-1), float((right * weight).sum() / weight.sum())
    ends = {"mean": percent(float(sure.mean())), "least": percent(float(sure.min()))}
    return filled(SAID["chances"], share=percent(share), **ends)


def about_values(hopeful: float, excess: float, what: str, *, of_played: bool = False) -> str:
    """Describe how many estimated values are at least the optimal ones, and by how much at the first step. `of_played`
    means that the estimates are upper bounds only for the policy that was played."""
    meant = "of_played" if of_played else "holds" if hopeful == 1 else "fails"
    return " ".join(
        (
            filled(SAID["optimistic"], share=percent(hopeful), what=what),
            SAID[meant],
            filled(SAID["below" if excess < 0 else "above"], value=human(abs(excess))),
        )
    )
