"""The interface of a privatizer, which implements a privacy model, and of the noise that it prepares for a run."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.messages import filled
from dprl.plugins import Entry
from dprl.privacy.accounting import epsilon_of, group_delta, group_epsilon, repeated, separation_of
from dprl.privacy.errors import per_event
from dprl.privacy.guarantee import CARD, NOISE, SCOPE, SIMULATION, UNIT, WHERE, Guarantee, LadderStep, Reading
from dprl.privacy.losses import Losses
from dprl.privacy.mechanisms import MECHANISMS, Mechanism, Stream
from dprl.statistics import BLANK_ONE, REPLACE_ONE, Change, PaperScale, Statistic

REFERENCE_DELTA = 1e-6  # every guarantee also gives epsilon at this delta
SMALL_DELTAS = (1e-9, 1e-12, 1e-15)  # and at these
PROTECTED = CARD["protected"]
RETURNING = 10  # and for a user who returns for this many episodes

# the words for privacy models and budgets, in tables; see `record`
TEXTS = tomllib.loads(Path(__file__).parents[1].joinpath("models.toml").read_text("utf-8"))

T = TypeVar("T")


def record(kind: Callable[..., T], row: Mapping[str, Any], **more: Any) -> T:
    """Build a record from a table of models.toml. `more` has its other attributes."""
    return kind(**{name: tuple(x) if isinstance(x, list) else x for name, x in row.items()}, **more)


@dataclass(frozen=True)
class Batch:
    """Users whose data are released together and only once. If one user is replaced, `raised` cells rise and as many
    fall."""

    users: int
    raised: int


@dataclass(frozen=True)
class Request:
    """A request for noise: the statistic, the run's size, the users at each release [M], and the privacy budget."""

    statistic: Statistic
    size: Size
    times: NDArray[np.int64]
    mechanism: str
    calibration: str
    epsilon: float
    delta: float
    beta: float
    # the batches [M] of a learner that forgets them; `times` then has the number of users in all batches so far
    batches: tuple[Batch, ...] | None = None
    # the largest number of releases M if the schedule decides during the run; `times` then has the ends of epochs, and
    # the bounds hold at all times within an epoch
    releases: int | None = None
    # whether a row counts only users whose policy plays it, whose number is not known in advance
    played: bool = False
    # m, the largest number of episodes of one user; neighbouring data sets may differ in all of them
    contribution: int = 1

    @property
    def K(self) -> int:
        """Return the number of users in the whole run."""
        return int(self.times[-1])

    @property
    def cells(self) -> int:
        return self.statistic.cells(self.size)

    @property
    def claimed_delta(self) -> float:
        """Return the stated delta: 0 for Laplace noise as in the paper and for pure mechanisms, else the budget's."""
        mechanism = MECHANISMS[self.mechanism]
        as_in_paper = self.calibration == "paper" and not mechanism.needs_delta
        return 0.0 if as_in_paper or mechanism.pure else self.delta

    def paper_noise(self, model: str) -> PaperScale:
        return self.statistic.paper_noise(model, self.size, self.K, self.epsilon, self.delta)


@dataclass(frozen=True)
class Noise:
    """The noise of a run, with its error bounds and its guarantee. Calls to radius and guarantee may take a moment."""

    mechanism: Mechanism | None  # None without noise
    stream: Stream
    statistic: Statistic  # the statistic in the units of release
    scales: Array  # the scale of the noise in each cell, from `Statistic.scales`
    by_users: bool
    # up to ends[b] users (if by_users) or releases, E_{eps,beta} is bound[b], and the noise in one counter n has the
    # standard deviation std[b], in counts (for trees, at the worst release)
    ends: NDArray[np.int64]
    bound: Array
    std: Array
    # returns a bound on the Euclidean length of a row's noise [B], in units of release, which holds for all rows and
    # releases together w.p. >= 1 - beta/3
    radius: Callable[[], Array]
    guarantee: Callable[[], Guarantee]
    # returns the losses of replacing one user, for each position in the stream with different losses
    losses: Callable[[], tuple[Losses, ...]]
    # how many changes with these losses replacing one user makes (see `group_of`)
    group: int = 1

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon proved at `delta` for all of one user's episodes; inf if there is none."""
        return max(group_epsilon(losses, self.group, delta) for losses in self.losses())

    def delta(self, epsilon: float) -> float:
        """Return the least delta proved at `epsilon` for all of one user's episodes."""
        return max(group_delta(losses, self.group, epsilon) for losses in self.losses())

    @property
    def separation(self) -> float:
        """Return the distance between the best attacker's mean scores in the worst case, in standard deviations."""
        return self.group * max(map(separation_of, self.losses()))


@dataclass(frozen=True, kw_only=True)
class Way:
    """The path of the data from users to policies, as pages draw it."""

    stations: tuple[str, ...]  # the names of the stations that data pass, from left to right
    raw: int  # the number of stations, from the left, that see raw data
    # noise, trusted: the indices of the station that adds noise and of the station that is trusted, or None
    noise: int | None = None
    trusted: int | None = None
    mixes: int | None = None  # the index of the station that is trusted only to shuffle, or None
    alt: str  # a description of the path, as the picture's alternative text


@dataclass(frozen=True, kw_only=True)
class Words(Way):
    """The texts about a privacy model that pages show, and the path of the data."""

    model: str  # its abbreviation, as in a guarantee
    promise: str  # its full name
    given: str  # the trusted party in words that follow "with", such as "a trusted curator"
    # the words after "when a user" for a user who gives no data; "" if neighbours never differ in this way
    blanked: str
    seen: str  # the words after "the attacker sees"


@dataclass(frozen=True, repr=False)
class Privatizer(Entry):
    """A privacy model, such as central, shuffle or local, with the noise that it prepares.

    Attributes:
        words: the words for it on pages.
        trust: a sentence on who sees raw data and who is trusted.
        mechanisms: the keys of its mechanisms; the default is the first that fits.
        per_release: whether its noise is calibrated to the number of releases, which is then limited before the run.
        binary_rewards: whether users round each reward at random to 0 or 1.
        check(change, mechanism, releases, calibration, epsilon, delta, contribution): raises SpecError if no noise
            suffices for a budget; `change` is the effect of replacing one episode.
        reports: the reports that a row counts by default: "all", or "played", those of users whose policy plays it.
    """

    words: Words
    trust: str
    mechanisms: tuple[str, ...]
    prepare: Callable[[Request], Noise]
    binary_rewards: bool = False
    per_release: bool = False
    reports: str = "all"
    check: Callable[[Change, str, int, str, float, float, int], None] | None = None


def model(key: str, **more: Any) -> Privatizer:
    """Return the privacy model with this key in models.toml. `more` has its other attributes."""
    row = TEXTS["models"][key]
    return record(Privatizer, row | {"words": record(Words, row["words"])}, key=key, **more)


def losses_of_user(
    mechanism: Mechanism, change: Change, scale: float, stream: Stream, contribution: int
) -> tuple[Losses, ...]:
    """Return the privacy losses of replacing all episodes of one user, anywhere in the stream (docs/report/privacy.md).

    - If each report has its own noise, `contribution` reports are composed adaptively.
    - With Gaussian or Laplace noise in sums, the worst case is that all episodes are in the same counters at the same
      position, so the change is `contribution` times as long.
    - For shuffled bits, the losses are those of one episode (see `group_of`).
    """
    if mechanism.fresh:
        return tuple(repeated(losses, contribution) for losses in mechanism.losses(change, scale, stream))
    moved = change if group_of(mechanism, contribution) > 1 else change.at_once(contribution)
    return mechanism.losses(moved, scale, stream)


def group_of(mechanism: Mechanism, contribution: int) -> int:
    """Return how many changes one user can make, each with the losses from `losses_of_user`. It is more than one only
    for shuffled bits, whose losses are known only for cells that change by one; `group_epsilon` covers all changes."""
    return contribution if mechanism.norm == "cells" else 1


def proved(
    mechanism: Mechanism, change: Change, scale: float, stream: Stream, delta: float, contribution: int = 1
) -> float:
    """Return the smallest epsilon that we can prove at `delta`, wherever in the stream the user's episodes are."""
    places = losses_of_user(mechanism, change, scale, stream, contribution)
    return max(group_epsilon(losses, group_of(mechanism, contribution), delta) for losses in places)


def with_noise(
    request: Request,
    privatizer: Privatizer,
    statistic: Statistic,
    stream: Stream,
    scale: float,
    *,
    where: str,
    formula: str,
    counter: float,
    assumptions: tuple[str, ...],
    sources: tuple[str, ...],
    sent: str = "",
    stated: tuple[Reading, ...] = (),
    ladder: Callable[[], tuple[LadderStep, ...]] = tuple,
    table: Stream | None = None,
    events: int | None = None,
    neighbours: tuple[str, ...] = (REPLACE_ONE, BLANK_ONE),
) -> Noise:
    """Return noise of one scale for every cell of a statistic, in the units in which the statistic is released.

    E holds for all cells and releases together w.p. >= 1 - beta/3.

    Args:
        where, formula, assumptions, sources, sent: texts for the guarantee; `sent` describes one user's messages.
        counter: the scale of the noise in one counter; for a statistic without counters, it is added to the formula.
        stated: readings in addition to those of our accountant.
        table: the stream at whose releases the bounds are tabulated; by default `stream`.
        events: the number of releases in the union bound; by default all releases of the table.
    """
    mechanism, table = MECHANISMS[request.mechanism], table or stream
    events = events or table.releases
    m, failure = request.contribution, per_event(request.beta, statistic.rows(request.size), events)
    std = statistic.counter(scale) * mechanism.std(table)

    @cache
    def guarantee() -> Guarantee:
        wanted = (0.0, request.delta, REFERENCE_DELTA, *SMALL_DELTAS)
        deltas = sorted({d for d in wanted if d > 0 or not mechanism.needs_delta})
        readings = stated
        for adjacency in neighbours:
            change = statistic.sensitivity(request.size, adjacency)
            found = ((d, proved(mechanism, change, scale, stream, d, m)) for d in deltas)
            readings += tuple(Reading(adjacency, epsilon, d, "our accountant") for d, epsilon in found)
        change = statistic.sensitivity(request.size, REPLACE_ONE)
        again = max(
            epsilon_of(repeated(losses, RETURNING), request.delta)
            if mechanism.fresh
            else group_epsilon(losses, RETURNING, request.delta)
            for losses in mechanism.losses(change, scale, stream)
        )
        ours = [r for r in readings if r.adjacency == REPLACE_ONE and r.delta == request.delta]
        then, counted = request.statistic.then, request.statistic.counted
        return Guarantee(
            model=privatizer.words.model,
            trust=privatizer.trust,
            unit=UNIT if m == 1 else filled(PROTECTED["episodes"], m=m),
            adjacency=PROTECTED["replaced"] if m == 1 else filled(PROTECTED["episodes_replaced"], m=m),
            mechanism=mechanism.title,
            where=filled(WHERE["then"], where=where, then=then) if then else where,
            noise_formula=formula
            if counted
            else filled(NOISE["scale"], formula=formula, scale=f"{counter:.4g}"),
            noise_scale=counter if counted else None,
            noise_std=float(std.max()) if counted else None,
            claimed_epsilon=request.epsilon,
            claimed_delta=request.claimed_delta,
            proved_epsilon=ours[0].epsilon if ours and math.isfinite(ours[0].epsilon) else None,
            proved_delta=request.delta if ours else None,
            readings=tuple(r for r in readings if math.isfinite(r.epsilon)),
            ladder=ladder(),
            assumptions=(*assumptions, SIMULATION, *SCOPE),
            sources=sources,
            users=request.K,
            returning=(RETURNING, again) if math.isfinite(again) and m == 1 else None,
            messages=sent,
            contribution=m,
        )

    return Noise(
        mechanism=mechanism,
        stream=stream,
        statistic=statistic,
        scales=statistic.scales(request.size, scale),
        by_users=table.of_users,
        ends=table.leaves[1:-1],
        bound=statistic.error_bound(
            scale, mechanism.tail(table, per_event(request.beta, request.cells, events))
        ),
        std=std,
        radius=cache(lambda: scale * mechanism.length(table, statistic.row(request.size), failure)),
        guarantee=guarantee,
        losses=lambda: losses_of_user(
            mechanism, statistic.sensitivity(request.size, REPLACE_ONE), scale, stream, m
        ),
        group=group_of(mechanism, m),
    )
