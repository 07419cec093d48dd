"""A data set as an environment: the model that fits its counts best, for the environment `custom`. An estimate.

Fitted to counts as they are it is not private: it says of every state and action what share went where. Fitted to what
was released of them it is as private as that is. And an example of a data set, from a known environment.
"""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np

from dprl.environments import custom
from dprl.mdp import counts
from dprl.mdp.tabular import Array
from dprl.simulation import datasets
from dprl.simulation.uploads.declaration import Declaration

NAME = "Fitted to data: an estimate, not private"
DIGITS = 9
EXAMPLE_PEOPLE, EXAMPLE_H = 20_000, 2


def fitted(record: Array, declared: Declaration, least: float = 0.0) -> str:
    """The JSON of an environment with the transition frequencies of counts, and the declared start.

    A pair (s, a) that was never seen at a step has the frequencies of all steps, as every pair has where steps are
    declared to be alike; one that was never seen at all stays in s. Rewards are as declared, in units of their range;
    where none are, the mean of those that were seen, and 0 of none.

    Args:
        record: [H, S, A, S + 2], true counts or released ones.
        declared: what is declared of them.
        least: as many visits count as none, or fewer; E of released counts.

    Raises:
        SpecError: it is too large for an environment.
    """
    S, A, H, _ = declared.size
    m, n, r = counts.transitions(record), counts.visits(record), counts.rewards(record)
    seen = n > least
    m, n, r = m * seen[..., None], n * seen, r * seen
    stays, R = np.broadcast_to(np.eye(S)[:, None], (S, A, S)), declared.rewards
    of_all = np.clip(_mean(r.sum(0), n.sum(0), np.zeros((S, A))), 0, 1)
    pooled = _mean(m[: H - 1].sum(0), n[: H - 1].sum(0), stays)  # what follows the last step is no transition
    if declared.stationary:  # one step stands for all
        P = pooled
        R = of_all if R is None else R[0]
    else:
        P = np.concatenate([_mean(m, n, pooled)[: H - 1], pooled[None]])
        R = np.clip(_mean(r, n, of_all), 0, 1) if R is None else R
    start = n[0].sum(-1) / n[0].sum() if declared.start is None else declared.start
    model = json.dumps(
        {
            "name": NAME,
            "P": _probabilities(P).tolist(),
            "R": R.round(DIGITS).tolist(),
            "d1": start.tolist(),
            "state_labels": list(declared.states),
            "action_labels": list(declared.actions),
        },
        separators=(",", ":"),
    )
    custom.make(model, H)
    return model


def _mean(total: Array, n: Array, otherwise: Array) -> Array:
    """total/n, and `otherwise` where n is 0. total: n's shape, or one axis more."""
    n = n.reshape(n.shape + (1,) * (total.ndim - n.ndim))
    return np.asarray(np.where(n > 0, total / np.where(n > 0, n, 1.0), otherwise))


def _probabilities(P: Array) -> Array:
    """Rounded, so that they are short to write; the largest of a row takes what its sum then lacks."""
    short = P.round(DIGITS)
    rest = 1 - short.sum(-1, keepdims=True)
    largest = np.arange(P.shape[-1]) == short.argmax(-1)[..., None]
    return np.asarray((short + largest * rest).round(DIGITS + 1))


EXAMPLE: dict[str, Any] = {
    "states": custom.EXAMPLE["state_labels"],
    "actions": custom.EXAMPLE["action_labels"],
    "horizon": EXAMPLE_H,
    "rewards": custom.EXAMPLE["R"],
    "reward_range": [0, 1],
    "start": "hall",
}


def example() -> str:
    """A CSV of trajectories that EXAMPLE declares: people in the environment that `custom` has as its example."""
    mdp = custom.make(H=EXAMPLE_H)
    rng = np.random.default_rng(0)
    policy = datasets.uniform_policy(mdp)

    def drawn(chances: Array) -> np.ndarray:
        """One of the last axis of each row."""
        return np.asarray((rng.random(len(chances))[:, None] > chances.cumsum(-1)[:, :-1]).sum(-1))

    s = drawn(np.tile(mdp.d1, (EXAMPLE_PEOPLE, 1)))
    rows = []
    for h in range(mdp.H):
        a = drawn(policy[h, s])
        x = drawn(mdp.P[h, s, a])
        rows.append((s, a, rng.random(len(s)) < mdp.R[h, s, a]))
        s = x
    text = io.StringIO()
    text.write("episode,step,state,action,reward\n")
    states, actions = mdp.state_labels, mdp.action_labels
    for who in range(EXAMPLE_PEOPLE):
        for h, (s, a, r) in enumerate(rows):
            text.write(f"{who},{h},{states[s[who]]},{actions[a[who]]},{int(r[who])}\n")
    return text.getvalue()
