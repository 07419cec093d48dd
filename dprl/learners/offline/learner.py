"""The interface of offline learners: generators that request sums over one data set and receive released values."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dprl.fields import Field
from dprl.mdp import Size
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.plugins import Entry
from dprl.statistics.dataset import REWARDS, CellsOfSteps
from dprl.statistics.family import Family, Query


class Learned(NamedTuple):
    """The learned policy and its values, computed from released sums only."""

    policy: Policy  # [H, S], greedy in Q (`decided` describes an exception)
    Q_hat: Array  # [H, S, A], r + P~ V~ without the penalty
    penalty: Array  # [H, S, A], Gamma in the paper
    Q: Array  # [H, S, A], Q_hat - Gamma clipped to [0, H - h]
    V: Array  # [H + 1, S], V~, lower bounds on the policy's values
    repaired: int = 0  # the number of released matrices with impossibly small eigenvalues, which were raised


Plan = Generator[Query, Array, Learned]


@dataclass(frozen=True)
class OfflineProblem:
    """The public facts about a problem that an offline learner may use."""

    size: Size  # S, A and H
    n: int  # the number of trajectories in the data set
    beta: float  # the failure probability of the learner's bounds, delta in the papers
    params: Mapping[str, Any]  # the learner's constants
    rewards: Array | None = None  # the mean rewards [H, S, A] if they are public, else None
    features: Array | None = None  # the features [S, A, d] if they are public, else None
    errors: Mapping[str, float] = field(default_factory=dict)  # the noise bound E of each family of sums
    episodes: int = 1  # the maximum number of episodes of one person in the data set
    hands_over: bool = False  # True if others decide when the data lack evidence for an action (`decided`)


def decided(problem: OfflineProblem, Q: Array, n: Array, E: float) -> tuple[Policy, Array]:
    """Return the policy's actions at one step and lower bounds on their values, [S] each.

    Q holds lower bounds on the values of actions, and n the released visits with noise of at most E, [S, A] each. The
    policy takes the lowest action with the largest Q. If it may have no visit and others would decide (`hands_over`),
    we compare the best action that surely has a visit with the worst decision, which has the smallest Q. If the action
    is better, the policy takes it. Otherwise the others decide, and the value is the smallest Q.
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


def sums_once(problem: OfflineProblem, query: CellsOfSteps, what: str) -> tuple[Family, ...]:
    """Return the sums to release, each once: those of `query` and, if mean rewards are unknown, sums of rewards. Sums
    of rewards get more noise, because the penalty multiplies the noise of counts by up to H or more."""
    found = (query.released_once(problem.size, what),)
    if problem.rewards is not None:
        return found
    return (*found, REWARDS.released_once(problem.size, "sums of rewards", 4.0))


class PaperNoise(NamedTuple):
    """The noise that a paper states for one notion of privacy."""

    scales: Callable[[OfflineProblem, float], dict[str, float]]  # by family, from rho or epsilon
    formula: str  # the size of the noise, in words
    sources: tuple[str, ...]  # the places in the paper that state it


@dataclass(frozen=True, kw_only=True, repr=False)
class OfflineLearner(Entry):
    """An offline learner in the registry. It never has access to the model or the data set."""

    privacies: tuple[str, ...]  # keys of the notions of privacy that it supports; the first is the default
    baseline: str  # the key of the non-private baseline, or its own key if it also runs without privacy
    fields: tuple[Field, ...] = ()  # its constants
    public: tuple[str, ...]  # keys of PUBLIC that it assumes; `rewards` only in runs that do not learn them
    # families(problem, calibration): returns the families of sums that it requests, each with its sensitivity
    families: Callable[[OfflineProblem, str], tuple[Family, ...]]
    # the noise as in the paper, by notion of privacy, if rewards are known
    paper_noise: Mapping[str, PaperNoise] = field(default_factory=dict)
    # errors(problem, mechanism, scales, calibration): returns the noise bound E of each family of sums
    errors: Callable[[OfflineProblem, str, Mapping[str, float], str], dict[str, float]]
    plan: Callable[[OfflineProblem], Plan]  # plan(problem): returns the generator that learns
    # functions that compute the arrays [H, S, A] of a trace from all releases; `rewards` only if they are learned
    shown: Mapping[str, Callable[[Sequence[Array]], Array]] = field(default_factory=dict)
    unproved: Callable[[Mapping[str, Any]], str]  # explains why V~ is not a proved lower bound; "" if it is
    # halves(params): returns True if it queries two halves of the data set separately
    halves: Callable[[Mapping[str, Any]], bool] = lambda params: False
    # where we prove that V~ is a lower bound with probability 1 - beta; "" if only a paper proves a similar bound
    proved: str = ""
    several: bool = False  # True if its noise and bounds allow several episodes of one person
