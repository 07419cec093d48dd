"""A close look at what a learner believes: shared by the tabs Confidence set, Eigenvalues and Weights."""

from __future__ import annotations

import numpy as np

from dprl import metrics
from dprl.metrics import Array
from dprl.simulation import RunSpec, SeedTrace
from pages.linear.record import LINEAR
from pages.shared.comparison.closely import CloseLook, TraceSelection


class BeliefSelection(TraceSelection[RunSpec, SeedTrace]):
    """What is looked at: one run's trace, and a moment among those with details."""

    @property
    def users(self) -> int:
        """How many there were."""
        return self.moment

    @property
    def private(self) -> bool:
        """Whether there is noise."""
        return self.spec.privacy != "none"

    @property
    def sums(self) -> Array:
        """[D, steps, families, d, d + 1] without noise."""
        return self.trace.series["sums"]

    @property
    def d(self) -> int:
        """Weights at a step."""
        return int(self.trace.beliefs["truth"].shape[-1])

    @property
    def steps(self) -> int:
        """Steps at which something is regressed."""
        return int(self.trace.beliefs["truth"].shape[1])

    @property
    def bound(self) -> float:
        """C_w, as everybody knows it."""
        return float(self.trace.beliefs["bound"][0])

    def region(self, h: int, noisy: bool) -> metrics.Region:
        """The confidence set of the weights of a step, with noise or as the same users would show without."""
        matrices, prefix = (self.trace.noisy, "") if noisy else (self.sums, "noiseless ")
        return metrics.region(self.trace.beliefs, matrices, self.at, h, prefix)


def telling(trace: SeedTrace) -> int:
    """The moment at which there is most to see: when regret per episode has just come below a tenth of V*."""
    average = trace.regret / trace.episodes
    low = np.flatnonzero(average < 0.1 * trace.v_star)
    wanted = trace.episodes[low[0]] if len(low) else trace.episodes[-1]
    return int(trace.detail_episodes[np.abs(trace.detail_episodes - wanted).argmin()])


def nothing(trace: SeedTrace) -> str:
    """Why there is nothing to see."""
    return "" if trace.beliefs else "This algorithm keeps no confidence set of the weights."


BELIEFS = CloseLook(
    page=LINEAR,
    selection=BeliefSelection,
    seed="seed",
    details="sums and estimates",
    field="episode",
    question="After how many users",
    moments=lambda trace: trace.detail_episodes,
    telling=telling,
    nothing=nothing,
)


def step_of(found: BeliefSelection) -> int:
    """A slider over the steps at which something is regressed."""
    steps = range(found.steps)
    return LINEAR.widgets.steps("Step h of the episode", "h", steps, [str(h) for h in steps])
