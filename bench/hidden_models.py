"""Measure how accurate releases about an uploaded file are, on new models: `python -m bench.hidden_models`.

Each model has its own sizes, rewards, rare states and behaviour policy. For each budget it prints, over all models: the
gain over today's practice of each policy and of the recommended one, as a share of the better policy's gain; how often
the proved bound was above the true value; and how often a verdict was wrong.

`--data-sets 1000` draws that many data sets.
"""

from __future__ import annotations

import argparse
import io

import numpy as np
from scipy.special import softmax

import dprl
from dprl.mdp import TabularMDP, planning
from dprl.mdp.tabular import Array
from dprl.simulation import UploadTrace
from dprl.simulation.uploads import check, kept
from dprl.simulation.uploads.model import trajectories
from dprl.simulation.uploads.spec import LEARNERS

MODELS, BUDGETS = 20, (0.05, 0.1, 1.0)


def hidden(seed: int) -> tuple[TabularMDP, Array, int]:
    """Draw a random model; return it with the behaviour policy of its users [H, S, A] and the number of users."""
    rng = np.random.default_rng([66, seed])  # our rule was chosen on models with other seeds
    S, A, H = int(rng.integers(3, 11)), int(rng.integers(2, 5)), int(rng.integers(3, 11))
    rare = 1.0 / np.arange(1, S + 1) ** rng.choice([0.0, 1.0, 2.0])
    P = rng.dirichlet(np.full(S, rng.choice([0.2, 0.5, 2.0])), (S, A)) * rare
    P /= P.sum(-1, keepdims=True)
    R = rng.beta(0.7, 0.7, (S, A))
    if seed % 3 == 0:  # hardly anything is rewarded
        R = (rng.random((S, A)) < 0.2) * rng.random((S, A))
    if seed % 4 == 1:  # later states are worth more
        R = np.clip(np.linspace(0, 0.8, S)[:, None] + rng.normal(0, 0.1, (S, A)), 0, 1)
    labels = tuple(f"s{i}" for i in range(S)), tuple(f"a{i}" for i in range(A))
    whole = np.broadcast_to(P, (H, S, A, S)).copy(), np.broadcast_to(R, (H, S, A)).copy()
    model = TabularMDP("hidden", *whole, rare / rare.sum(), *labels)
    Q = planning.optimum(model).Q
    ways = (
        np.broadcast_to(rng.dirichlet(np.full(A, 2.0), S), (H, S, A)),
        np.full((H, S, A), 1 / A),
        softmax(2.0 * Q, -1),  # somebody with some knowledge
        0.9 * np.broadcast_to(np.eye(A)[rng.integers(0, A, S)], (H, S, A)) + 0.1 / A,  # a habit
        softmax(-Q, -1),
    )
    return model, np.ascontiguousarray(ways[seed % 5]), int(rng.choice([4_000, 10_000, 30_000]))


def value(model: TabularMDP, way: Array) -> float:
    """Return the expected reward of a stochastic policy in one episode. way: its action probabilities [H, S, A]."""
    return planning.start_value(model, planning.policy_values(model, way))


def worth(trace: UploadTrace, number: int, model: TabularMDP, way: Array) -> float:
    """Return the value of a learned policy if users act as today where the data do not support its action."""
    policy, E = trace.policies[number].astype(np.int64), float(next(iter(trace.errors.values())))
    enough = check.taken(trace.released, policy) - E >= 1
    return value(model, np.where(enough[..., None], np.eye(model.A)[policy], way))


def main() -> None:
    """Draw data sets, make a release of each, and print a table of the errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=MODELS)
    found: dict[float, list[tuple[float, ...]]] = {rho: [] for rho in BUDGETS}
    for number in range(parser.parse_args().data_sets):
        model, way, n = hidden(number % MODELS)
        text = trajectories(model, way, n, np.random.default_rng([number, 1]))
        public = {
            "states": list(model.state_labels),
            "actions": list(model.action_labels),
            "horizon": model.H,
        }
        spec, now = dprl.upload(io.BytesIO(text.encode()), public, rho=1.0), value(model, way)
        for rho in BUDGETS:
            trace = dprl.run(spec.replace(rho=rho)).seeds[0]
            gains = [worth(trace, policy, model, way) - now for policy in (0, 1)]
            gain = gains[trace.recommended]
            above = float(trace.curve.values[0]) > gains[0] + now
            wrong = trace.verdict == "better" and gain <= 0, trace.verdict == "worse" and gain >= 0
            found[rho].append((*gains, gain, above, *wrong))
        kept.forget(spec.data)
    for rho, rows in found.items():
        cautious, plug_in, recommended, above, better, worse = np.array(rows, dtype=float).T
        best = np.maximum(cautious, plug_in).mean()
        means = np.array([cautious.mean(), plug_in.mean(), recommended.mean()]) / best
        shares = zip((*LEARNERS, "recommended"), means, strict=True)
        print(f"rho {rho:g}, {len(rows)} data sets:", *(f"{name} {share:.2f}" for name, share in shares))
        wrong_said = (
            f"verdict better is wrong: {better.mean():.4f}, verdict worse is wrong: {worse.mean():.4f}"
        )
        print(f"  bound is too high: {above.mean():.3f}, {wrong_said}")


if __name__ == "__main__":
    main()
