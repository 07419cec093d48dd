"""Sentences about policies: their actions, visits and estimated values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.messages import filled, messages
from dprl.metrics import Array, action_shares
from dprl.words import human, percent, quoted

SAID = messages("charts")["policy"]

Actions = NDArray[np.integer[Any]]


def at_step(
    step: int,
    chosen: Actions,
    action_labels: Sequence[str],
    *,
    wrong: NDArray[np.bool_] | None = None,
    reached: NDArray[np.bool_] | None = None,
    over: float = 0.0,
    sure: Array | None = None,
) -> str:
    """Describe the actions chosen at one step, [S].

    Args:
        wrong: [S] whether the optimal policy does better, None if it is unknown.
        reached: [S] whether the policy can reach a state at this step; only these states count; None for all.
        over: the share of episodes that have ended before this step.
        sure: [S] the probability of the likeliest action if the policy is stochastic.
    """
    there = np.ones(len(chosen), bool) if reached is None else reached
    counts = np.bincount(chosen[there].astype(int), minlength=len(action_labels))
    leading = int(counts.argmax())
    chosen_as = "chosen" if sure is None else "likeliest"
    told = {"action": quoted(action_labels[leading]), "states": counts[leading]}
    if there.all():
        said = [filled(SAID[chosen_as], step=step, all=len(chosen), **told)]
    else:
        said = [filled(SAID["reached"], step=step, reached=there.sum(), all=len(chosen))]
        said.append(filled(SAID[f"{chosen_as}_there"], **told))
    if wrong is not None:
        lost = int((wrong & there).sum())
        said.append(filled(SAID["worse"], states=lost) if lost else SAID["worse_nowhere"])
    if sure is not None:
        said.append(filled(SAID["sure"], chance=percent(float(sure[there].mean()))))
    if over > 0:
        said.append(filled(SAID["over"], share=percent(over)))
    if not there.all():
        said.append(SAID["grey"])
    return " ".join(said)


def about_steps(
    policy: Actions,
    action_labels: Sequence[str],
    *,
    wrong: NDArray[np.bool_] | None = None,
    weight: Array | None = None,
    sure: Array | None = None,
) -> str:
    """Describe a whole policy [H,S].

    Args:
        wrong: [H,S] whether it is worse than the optimal one.
        weight: [H,S] the optimal policy's probability of each state where it is worse.
        sure: [H,S] the probability of its likeliest action if the policy is stochastic.
    """
    if wrong is None:
        shares = action_shares(policy, len(action_labels))
        played = [
            filled(SAID["in_share"], action=quoted(action_labels[a]), share=percent(shares[a]))
            for a in np.argsort(-shares, kind="stable")[:3]
            if shares[a]
        ]
        return filled(SAID["plays"], actions=", ".join(played))
    what = SAID["wrong" if sure is None else "wrong_likeliest"]
    said = [filled(what, pairs=f"{int(wrong.sum()):,}", all=f"{wrong.size:,}")]
    if weight is not None:
        said.append(filled(SAID["weight"], share=percent(float(weight.sum()) / len(wrong))))
    if sure is not None:
        said.append(filled(SAID["sure_pairs"], chance=percent(float(sure.mean()))))
    return " ".join(said)


def about_visits(occupancy: Array, state_labels: Sequence[str], shared: float | None = None) -> str:
    """Describe a policy's visits, occupancy [H,S]. shared: the share of time that it spends like the optimal one."""
    favourite = int(occupancy.mean(axis=0).argmax())
    time = percent(float(occupancy[:, favourite].mean()))
    said = f"The policy spends {time} of its time in {quoted(state_labels[favourite])}."
    if shared is not None:
        said += f" For {percent(shared)} of its time it is where the optimal policy would be at that step."
    return said


def about_chances(policy: Array, optimal_policy: Actions, weight: Array) -> str:
    """Describe a stochastic policy [H,S,A]. weight: [H,S] the optimal policy's probability of a state at a step."""
    right = np.take_along_axis(policy, optimal_policy[..., None].astype(int), -1)[..., 0]
    sure, share = policy.max(-1), float((right * weight).sum() / weight.sum())
    return (
        "Along the optimal policy's path, this policy takes the optimal action with a probability of "
        f"{percent(share)}. Over states and steps, the likeliest action has a probability of "
        f"{percent(float(sure.mean()))} on average, and of at least {percent(float(sure.min()))}."
    )


def about_values(hopeful: float, excess: float, what: str, *, of_played: bool = False) -> str:
    """Describe the distance of the estimates from the optimum.

    Args:
        hopeful: the share of estimates that are at least the optimum.
        excess: their mean excess at the first step.
        what: the unit that has one estimate each, in words.
        of_played: whether the estimates are upper bounds only for the policy that was played.
    """
    meant = "of_played" if of_played else "holds" if hopeful == 1 else "fails"
    return " ".join(
        (
            filled(SAID["optimistic"], share=percent(hopeful), what=what),
            SAID[meant],
            filled(SAID["below" if excess < 0 else "above"], value=human(abs(excess))),
        )
    )
