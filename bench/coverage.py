"""How often a value is below Q*, and noise beyond E, over privacy models, mechanisms, reports counted and declarations.

    python -m bench.coverage [--runs 10000] [--first 0] [--only shuffle]

Each run is of a random model (S to 12, A to 5, H to 25), whose steps are alike, of 10^3, 10^6 or 10^9 users, at epsilon
3, 30 or 300, and at beta 0.5 or 0.05. Ways take turns: a privacy model, a mechanism, whose reports a row counts, and
whether steps are declared to be alike. Q~ never rises, so that the last one tells whether any was ever below Q*: that
may happen with a chance of at most beta. That noise passes E may happen with one of beta/3.

A line for each way and beta: runs, those that learned (some Q~ of the first step has lost a tenth of H), those with a
value below Q*, those with noise beyond E, and the largest noise over E.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from scipy import stats

from bench.played import LENGTHS
from dprl import RunSpec, SpecError
from dprl.simulation import SeedRun
from dprl.simulation.pairs import mechanisms_for, not_counted, not_pooled

BETAS = (0.5, 0.05)
HORIZONS = (2, 5, 10, 25)  # few, as noise takes a moment to calibrate to each
EPSILONS = (3.0, 30.0, 300.0)
LEARNER = "dp-ucbvi"


class Way(NamedTuple):
    """How noise comes in, and what is done with it."""

    privacy: str
    mechanism: str
    reports: str
    stationary: str

    @property
    def told(self) -> str:
        """In words."""
        declared = ", declared" if self.stationary == "yes" else ""
        return f"{self.privacy}, {self.mechanism}, {self.reports}{declared}"


def ways() -> Iterator[Way]:
    """All that go together with the anytime bonus and calibrated noise."""
    for privacy in ("central", "shuffle", "local"):
        for mechanism in mechanisms_for(LEARNER, privacy):
            for reports in ("all", "played"):
                if not_counted(reports, LEARNER, privacy, mechanism):
                    continue
                yield Way(privacy, mechanism, reports, "no")
                if not not_pooled(LEARNER, mechanism, "tight", "anytime"):
                    yield Way(privacy, mechanism, reports, "yes")


def spec_of(way: Way, number: int) -> RunSpec:
    """Run `number` of a way, whose model, length, epsilon and beta are drawn at random."""
    rng = np.random.default_rng([34, number])
    sizes = {
        "S": int(rng.integers(2, 13)),
        "A": int(rng.integers(2, 6)),
        "H": int(rng.choice(HORIZONS)),
        "seed": int(rng.integers(10**6)),
    }
    return RunSpec(
        environment="random",
        environment_params=sizes,
        episodes=LENGTHS[int(rng.integers(len(LENGTHS)))],
        epsilon=float(rng.choice(EPSILONS)),
        beta=float(rng.choice(BETAS)),
        schedule="adaptive:1",
        **way._asdict(),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first run, to go on from one")
    parser.add_argument("--only", default="", help="ways whose words have this in them")
    given = parser.parse_args()
    known = [way for way in ways() if given.only in way.told]
    found: dict[tuple[str, float], list[tuple[bool, bool, float]]] = defaultdict(list)
    for number in range(given.first, given.first + given.runs):
        way = known[number % len(known)]
        try:
            spec = spec_of(way, number)
            found[way.told, spec.beta or 0.0].append(outcome(spec, number))
        except SpecError as refused:  # noise of this kind proves nothing of the kind
            print(f"{way.told}: {refused}", file=sys.stderr)
        if (number + 1) % 500 == 0:
            print(f"{number + 1:,}: {total(found)}", file=sys.stderr, flush=True)
    print("way | beta | runs | learned | a value below Q* | noise beyond E | largest noise over E")
    for (told, beta), rows in sorted(found.items(), key=str):
        learned, lost, ratio = (np.array(column) for column in zip(*rows, strict=True))
        counts = f"{len(rows):,} | {learned.sum()} | {lost.sum()} | {(ratio > 1).sum()} | {ratio.max():.2f}"
        print(f"{told} | {beta:g} | {counts}")
    print(total(found))


def outcome(spec: RunSpec, seed: int) -> tuple[bool, bool, float]:
    """Of one run: whether it learned, whether a value was below Q*, and the largest noise over E."""
    run = SeedRun(spec, seed)
    while not run.advance(60.0):
        pass
    Q, best = run.state.Q, run.optimum.Q
    return bool(Q[0].min() < 0.9 * run.mdp.H), bool((Q < best - 1e-9).any()), float(run.record.ratio.max())


def total(found: Mapping[tuple[str, float], list[tuple[bool, bool, float]]]) -> str:
    """Over all ways, by beta, with exact 95% bounds."""
    said = []
    for beta in BETAS:
        rows = [row for (_, other), some in found.items() for row in some if other == beta]
        for what, count in (
            ("a value below Q*", sum(lost for _, lost, _ in rows)),
            ("noise beyond E", sum(ratio > 1 for *_, ratio in rows)),
        ):
            most = stats.binomtest(count, len(rows)).proportion_ci(0.95, method="exact").high
            said.append(
                f"beta {beta:g}: {what} in {count} of {len(rows):,} runs, at most {most:.2g} (exact 95%)"
            )
    return "\n".join(said)


if __name__ == "__main__":
    main()
