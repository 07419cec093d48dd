"""About many learners at once: who needs the fewest users under each kind of trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dprl.messages import filled, messages
from dprl.words import human, listed, rough

SAID = messages("charts")["landscape"]

Needed = tuple[str, float, float, float]  # a learner, and the users that it needs with their interval


def about_fewest(found: Mapping[str, Sequence[Needed]], most: float) -> str:
    """Who needs the fewest users. found: by who is trusted ("with a trusted curator") the learners; users are infinite
    for more than `most`, NaN where nothing was run. Learners whose intervals meet that of the least are named, too.
    How many that are is for `how_many` to say: with both a sentence would be too long to be read."""
    return " ".join(_best(f"{who[0].upper()}{who[1:]}", learners, most) for who, learners in found.items())


def _best(trusted: str, learners: Sequence[Needed], most: float) -> str:
    known = [one for one in learners if not np.isnan(one[1])]
    if not known:
        return filled(SAID["not_run"], trusted=trusted)
    _, least, _, high = min(known, key=lambda one: one[1])
    if np.isinf(least):
        return filled(SAID["not_learned"], trusted=trusted, users=human(most))
    best = [name for name, users, low, _ in known if users == least or low <= high]
    if len(best) == 1:
        return filled(SAID["one"], trusted=trusted, algorithm=best[0])
    return filled(SAID["several"], trusted=trusted, algorithms=listed(best))


def how_many(found: Mapping[str, Sequence[Needed]]) -> str:
    """How many users those of `fewest` need; "" where nobody gets there."""
    least = {
        who: min((one[1] for one in own if np.isfinite(one[1])), default=np.inf) for who, own in found.items()
    }
    said = [f"{rough(users)} {who}" for who, users in least.items() if np.isfinite(users)]
    return f"Fewest users needed: {listed(said)}." if said else ""


def about_spread(found: Mapping[str, Sequence[float]], K: float) -> str:
    """How much choice matters. found: by who is trusted the regret of each learner after K users."""
    ratios = {who: max(own) / min(own) for who, own in found.items() if len(own) > 1 and min(own) > 0}
    if not ratios:
        return "A lower line has lost less. Users needed are read off the dotted line at 10%."
    said = [f"{rough(ratio)} times {who}" for who, ratio in ratios.items()]
    return f"After {human(K)} users, the worst algorithm has lost more than the best: {listed(said)}."


def about_lower(best: Mapping[str, float], K: float) -> str:
    """How many times the lower bound the best algorithm has lost, by who is trusted; "" where no bound is known."""
    said = [f"{rough(times)} times {who}" for who, times in best.items() if np.isfinite(times)]
    if not said:
        return ""
    return (
        "No algorithm stays below the dotted lower bound both here and on one neighbour. "
        f"After {human(K)} users, the best algorithm has lost more than that: {listed(said)}."
    )
