"""About policies: what they do, where they go, what they seem worth, and how stages narrowed them down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.metrics import Array, action_shares
from dprl.words import human, percent, plural, quoted

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
    """The actions chosen at one step, [S].

    Args:
        wrong: [S] where the optimal policy does better, None without one.
        reached: [S] where this policy can be at this step: only these states are counted; None for all.
        over: the share of episodes that are over by then.
        sure: [S] the chance of that action, where the policy is a stochastic one.
    """
    there = np.ones(len(chosen), bool) if reached is None else reached
    counts = np.bincount(chosen[there].astype(int), minlength=len(action_labels))
    leading = int(counts.argmax())
    chooses = "the policy chooses" if sure is None else "the likeliest action is"
    action = quoted(action_labels[leading])
    if there.all():
        said = [f"At step {step} {chooses} {action} in {counts[leading]} of {len(chosen)} states."]
    else:
        said = [f"At step {step} the policy can be in {there.sum()} of {len(chosen)} states."]
        said.append(f"There {chooses} {action} in {counts[leading]} of these states.")
    if wrong is not None:
        lost = int((wrong & there).sum())
        said.append(f"The optimal policy does better in {lost or 'none'} of them.")
    if sure is not None:
        said.append(
            f"The likeliest action of a state has chance {percent(float(sure[there].mean()))} on average."
        )
    if over > 0:
        said.append(f"By then {percent(over)} of the episodes are over.")
    if not there.all():
        said.append("The policy is never in the grey states at this step, so its action there costs nothing.")
    return " ".join(said)


def about_steps(
    policy: Actions,
    action_labels: Sequence[str],
    *,
    wrong: NDArray[np.bool_] | None = None,
    weight: Array | None = None,
    sure: Array | None = None,
) -> str:
    """A whole policy [H,S].

    Args:
        wrong: [H,S] where it is worse than the optimal one.
        weight: [H,S] how often the optimal policy is where it is worse.
        sure: [H,S] the chance of its action, where the policy is a stochastic one.
    """
    if wrong is None:
        return "The policy plays " + _played(policy, action_labels) + "."
    what = "The policy" if sure is None else "The likeliest action"
    said = (
        f"{what} is worse than the optimal policy in {int(wrong.sum()):,} of {wrong.size:,} state-step pairs."
    )
    if weight is not None:
        said += f" The optimal policy spends {percent(float(weight.sum()) / len(wrong))} of its time in these pairs."
    if sure is not None:
        said += f" The likeliest action has chance {percent(float(sure.mean()))} on average."
    return said


def _played(policy: Actions, action_labels: Sequence[str]) -> str:
    shares = action_shares(policy, len(action_labels))
    order = np.argsort(-shares, kind="stable")[:3]
    return ", ".join(f"{quoted(action_labels[a])} in {percent(shares[a])}" for a in order if shares[a])


def about_visits(occupancy: Array, state_labels: Sequence[str], shared: float | None = None) -> str:
    """Of occupancy [H,S]. shared: the share of time spent as the optimal policy would."""
    favourite = int(occupancy.mean(axis=0).argmax())
    time = percent(float(occupancy[:, favourite].mean()))
    said = f"The policy spends {time} of its time in {quoted(state_labels[favourite])}."
    if shared is not None:
        said += f" For {percent(shared)} of its time it is where the optimal policy would be at that step."
    return said


def about_chances(policy: Array, optimal_policy: Actions, weight: Array) -> str:
    """Of chances [H,S,A]. weight: [H,S] how often the optimal policy is in a state, at a step."""
    right = np.take_along_axis(policy, optimal_policy[..., None].astype(int), -1)[..., 0]
    sure, share = policy.max(-1), float((right * weight).sum() / weight.sum())
    return (
        f"The policy takes the optimal action with chance {percent(share)} where the optimal policy goes. "
        f"The likeliest action has chance {percent(float(sure.mean()))} on average over states and steps, "
        f"and at least {percent(float(sure.min()))}."
    )


def about_values(
    hopeful: float, excess: float, what: str, *, of_played: bool = False, drawn: bool = False
) -> str:
    """How close the estimates are to the optimum.

    Args:
        hopeful: share of the estimates that are at least the optimum.
        excess: their mean excess at the first step.
        what: of which there is one each.
        of_played: they are of the policy that was played, which alone they are meant to be above.
        drawn: they are drawn, and meant to be above the optimum now and then.
    """
    meant = "Optimism holds." if hopeful == 1 else "Optimism fails in the rest."
    if of_played:
        meant = "The estimate is meant to be above the value of the policy played, not above the optimum."
    if drawn:
        meant = "The estimate is drawn anew at every release. It is meant to be above the optimum only now and then."
    where = "below" if excess < 0 else "above"
    return (
        f"The estimate is at least the true optimum in {percent(hopeful)} of the {what}. {meant} At the first step the "
        f"estimate is {human(abs(excess))} {where} the optimum on average."
    )


def about_stages(series: Mapping[str, Array], *, stages: int, policies: int, v_star: float) -> str:
    """Of the stages of one seed: series [stages] each."""
    if stages and "active policies" in series:
        left = float(series["active policies"][-1])
        said = f"After {plural(stages, 'stage')} {human(left)} of {human(policies)} policies "
        said += "is left." if left == 1 else "are left."
        if "confidence width" in series:
            width = float(series["confidence width"][-1])
            said += f" Policies that are more than {human(width)} worse than the best could be told apart."
            if width > v_star:
                said += (
                    f" That is more than an episode can earn (V* = {v_star:#.3g}), so more users are needed."
                )
        return said
    if stages and {"best estimate", "confidence width"} <= set(series):
        best, width = float(series["best estimate"][-1]), float(series["confidence width"][-1])
        said = f"After {plural(stages, 'stage')} the best policy is estimated to earn {human(best)} "
        said += f"(V* = {v_star:#.3g})."
        if width < best:
            return (
                f"{said} The next stage explores with policies that are estimated to earn at least "
                f"{human(best - width)} an episode."
            )
        return f"{said} The confidence width {human(width)} is still larger, so no policy is dropped yet."
    return "No stage is finished yet."
