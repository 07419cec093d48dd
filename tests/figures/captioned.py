"""Charts as pages draw them: numbers from metrics, the sentence from sentences, the figure from both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np

from dprl.figures import counts, grid, guarantee, policy, regret, steps, tradeoff
from dprl.figures import trust as home
from dprl.figures.lines import Series
from dprl.figures.picture import Picture
from dprl.metrics.policies import count_noise, optimism, worse_actions
from dprl.sentences import noise, price
from dprl.sentences import policy as about_policies
from dprl.sentences import regret as about_regret


def said(draw: Callable[..., Picture], say: Callable[..., str]) -> Callable[..., Picture]:
    """A chart with the sentence that is made of the same arguments."""
    known = signature(say).parameters

    def both(drawn: Any, **how: Any) -> Picture:
        return draw(drawn, see=say(drawn, **{name: how[name] for name in how if name in known}), **how)

    return both


ladder = said(guarantee.noise_ladder, price.about_ladder)


def comparison(curves: Sequence[Series], *, view: regret.Measure = "cumulative", **how: Any) -> Picture:
    return said(regret.comparison, about_regret.about_regret)(curves, view=view, **how)


def heatmaps(
    true: Any, noisy: Any, *, step: int | None = None, bound: float | None = None, **how: Any
) -> Picture:
    here = slice(None) if step is None else step
    found = count_noise(true[here], noisy[here])
    said = noise.about_cells(found, bound=bound, **{k: how[k] for k in ("word", "family") if k in how})
    return counts.count_heatmaps(true, noisy, step=step, typical=found.typical, see=said, **how)


def on_environment(P: Any, chosen: Any, *, optimal_Q: Any = None, **how: Any) -> Picture:
    step, labels, seen = how["step"], how["action_labels"], how["occupancy"][how["step"]]
    chances = how.get("chances")
    wrong = worse_actions(chosen, how["optimal_policy"], optimal_Q)[step] & (seen > 0)
    said = about_policies.at_step(
        step,
        chosen[step],
        labels,
        wrong=wrong,
        reached=seen > 0,
        over=grid.chance_over(how["drawing"], seen),
        sure=None if chances is None else chances[step].max(-1),
    )
    return policy.policy_on_environment(P, chosen, wrong=wrong, see=said, **how)


def over_steps(chosen: Any, *, optimal_Q: Any = None, sure: Any = None, **how: Any) -> Picture:
    wrong = worse_actions(chosen, how["optimal_policy"], optimal_Q)
    weight = np.where(wrong, how["optimal_occupancy"], 0.0)
    said = about_policies.about_steps(wrong, weight, sure)
    return steps.policy_by_step(chosen, wrong=wrong, weight=weight, sure=sure, see=said, **how)


def values(V: Any, optimal_V: Any, **how: Any) -> Picture:
    said = about_policies.about_values(*optimism(V, optimal_V), "state-step pairs")
    return steps.state_values(V, optimal_V, see=said, **how)


def trust(by_epsilon: Mapping[float, Sequence[home.Cost]], *, epsilon: float, **how: Any) -> Picture:
    return home.lost_by_trust(
        by_epsilon, epsilon=epsilon, see=price.about_trust(by_epsilon[epsilon], epsilon), **how
    )


def frontier(
    curves: Sequence[tradeoff.Frontier], *, measure: tradeoff.Measure, symbol: str, **how: Any
) -> Picture:
    said = price.about_frontier(curves, measure, symbol)
    return tradeoff.frontier(curves, measure=measure, symbol=symbol, see=said, **how)
