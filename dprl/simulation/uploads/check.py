"""Compare two learned policies with today's practice, using a single release of noisy sums over held-out people.

When the file is read, a random share of the people is held out, and nothing is learned from them. Once both policies
have been learned from the others, four noisy sums over the held-out people are released: their scores under each policy
(the mean score is the reward that they would have received under it), their returns, and the squares of their returns.
Everything else, even the choice of a policy, is computed from the releases.

The score of a person is V(s_0) + sum_h w_h (r_h + V_h+1(s_h+1) - V_h(s_h)). V is the value of the learned policy, and
w_h is the ratio of its visits to (s_h, a_h) to people's visits, both estimated from the released counts of the others.
The score is doubly robust (Jiang, Li 2016; Kallus, Uehara 2020): only errors of V and w together change its mean.
docs/report/offline.md, "Better than today?", has the proofs and the measurements.

If a person may have several episodes, each sum is over episodes, and their number is released as a fifth sum. If groups
are declared, these five sums are also released for each group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.mdp import counts
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array
from dprl.privacy.exact import EXACT, STEPS
from dprl.statistics import Change
from dprl.statistics.family import Family

SHARE = 0.25  # of the people, held out by default
MOST_WEIGHT = 4  # times A: the largest weight w, so that a few people cannot decide the result; see `Fitted`
EPISODES = "episodes"
WHAT = {  # the cautious policy is the one whose value has a bound; one episode adds at most 1 to each sum
    "scores": "the sum of the scores of people held out under the cautious policy",
    "plug_in_scores": "the sum of the scores of people held out under the plug-in policy",
    "returns": "the sum of the returns of people held out",
    "squares": "the sum of the squared returns of people held out",
    EPISODES: "the number of episodes of people held out",
}
SUMS = tuple(WHAT)[:-1]  # if a person has one episode
WEIGHTS = {"squares": 3.0}  # of the noise: squares only affect an interval's width, so they may be noisier
QUANTILE = 2.2415  # standard deviations for 97.5%, so that both policies' intervals hold with 95%
BY_GROUP = " by group"
OF_A_GROUP = "learned", "behaviour", "difference", "episodes"
OF_GROUPS = 2.5  # times as much noise by group, so that other noise grows by only about a fifth
FEWEST = 30  # episodes of a group; a mean over fewer may be far from normal
BETTER, CLOSE, WORSE = "better", "too close", "worse"


class HeldOut(NamedTuple):
    """The counts of held-out people [H, S, A, S + 2], the number n of their episodes, and the sums of their returns and
    squared returns. Each return and each square is between 0 and 1, on the noise's grid."""

    record: Array
    n: int
    returns: Array
    groups: tuple[HeldOut, ...] = ()


def joined(parts: Iterable[HeldOut]) -> HeldOut:
    """Add up the counts of several parts. If there are two or more, the parts become the groups."""
    records, numbers, returns, _ = zip(*(parts := tuple(parts)), strict=True)
    groups = parts if len(parts) > 1 else ()
    return HeldOut(np.sum(records, 0), sum(numbers), np.sum(returns, 0), groups)


def names(episodes: int) -> tuple[str, ...]:
    """Return the names of the sums to release if each person has at most `episodes` episodes."""
    return SUMS if episodes == 1 else (*SUMS, EPISODES)


def families(episodes: int, grouped: bool = False) -> tuple[Family, ...]:
    """Describe all sums over held-out people, with their sizes and the largest effect of one person on each.

    Each episode adds a number from 0 to 1, and at least one episode remains when a person is replaced. In sums by
    group, all of one person's episodes may leave a group, and all of another's may enter another group.
    """

    def family(name: str, of: str, cells: int, most: int, weight: float) -> Family:
        change, gone = Change(((cells, float(most)),)), Change(((1, float(episodes)),))
        weight *= WEIGHTS.get(name, 1.0)
        return Family(name + of, WHAT[name] + of, change, gone, weight=weight, half=1)

    of_all = (family(name, "", 1, episodes - (name == EPISODES), 1.0) for name in names(episodes))
    by_group = (family(name, BY_GROUP, 2, episodes, OF_GROUPS) for name in WHAT)
    return (*of_all, *by_group) if grouped else tuple(of_all)


def share_of_groups(episodes: int) -> float:
    """Return the share of rho, the budget for held-out people, that the sums by group use."""
    spent = {each.name: each.change.l2_squared / each.weight**2 for each in families(episodes, grouped=True)}
    return sum(rho for name, rho in spent.items() if name.endswith(BY_GROUP)) / sum(spent.values())


class Fitted(NamedTuple):
    """A policy's values in a model fitted to the noisy counts of the people learned from.

    An episode ends without further reward in a row that is not certain to have a visit. A row is *sure* if at least
    half of its visits are certain and it needs no large weight. In other rows, the policy may have chosen an action
    that noise favours, so their values are lowered, and the scores do not correct them.
    """

    V: Array  # the values [H + 1, S]
    w: Array  # the weights of the policy's actions [H, S]
    lost: float  # how far V may be too low on average, because of such ends and of rows that are not sure
    covered: float  # the share of the policy's steps that come before such an end
    follows: float  # the share of people's steps in which they act as the policy does
    variance: float  # of one episode's score
    spread: float  # the squared effect of joint errors of V and w on the mean
    of_V: float  # the same for errors of V alone, which w does not correct in a group


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
    """Fit a model to the noisy counts, and compute a policy's values in it.

    released: the noisy counts [H, S, A, S + 2]; policy: its actions [H, S]; r: the mean rewards, known or estimated
    [H, S, A]; E: the most by which noise may change a visit count; variance: the variance of the noise in each count of
    transitions; n: the approximate number of episodes learned from; of_rewards: the same variance for sums of rewards,
    or None if rewards are known; episodes: the most episodes of one person, whose first states may be correlated.
    """
    H, S, A, _ = released.shape
    h_s = np.arange(H)[:, None], np.arange(S)[None]
    total = np.maximum(taken(released, policy), 0.0)
    P, reward = frequencies(counts.transitions(released)[(*h_s, policy)]), r[(*h_s, policy)]
    supported = total - E >= 1
    visits = np.where(supported, total, 1.0)
    people = np.maximum(counts.visits(released).sum(-1), 0.0)
    d = np.zeros((H, S))  # the share of episodes in each state, if they end in rows that are not supported
    d[0] = people[0] / max(people[0].sum(), 1.0)
    for h in range(H - 1):
        d[h + 1] = (d[h] * supported[h]) @ P[h]
    sure = supported & (visits >= 2 * E) & (d * n <= MOST_WEIGHT * A * visits)
    w = np.where(sure, d * n / visits, 0.0)
    # the largest of A normal errors is on average at most this many standard deviations, which are subtracted
    most = np.where(sure, 0.0, np.sqrt(2 * np.log(A)))
    V, learned = np.zeros((H + 1, S)), of_rewards is not None
    # the variances of a person's reward plus later value and of its mean in a row, with noise; the amount taken off V
    chance, error, less = np.zeros((3, H, S))
    for h in range(H - 1, -1, -1):
        mean = P[h] @ V[h + 1]
        off = V[h + 1] - mean[:, None]
        chance[h] = (P[h] * off**2).sum(-1) + learned * 0.25
        # a noisy sum of rewards is divided by a noisy number of visits, whose noise counts, too
        noise = variance * ((off - learned * reward[h][:, None]) ** 2).sum(-1) + (of_rewards or 0.0)
        error[h] = (noise + visits[h] * chance[h]) / visits[h] ** 2
        less[h] = most[h] * np.sqrt(error[h])
        V[h] = np.where(supported[h], np.maximum(reward[h] + mean - less[h], 0.0), 0.0)
    of_start = episodes * float(d[0] @ V[0] ** 2 - (d[0] @ V[0]) ** 2)
    relative = np.where(sure, (variance * S + visits) / visits**2, 1.0)
    left = (H - np.arange(H))[:, None]
    return Fitted(
        V,
        w,
        float((d * np.where(supported, np.minimum(2 * less, left), left)).sum()),
        float((d * supported).sum() / H),
        float(total.sum() / max(people.sum(), 1.0)),
        of_start + float((visits / n * w**2 * chance).sum()),
        float((d**2 * supported * error * relative).sum()),
        float((d**2 * supported * error).sum()),
    )


def taken(released: Array, policy: Policy) -> Array:
    """Return the noisy number of people who acted as the policy does in each state at each step, [H, S]."""
    return np.asarray(np.take_along_axis(counts.visits(released), policy[..., None], -1)[..., 0])


def frequencies(m: Array) -> Array:
    """Project the noisy frequencies m / sum(m) onto the nearest probabilities in Euclidean distance, [..., S]."""
    S, total = m.shape[-1], np.maximum(m.sum(-1, keepdims=True), 1.0)
    share = m / total
    ordered = -np.sort(-share, axis=-1)
    over = (ordered.cumsum(-1) - 1) / np.arange(1, S + 1)
    last = np.maximum((ordered > over).sum(-1, keepdims=True) - 1, 0)
    found = np.maximum(share - np.take_along_axis(over, last, -1), 0.0)
    return np.asarray(found / found.sum(-1, keepdims=True))


class Scores(NamedTuple):
    """The amount that each transition and reward adds to an episode's score, in whole steps of the noise's grid."""

    next: NDArray[np.int64]  # the score that each cell of m adds [H, S, A, S]
    reward: NDArray[np.int64]  # the score that a reward of 1 adds [H, S, A]
    low: int  # the least score of an episode
    width: int  # the most by which a score exceeds it


def scores(fitted: Fitted, policy: Policy, r: Array, learned: bool) -> Scores:
    """Return the scores of transitions and, if the mean rewards r [H, S, A] are unknown, of observed rewards."""
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
    """Return the exact sums listed by `names`. An episode adds 0 to 1 to each sum. `tables` has the policies'
    scores."""
    returns, squares = (Fraction(float(value)) for value in held.returns)
    found = (*(summed(table, held) for table in tables), returns, squares, Fraction(held.n))
    return found[: len(names(episodes))]


def summed(table: Scores, held: HeldOut) -> Fraction:
    """Return the sum of all episodes' scores, each shifted and scaled to lie between 0 and 1."""
    moved = zip(table.next.flat, counts.transitions(held.record).flat, strict=True)
    paid = zip(table.reward.flat, counts.rewards(held.record).flat, strict=True)
    total = sum((int(a) * Fraction(b) for a, b in (*moved, *paid) if b), start=-Fraction(held.n * table.low))
    return total / table.width


def noisy(exact: tuple[Fraction, ...], scales: Mapping[str, float], of: str = "") -> Array:
    """Round sums down to the grid, which increases no one's effect. Then add noise. `of` is BY_GROUP for group sums."""
    draw = EXACT["gaussian"].draw
    drawn = [draw(Fraction(scales[name + of]) * STEPS) for name in tuple(WHAT)[: len(exact)]]
    return np.array([(value * STEPS // 1 + noise) / STEPS for value, noise in zip(exact, drawn, strict=True)])


def results(
    found: Mapping[str, Array],
    models: Sequence[tuple[Fitted, Scores]],
    std: Mapping[str, float],
    n: int,
    episodes: int,
) -> dict[str, Array]:
    """Return the results of `assessed` for both policies, each [2, ...].

    If there are groups, "groups" has their intervals in the order of OF_A_GROUP [2, groups, 4, 3]. found: the noisy
    "sums" named by `names`; "ends", the least score and the width for each policy [2, 2]; and the sums of "groups"
    [groups, 5]. std: the standard deviation of the noise in each sum; n: the number of people held out.
    """
    each: list[dict[str, Array]] = []
    total = float(np.clip(found["sums"][-1], n, episodes * n))  # episodes; n if each person has one
    for number, ((fitted, table), (low, width)) in enumerate(zip(models, found["ends"], strict=True)):
        table = table._replace(low=int(low), width=int(width))
        mine = [number, *range(2, len(found["sums"]))]
        of_sums = np.array([std[name] for name in names(episodes)])[mine]
        each.append(assessed(found["sums"][mine], fitted, table, total, of_sums, episodes))
        if "groups" in found:
            mine = [number, 2, 3, 4]
            args = fitted, table, total, np.array([std[name + BY_GROUP] for name in WHAT])[mine], episodes
            parts = [assessed(part[mine], *args, len(found["groups"])) for part in found["groups"]]
            each[-1]["groups"] = np.array([[part[name] for name in OF_A_GROUP] for part in parts])
    return {name: np.stack([one[name] for one in each]) for name in each[0]}


def assessed(
    released: Array, fitted: Fitted, table: Scores, n: float, std: Array, episodes: int, groups: int = 0
) -> dict[str, Array]:
    """Estimate a policy's value and today's value in units of the reward range, from noisy sums over held-out people.

    The variance of scores within a group is unknown, so all of the variance is attributed to the group. All errors of V
    count there, because w may be wrong for the group. Sums are divided by a noisy number of episodes; dividing all
    errors by the least possible number covers its noise (Fieller 1954). The intervals hold jointly, for all groups and
    both policies.

    Args:
        released, std: the noisy sums of scores, returns and squares [3], and of episodes if a person may have several
            or there are groups [4]; and the standard deviations of the noise in them.
        n: the number of episodes of people held out, roughly if a person may have several.
        episodes: the most episodes of one person.
        groups: the number of groups if these are the sums of one of them, else 0.

    Returns:
        learned, behaviour, difference: the low end, the value and the high end [3] of the reward that such people would
            get in an episode under the learned policy, of the reward that they got, and of the first minus the second.
        covered, follows: see `Fitted`. episodes: the same three numbers for the number of a group's episodes.
    """
    H, quantile, number, most = len(fitted.V) - 1, QUANTILE, n, n
    of_n = std[3] / n if episodes > 1 else 0.0  # standard deviation of the number of episodes, as a share
    if groups:
        quantile = NormalDist().inv_cdf(1 - 0.05 / (4 * groups))
        number, off = float(np.clip(released[3], 1.0, n)), quantile * std[3]
        n = max(number - off, 1.0)  # the least possible number
        quantile = quantile if n >= FEWEST else np.inf  # too few for any estimate
        more, of_n = most / n, std[3] / n
        fitted = fitted._replace(
            lost=more * fitted.lost, variance=more * fitted.variance, spread=more**2 * fitted.of_V
        )
    score, of_returns, of_squares = released[:3] / number
    width = table.width / STEPS
    learned = score * width + table.low / STEPS
    now = float(np.clip(of_returns, 0.0, 1.0))
    # one standard deviation of the noise more, to be safe
    spread_now = np.clip(of_squares + std[2] / n - now**2, 0.0, 0.25) * H**2
    # a person's returns in several episodes may be correlated: a sum of k has at most k times their variances
    chance = np.sqrt(np.array([fitted.variance / n + fitted.spread, episodes * spread_now / n]))
    noise = np.hypot(std[:2] / n * np.array([width, H]), of_n * np.array([score * width, now * H]))
    half = quantile * np.hypot(chance, noise)
    # the rewards under the policy and those received may be correlated: at most, their standard deviations add up
    apart = quantile * float(np.sqrt(chance.sum() ** 2 + (noise**2).sum()))
    ends = {
        "learned": [learned - half[0], learned, learned + fitted.lost + half[0]],
        "behaviour": [now * H - half[1], now * H, now * H + half[1]],
    }
    found: dict[str, Array] = {name: np.clip(values, 0.0, H) for name, values in ends.items()}
    gain = learned - now * H
    found["difference"] = np.array([gain - apart, gain, gain + fitted.lost + apart])
    if groups:
        found["difference"] = found["difference"].clip(-H, H)
        found["episodes"] = np.clip([number - off, number, number + off], 0, most)
    return found | {"covered": np.array(fitted.covered), "follows": np.array(fitted.follows)}


def recommended(difference: Array) -> int:
    """Return the index of the recommended policy: 0 for the cautious policy, or 1 for the plug-in policy.

    The cautious policy is recommended if only this policy is better than today. The rule is fixed in advance; `python
    -m bench.hidden_models` compares rules. difference: the low end, the value and the high end for each policy [2, 3].
    """
    cautious, plug_in = map(verdict, difference)
    return int(not (cautious == BETTER and plug_in != BETTER))


def verdict(difference: Array) -> str:
    """Judge the gain over today as "better", "too close" or "worse", from its low end, value and high end."""
    low, _, high = difference
    return BETTER if low > 0 else WORSE if high < 0 else CLOSE
