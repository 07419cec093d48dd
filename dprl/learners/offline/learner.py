"""The interface of an offline learner: it asks a curator for sums over one data set, and plans pessimistically.

A learner is a generator. It yields what it asks for and is sent what was released; it holds nothing else of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dprl.fields import Field
from dprl.mdp import Size
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.messages.brief import described
from dprl.statistics.family import Family, Query


class Learned(NamedTuple):
    """The result of learning, all of it from released sums.

    Attributes:
        policy: [H, S], greedy in Q; see `decided`.
        Q_hat: [H, S, A], r + P~ V~ before pessimism.
        penalty: [H, S, A], Gamma.
        Q: [H, S, A], Q_hat - Gamma clipped to [0, H - h].
        V: [H + 1, S], V~, a low estimate of the policy's values.
        repaired: how many released matrices were below what such a matrix can be, and were raised to it.
    """

    policy: Policy
    Q_hat: Array
    penalty: Array
    Q: Array
    V: Array
    repaired: int = 0


Plan = Generator[Query, Array, Learned]


@dataclass(frozen=True)
class OfflineProblem:
    """The facts that a learner knows, all of them public.

    Attributes:
        size: S, A and H.
        n: trajectories in the data set.
        beta: failure probability of its bounds, the papers' delta.
        params: its constants.
        rewards: [H, S, A] mean rewards, where it takes them as public; None if it learns them.
        features: [S, A, d], the same.
        errors: E of each family, how far its noise may go; empty without noise.
        episodes: that one person has in the data set, at most.
        hands_over: where the policy has no evidence of its action, somebody else decides, see `decided`.
    """

    size: Size
    n: int
    beta: float
    params: Mapping[str, Any]
    rewards: Array | None = None
    features: Array | None = None
    errors: Mapping[str, float] = field(default_factory=dict)
    episodes: int = 1
    hands_over: bool = False


def decided(problem: OfflineProblem, Q: Array, n: Array, E: float) -> tuple[Policy, Array]:
    """Return [S] each, of one step: what the policy does, and what that is worth at least.

    The lowest of the actions with the largest Q. If that has no visit for certain and somebody else would decide,
    the best action that has one is taken, if it is worth more than whatever they may do: the least Q of all actions.
    Else they do decide, and no more than that is counted.

    Args:
        problem: what is known.
        Q: [S, A], what is known to be had by each action.
        n: [S, A], visits as they were released.
        E: how far noise may move one of these.
    """
    policy, V = Q.argmax(-1), Q.max(-1)
    if not problem.hands_over:
        return policy, V
    sure = n - E >= 1
    lacking = ~np.take_along_axis(sure, policy[:, None], -1)[:, 0]
    among, least = np.where(sure, Q, -np.inf), Q.min(-1)
    better = lacking & (among.max(-1) > least)
    policy = np.where(better, among.argmax(-1), policy)
    return policy, np.where(better, among.max(-1), np.where(lacking, least, V))


class PaperNoise(NamedTuple):
    """Noise as in a paper, for one notion of privacy.

    Attributes:
        scales(problem, amount): of each family's noise, by name; amount is rho or epsilon.
        formula: in words.
        sources: where the paper states it.
    """

    scales: Callable[[OfflineProblem, float], dict[str, float]]
    formula: str
    sources: tuple[str, ...]


@dataclass(frozen=True)
class OfflineLearner:
    """An entry of the registry. It never holds the model or the data set.

    Attributes:
        key, title, summary, source: its names, and what it is.
        privacies: keys of the notions of privacy that its noise is calibrated to, the first is the default.
        baseline: key of the same learner without privacy, its own if that is one of its privacies.
        fields: its constants.
        public: keys of PUBLIC, what it takes as known by everybody; `rewards` only if a run does not learn them.
        families(problem, calibration): what it asks for, each with how far one trajectory moves it: for `paper` as the
            paper bounds it, for `calibrated` exactly.
        paper_noise: its noise as in the paper, by notion of privacy, where rewards are known.
        errors(problem, mechanism, scales, calibration): E of each family.
        plan(problem): learns.
        shown: the released values that a trace keeps, by name: functions from all that was released, in order, to
            [H, S, A]; `rewards` only if these are learned.
        halves(params): whether the data set is drawn in two halves, for queries that are about one of them.
        proved: in a few words where V~ is proved to be a lower bound except for a chance of beta; "" if the proof is a
            paper's, whose beta has a constant.
        several: whether a person may have several episodes in the data set: noise and bounds are then for that.
        unproved(params): why V~ is no proved lower bound of v^pi with these constants; "" if it is one.
    """

    key: str
    title: str
    summary: str
    source: str
    privacies: tuple[str, ...]
    baseline: str
    fields: tuple[Field, ...]
    public: tuple[str, ...]
    families: Callable[[OfflineProblem, str], tuple[Family, ...]]
    paper_noise: Mapping[str, PaperNoise]
    errors: Callable[[OfflineProblem, str, Mapping[str, float], str], dict[str, float]]
    plan: Callable[[OfflineProblem], Plan]
    shown: Mapping[str, Callable[[Sequence[Array]], Array]]
    unproved: Callable[[Mapping[str, Any]], str]
    halves: Callable[[Mapping[str, Any]], bool] = lambda params: False
    proved: str = ""
    several: bool = False

    __repr__ = described
