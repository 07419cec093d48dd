"""Better than today? What people who were held out say of two learned policies: four numbers, released once.

A share of the people is held out at random when the file is read: nothing is learned from them. Once both policies have
been learned from the releases about the others, four sums over those held out are released with noise: their scores
under each policy, whose mean is what they would have got under it; their returns, whose mean is what they got; and the
squares of these. Everything else is computed from the releases, the choice between the two policies included.

The score of a person is V(s_0) + sum_h w_h (r_h + V_h+1(s_h+1) - V_h(s_h)): V is what the learned policy is worth, and
w_h how much more often it is in (s_h, a_h) than people are, both as released counts of the others have it. It is
doubly robust (Jiang, Li 2016; Kallus, Uehara 2020): errors of V and of w must come together to move its mean.
docs/report/offline.md, "Better than today?", says what is proved of it, and what is measured.

If a person may have several episodes, each sum is over episodes, and a fifth says how many these are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.mdp import counts
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.privacy.exact import EXACT, STEPS
from dprl.statistics import Change
from dprl.statistics.family import Family

SHARE = 0.25  # of the people, held out unless something else is asked for
MOST_WEIGHT = 4  # times A: the largest w, so that few people do not decide; a row that needs more is not sure
# Scores of the cautious policy, whose value is bounded, and of the other. One episode moves each by at most one.
SUMS = ("scores", "plug_in_scores", "returns", "squares")
EPISODES = "episodes"  # how many they are
# Of their noise: squares say how wide an interval is, and need to be known less well.
WEIGHTS = {"scores": 1.0, "plug_in_scores": 1.0, "returns": 1.0, "squares": 3.0, EPISODES: 1.0}
QUANTILE = 2.2415  # standard deviations within which 97.5% are: with 95% both policies are inside
WHAT = {
    "scores": "the sum of the scores of people held out under the cautious policy",
    "plug_in_scores": "the same under the plug-in policy",
    "returns": "the sum of their returns",
    "squares": "the sum of the squares of these",
    EPISODES: "how many episodes they have",
}
BETTER, CLOSE, WORSE = "better", "too close", "worse"


class HeldOut(NamedTuple):
    """The sums of the held-out people: their counts [H, S, A, S + 2]; n, the number of their episodes; and the sums of
    their returns and of the squares of these, each episode's from 0 to 1 and on the grid of noise."""

    record: Array
    n: int
    returns: Array


def names(episodes: int) -> tuple[str, ...]:
    """Return the names of the sums, if a person has at most `episodes` episodes."""
    return SUMS if episodes == 1 else (*SUMS, EPISODES)


def families(episodes: int) -> tuple[Family, ...]:
    """Return the families of these sums. Held-out people are in these sums alone, and nobody else is.

    Each episode adds from 0 to 1, and at least one episode remains when a person is replaced.
    """

    def moved(most: int) -> Change:
        return Change(((1, float(most)),))

    return tuple(
        Family(
            name,
            WHAT[name],
            moved(episodes - (name == EPISODES)),
            moved(episodes),
            weight=WEIGHTS[name],
            half=1,
        )
        for name in names(episodes)
    )


class Fitted(NamedTuple):
    """The policy in the model that fits what was released of the others, with people who begin as these did.

    An episode that comes to a row without a visit for certain ends there, with nothing more. A row is *sure* where at
    least half of its visits are there for certain, and no large weight is needed. In others the policy may have chosen
    the action because noise favours it: what they are worth is taken to be less, and scores do not mend it.

    Attributes:
        V: [H + 1, S]; w: [H, S], of the policy's action.
        lost: what an episode may bring beyond V on average, after it has ended so, and in rows that are not sure.
        covered: the share of the policy's steps that come before it has ended so.
        follows: the share of people's steps that are the policy's.
        variance: of one episode's score.
        spread: squared, how far errors of V and w that come together move the mean.
    """

    V: Array
    w: Array
    lost: float
    covered: float
    follows: float
    variance: float
    spread: float


def fit(
    released: Array,
    policy: Policy,
    r: Array,
    E: float,
    variance: float,
    n: float,
    of_rewards: float | None,
    episodes: int = 1,
) -> Fitted:
    """See `Fitted`.

    Args:
        released: [H, S, A, S + 2], counts of transitions with noise, and their sums.
        policy: [H, S].
        r: [H, S, A], mean rewards, as they are known or estimated.
        E: how far noise may move a visit count.
        variance: of the noise in each count of transitions.
        n: episodes that were learned from, or about that many.
        of_rewards: the same in each sum of rewards, where r is estimated and a person's reward anything from 0 to 1.
        episodes: of one person, at most: where these begin may go together.
    """
    H, S, A, _ = released.shape
    h_s = np.arange(H)[:, None], np.arange(S)[None]
    total = np.maximum(counts.visits(released)[(*h_s, policy)], 0.0)
    P = frequencies(counts.transitions(released)[(*h_s, policy)])
    supported = total - E >= 1
    visits = np.where(supported, total, 1.0)
    people = np.maximum(counts.visits(released).sum(-1), 0.0)
    d = _occupancy(people[0], P, supported)
    sure = supported & (visits >= 2 * E) & (d * n <= MOST_WEIGHT * A * visits)
    w = np.where(sure, d * n / visits, 0.0)
    steps = _valued(P, r[(*h_s, policy)], visits, supported, variance, of_rewards, np.where(sure, 0, A))
    of_start = episodes * float(d[0] @ steps.V[0] ** 2 - (d[0] @ steps.V[0]) ** 2)
    relative = np.where(sure, (variance * S + visits) / visits**2, 1.0)
    left = (H - np.arange(H))[:, None]
    return Fitted(
        steps.V,
        w,
        float((d * np.where(supported, np.minimum(2 * steps.less, left), left)).sum()),
        float((d * supported).sum() / H),
        float(total.sum() / max(people.sum(), 1.0)),
        of_start + float((visits / n * w**2 * steps.chance).sum()),
        float((d**2 * supported * steps.error * relative).sum()),
    )


def taken(released: Array, policy: Policy) -> Array:
    """Return how often people acted as the policy does, with noise [H, S]."""
    return np.asarray(np.take_along_axis(counts.visits(released), policy[..., None], -1)[..., 0])


def _occupancy(start: Array, P: Array, supported: NDArray[np.bool_]) -> Array:
    """Return how often an episode is in a state at a step [H, S], if it ends in rows that are not supported.

    start: [S], in any unit; P: [H, S, S].
    """
    d = np.zeros(supported.shape)
    d[0] = start / max(start.sum(), 1.0)
    for h in range(len(d) - 1):
        d[h + 1] = (d[h] * supported[h]) @ P[h]
    return d


class _Valued(NamedTuple):
    """[H, S] each but V, [H + 1, S]. chance: the variance of a reward and what follows, of one person; error: that of
    the row's mean of them, with noise; less: what was taken off of it."""

    V: Array
    chance: Array
    error: Array
    less: Array


def _valued(
    P: Array,
    reward: Array,
    visits: Array,
    supported: NDArray[np.bool_],
    variance: float,
    of_rewards: float | None,
    among: NDArray[np.int64],
) -> _Valued:
    """Compute the policy's values, step by step from the last.

    among: [H, S], from how many actions a row's was chosen by the releases. The largest of k normal errors is
    sqrt(2 ln k) standard deviations on average, at most: so much is taken off. 0 if nothing is.
    """
    H, S, _ = P.shape
    V, learned = np.zeros((H + 1, S)), of_rewards is not None
    chance, error, less = np.zeros((3, H, S))
    most = np.sqrt(2 * np.log(np.maximum(among, 1)))
    for h in range(H - 1, -1, -1):
        mean = P[h] @ V[h + 1]
        off = V[h + 1] - mean[:, None]
        chance[h] = (P[h] * off**2).sum(-1) + learned * 0.25
        # A noisy sum of rewards over a noisy number of visits: noise in the latter counts, too.
        noise = variance * ((off - learned * reward[h][:, None]) ** 2).sum(-1) + (of_rewards or 0.0)
        error[h] = (noise + visits[h] * chance[h]) / visits[h] ** 2
        less[h] = most[h] * np.sqrt(error[h])
        V[h] = np.where(supported[h], np.maximum(reward[h] + mean - less[h], 0.0), 0.0)
    return _Valued(V, chance, error, less)


def frequencies(m: Array) -> Array:
    """Return the probabilities nearest to m/sum(m), by Euclidean distance, from noisy counts [..., S]."""
    S, total = m.shape[-1], np.maximum(m.sum(-1, keepdims=True), 1.0)
    share = m / total
    ordered = -np.sort(-share, axis=-1)
    over = (ordered.cumsum(-1) - 1) / np.arange(1, S + 1)
    last = np.maximum((ordered > over).sum(-1, keepdims=True) - 1, 0)
    found = np.maximum(share - np.take_along_axis(over, last, -1), 0.0)
    return np.asarray(found / found.sum(-1, keepdims=True))


class Scores(NamedTuple):
    """The scores of all that can happen in one episode, in whole steps of the grid.

    Attributes:
        next: [H, S, A, S], what each cell of m adds; reward: [H, S, A], what a reward of 1 adds next to that.
        low: what an episode has at least; width: at most next to that.
    """

    next: NDArray[np.int64]
    reward: NDArray[np.int64]
    low: int
    width: int


def scores(fitted: Fitted, policy: Policy, r: Array, learned: bool) -> Scores:
    """r: [H, S, A] mean rewards; learned: they are estimates, and each person's own count."""
    chosen = np.eye(r.shape[-1])[policy] * fitted.w[..., None]
    gain = fitted.V[1:, None, None] - fitted.V[:-1, :, None, None] + (0.0 if learned else r[..., None])
    found = chosen[..., None] * gain
    found[0] += fitted.V[0][:, None, None]
    steps = np.round(found * STEPS).astype(np.int64)
    paid = np.round(chosen * learned * STEPS).astype(np.int64)
    low = int(steps.min((1, 2, 3)).sum())
    high = int((steps + paid[..., None]).max((1, 2, 3)).sum())
    return Scores(steps, paid, low, max(high - low, 1))


def sums(tables: Sequence[Scores], held: HeldOut, episodes: int = 1) -> tuple[Fraction, ...]:
    """Return the sums of `names`, exactly. One episode adds from 0 to 1 to each. tables: of each policy."""
    returns, squares = (Fraction(float(value)) for value in held.returns)
    found = (*(summed(table, held) for table in tables), returns, squares, Fraction(held.n))
    return found[: len(names(episodes))]


def summed(table: Scores, held: HeldOut) -> Fraction:
    """Sum the scores above the least one, in units of the width, exactly."""
    moved = zip(table.next.flat, counts.transitions(held.record).flat, strict=True)
    paid = zip(table.reward.flat, counts.rewards(held.record).flat, strict=True)
    total = sum((int(a) * Fraction(b) for a, b in (*moved, *paid) if b), start=-Fraction(held.n * table.low))
    return total / table.width


def noisy(exact: tuple[Fraction, ...], scales: Mapping[str, float]) -> Array:
    """Add noise to the sums, each a whole number of steps; rounding down first never increases anybody's effect."""
    draw = EXACT["gaussian"].draw
    drawn = [draw(Fraction(scales[name]) * STEPS) for name in (*SUMS, EPISODES)[: len(exact)]]
    return np.array([(value * STEPS // 1 + noise) / STEPS for value, noise in zip(exact, drawn, strict=True)])


def assessed(
    released: Array, fitted: Fitted, table: Scores, n: float, H: int, std: Array, episodes: int = 1
) -> dict[str, Array]:
    """Return the check's results for a trace; they follow from the released sums. In units of the reward range.

    Args:
        released: [3], scores, returns and squares as `noisy` has them; [4] where a person may have several episodes.
        n: people held out.
        std: of their noise.
        episodes: of one person, at most.

    Returns:
        learned, behaviour, difference: [3] each: low end, value and high end, of the reward that such people would get
            in an episode under the learned policy, of the reward they got, and of the first less the second.
        covered, follows: see `Fitted`.
    """
    of_n = 0.0  # standard deviation of the number of episodes, as a share
    if episodes > 1:
        n = float(np.clip(released[3], n, episodes * n))
        of_n = std[3] / n
    score, of_returns, of_squares = released[:3] / n
    width = table.width / STEPS
    learned = score * width + table.low / STEPS
    now = float(np.clip(of_returns, 0.0, 1.0))
    # a noise's deviation more, to be safe
    spread_now = np.clip(of_squares + std[2] / n - now**2, 0.0, 0.25) * H**2
    # what a person got in several episodes may go together: of a sum of k, at most k times the variances
    chance = np.sqrt(np.array([fitted.variance / n + fitted.spread, episodes * spread_now / n]))
    noise = np.hypot(std[:2] / n * np.array([width, H]), of_n * np.array([score * width, now * H]))
    half = QUANTILE * np.hypot(chance, noise)
    # Who would gain much may be who got much: standard deviations of two sums over the same people add up, at most.
    apart = QUANTILE * float(np.sqrt(chance.sum() ** 2 + (noise**2).sum()))
    ends = {
        "learned": [learned - half[0], learned, learned + fitted.lost + half[0]],
        "behaviour": [now * H - half[1], now * H, now * H + half[1]],
    }
    found: dict[str, Array] = {name: np.clip(values, 0.0, H) for name, values in ends.items()}
    gain = learned - now * H
    found["difference"] = np.array([gain - apart, gain, gain + fitted.lost + apart])
    return found | {"covered": np.array(fitted.covered), "follows": np.array(fitted.follows)}


def recommended(difference: Array) -> int:
    """Return which policy is recommended, by a rule that no data changed: the plug-in policy, 1, unless held-out users
    favour only the cautious one, 0. `python -m bench.hidden_models` compares rules.

    difference: [2, 3], for each policy.
    """
    cautious, plug_in = map(verdict, difference)
    return int(not (cautious == BETTER and plug_in != BETTER))


def verdict(difference: Array) -> str:
    """Return the verdict in at most three words. difference: low end, value, high end [3]."""
    low, _, high = difference
    return BETTER if low > 0 else WORSE if high < 0 else CLOSE
