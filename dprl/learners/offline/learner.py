"""What an offline learner is: it asks a curator for sums over one data set, and plans pessimistically from them.

A learner is a generator. It yields what it asks for and is sent what was released; it holds nothing else of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dprl.fields import Field
from dprl.mdp import Size
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.statistics.family import Family, Query


class Learned(NamedTuple):
    """What was learned, all of it from released sums.

    Attributes:
        policy: [H, S], greedy in Q.
        Q_hat: [H, S, A], r + P~ V~ before pessimism.
        penalty: [H, S, A], Gamma.
        Q: [H, S, A], Q_hat - Gamma clipped to [0, H - h].
        V: [H + 1, S], V~, the lower value of the policy.
    """

    policy: Policy
    Q_hat: Array
    penalty: Array
    Q: Array
    V: Array


Plan = Generator[Query, Array, Learned]


@dataclass(frozen=True)
class OfflineProblem:
    """What a learner knows, all of it public.

    Attributes:
        rewards: [H, S, A] mean rewards.
        n: trajectories in the data set.
        beta: failure probability of its bounds, the papers' delta.
        params: its constants.
        error: E, how far released counts may be off; 0 without noise.
    """

    rewards: Array
    n: int
    beta: float
    params: Mapping[str, Any]
    error: float

    @property
    def size(self) -> Size:
        """S, A and H."""
        H, S, A = self.rewards.shape
        return Size(S, A, H)


class Printed(NamedTuple):
    """Noise as a paper prints it, for one notion of privacy.

    Attributes:
        scales(size, amount): of each family's noise, by name; amount is rho or epsilon.
        error(size, amount, beta): E.
        formula: in words.
        sources: where it is printed.
    """

    scales: Callable[[Size, float], dict[str, float]]
    error: Callable[[Size, float, float], float]
    formula: str
    sources: tuple[str, ...]


@dataclass(frozen=True)
class OfflineLearner:
    """An entry of the registry. It never holds the model or the data set.

    Attributes:
        key, title, summary, source: its names, and what it is.
        privacies: keys of the notions of privacy that its noise is calibrated to, the first is the default.
        twin: key of the same learner without privacy.
        fields: its constants.
        public: keys of PUBLIC, what it takes as known by everybody.
        families(size): what it asks for; () is never asked of a learner without privacy.
        printed: its noise as printed, by notion of privacy.
        error(size, mechanism, scales, beta): E for noise that is not printed.
        plan(problem): learns.
        shown: what a trace keeps of what was released, by name: functions from all that was released, in order, to
            [H, S, A].
    """

    key: str
    title: str
    summary: str
    source: str
    privacies: tuple[str, ...]
    twin: str
    fields: tuple[Field, ...]
    public: tuple[str, ...]
    families: Callable[[Size], tuple[Family, ...]]
    printed: Mapping[str, Printed]
    error: Callable[[Size, str, Mapping[str, float], float], float]
    plan: Callable[[OfflineProblem], Plan]
    shown: Mapping[str, Callable[[Sequence[Array]], Array]]
