"""The interface of offline learners, which request sums over one data set from a curator and plan pessimistically.

A learner is a generator: it yields requests and receives released values; it has no other access to the data.
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
    # the mean rewards [H, S, A] if they are public; None if the learner estimates them
    rewards: Array | None = None
    features: Array | None = None  # the features [S, A, d] if they are public, else None
    # E, the bound on the noise, for each family of sums; empty without noise
    errors: Mapping[str, float] = field(default_factory=dict)
    episodes: int = 1  # the maximum number of episodes of one person in the data set
    # whether somebody else decides if the data have no evidence for the policy's action (`decided`)
    hands_over: bool = False


def decided(problem: OfflineProblem, Q: Array, n: Array, E: float) -> tuple[Policy, Array]:
    """Return the policy's action at one step and a lower bound on its value, [S] each. Q: lower bounds on the values of
    actions; n: released numbers of visits, [S, A] each, with noise of at most E. The action is the lowest one with the
    largest Q. If this action may have no visit and somebody else would decide (`hands_over`), we compare the best
    action that certainly has a visit with the worst possible decision, which has the smallest Q. If the former is
    better, the policy takes it; otherwise the others decide, with the smallest Q as the value."""
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
    """The noise that a paper states for one notion of privacy."""

    # scales(problem, amount): returns the scale of the noise by family; amount is rho or epsilon
    scales: Callable[[OfflineProblem, float], dict[str, float]]
    formula: str  # the size of the noise, in words
    sources: tuple[str, ...]  # the places in the paper that state it


@dataclass(frozen=True)
class OfflineLearner:
    """An offline learner in the registry. It never has access to the model or the data set."""

    # key, title, summary, source: its names, a description, and its paper
    key: str
    title: str
    summary: str
    source: str
    privacies: tuple[str, ...]  # keys of the notions of privacy that it supports; the first is the default
    baseline: str  # the key of the non-private baseline, or its own key if it also runs without privacy
    fields: tuple[Field, ...]  # its constants
    # keys of PUBLIC that it assumes to be public; `rewards` only if a run does not learn them
    public: tuple[str, ...]
    # families(problem, calibration): returns the families of sums that it requests, each with its sensitivity (the
    # paper's bound for `paper`, the exact value for `calibrated`)
    families: Callable[[OfflineProblem, str], tuple[Family, ...]]
    # its noise as in the paper, by notion of privacy, if rewards are known
    paper_noise: Mapping[str, PaperNoise]
    # errors(problem, mechanism, scales, calibration): returns E for each family
    errors: Callable[[OfflineProblem, str, Mapping[str, float], str], dict[str, float]]
    plan: Callable[[OfflineProblem], Plan]  # plan(problem): returns the generator that learns
    # functions from the list of all releases to arrays [H, S, A] that a trace stores, by name; `rewards` is stored only
    # if rewards are learned
    shown: Mapping[str, Callable[[Sequence[Array]], Array]]
    # unproved(params): returns why V~ is not a proved lower bound with these constants; "" if it is one
    unproved: Callable[[Mapping[str, Any]], str]
    # halves(params): returns whether the data set is split into two halves that are queried separately
    halves: Callable[[Mapping[str, Any]], bool] = lambda params: False
    # where to find the proof that V~ is a lower bound with probability 1 - beta; "" if only a paper has a proof, in
    # which beta has a constant factor
    proved: str = ""
    # whether it supports several episodes of one person, with noise and bounds for that case
    several: bool = False

    __repr__ = described
