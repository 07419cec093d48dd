"""LDP-OBI beside the other learners with local noise: regret, how it grows with K, and from which K on it has settled.

    python -m bench.ldp_obi [--seeds 5]

Defaults of each environment, local at (1, 10^-6), blocks of adaptive:0.1, each K a run of its own. A minute of CPU.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import dprl
from dprl.simulation import start

ENVIRONMENTS = ("riverswim", "chain", "clinic")
RUNS = (
    ("ldp-obi", "paper"),
    ("private-ucb-vi", "paper"),
    ("dp-ucbvi", "paper"),
    ("ldp-obi", "anytime"),
    ("dp-ucbvi", "anytime"),
)
SHOWN = (9, 11, 13, 15)
DECADES = range(7, 16)
SETTLED, SKEWED = 1e-6, 2.0  # gap over V*, and mean over median of regret


def ends(environment: str, algorithm: str, bonus: str, K: int, seeds: int, privacy: str) -> np.ndarray:
    """[seeds, 2] regret a user and the last policy's gap, both as shares of V*."""
    found = []
    for seed in range(seeds):
        spec = dprl.RunSpec(
            environment=environment, algorithm=algorithm, bonus=bonus, privacy=privacy, episodes=K, seeds=1
        )
        run = start(spec, seed)
        while not run.advance(60.0):
            pass
        trace = run.trace()
        found.append((trace.regret[-1] / K / trace.v_star, trace.gap[-1] / trace.v_star))
    return np.array(found)


def main(arguments: list[str] | None = None) -> int:
    """The command line. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.ldp_obi", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--privacy", default="local")
    options = parser.parse_args(arguments)
    heads = [f"10^{d}" for d in SHOWN] + ["exponent 10^13 to 10^15", "settled from"]
    print("| problem | learner | bonus | " + " | ".join(heads) + " |\n" + "| --- " * (3 + len(heads)) + "|")
    for environment in ENVIRONMENTS:
        for algorithm, bonus in RUNS:
            if options.privacy not in dprl.ALGORITHMS[algorithm].privacies:
                continue
            given = (options.seeds, options.privacy)
            found = {d: ends(environment, algorithm, bonus, 10**d, *given) for d in DECADES}
            regret = {d: found[d][:, 0] for d in DECADES}
            exponent = 1 + np.log10(regret[15].mean() / regret[13].mean()) / 2
            unsettled = [
                d
                for d in DECADES
                if found[d][:, 1].max() > SETTLED or regret[d].mean() > SKEWED * np.median(regret[d])
            ]
            last = max(unsettled, default=6) + 1
            said = [
                f"{regret[d].mean():.2%}" if regret[d].mean() > 1e-4 else f"{regret[d].mean():.1e}"
                for d in SHOWN
            ]
            said += [f"{exponent:.2f}", f"10^{last}" if last <= 15 else "beyond 10^15"]
            print(f"| {environment} | {algorithm} | {bonus} | " + " | ".join(said) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
