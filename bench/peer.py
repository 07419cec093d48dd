"""How many episodes a second dprl plays, and how many rlberry does, on the same machine in the same run.

    python -m bench.peer [--seconds 3] [--repeats 3] [--keep DIRECTORY]

Both run UCBVI on RiverSwim (S = 6, A = 2, H = 20) on one core, with step-dependent estimates and a new plan
after every episode. rlberry 0.5.0's bonus is a simplified one, sqrt(1/n) + H/n, and its rewards are their
means; dprl computes the paper's Bernstein bonus and draws Bernoulli rewards. Both compute their plans in code
compiled by numba; compilation is not timed. rlberry needs a virtual environment of its own: it is made for
the run and removed, or kept in, and later taken from, --keep.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import dprl
from dprl.environments import ENVIRONMENTS

# numba is optional for rlberry, which is much slower without.
PEER_PACKAGES = ("rlberry==0.5.0", "gymnasium==0.29.1", "numba==0.68.1", "numpy==2.4.6")
HORIZON = 20
DPRL_EPISODES = 400_000  # one or two seconds

PEER_SCRIPT = """
import json, sys, time
import numpy as np
import rlberry
from rlberry.agents.ucbvi import UCBVIAgent
from rlberry.envs.finite import FiniteMDP

rlberry.logger.setLevel("WARNING")
given = json.load(sys.stdin)
environment = FiniteMDP(np.array(given["R"]), np.array(given["P"]), np.array(given["d1"]))
environment.reward_range = (0.0, 1.0)
agent = UCBVIAgent(environment, gamma=1.0, horizon=given["H"], stage_dependent=True, seeder=given["seed"])
agent.fit(10)
episodes, begin = 0, time.perf_counter()
while (seconds := time.perf_counter() - begin) < given["seconds"]:
    agent.fit(200)
    episodes += 200
print("episodes per second:", episodes / seconds)
"""


def make_environment(directory: Path) -> Path:
    """Make rlberry's environment in `directory` unless it is there; returns its Python."""
    python = directory / "bin" / "python"
    done = directory / "complete"
    if not done.exists():
        print(f"Installing {', '.join(PEER_PACKAGES)} into {directory} ...", flush=True)
        venv.create(directory, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEER_PACKAGES], check=True)
        done.touch()
    return python


def rlberry_speed(python: Path, seconds: float, seed: int) -> float:
    """Episodes a second of rlberry's UCBVI, run for about `seconds`."""
    mdp = ENVIRONMENTS["riverswim"].make(S=6, H=HORIZON)
    given = {
        "P": mdp.P[0].tolist(),
        "R": mdp.R[0].tolist(),
        "d1": mdp.d1.tolist(),
        "H": HORIZON,
        "seconds": seconds,
        "seed": seed,
    }
    done = subprocess.run(
        [python, "-c", PEER_SCRIPT], input=json.dumps(given), stdout=subprocess.PIPE, text=True, check=True
    )
    return float(done.stdout.split("episodes per second:")[1])


def dprl_speed(seed: int) -> float:
    """Episodes a second of dprl's UCBVI, the simulation loop alone."""
    spec = dprl.RunSpec(
        environment="riverswim",
        environment_params={"S": 6, "H": HORIZON},
        algorithm="ucbvi",
        bonus="paper",
        schedule="episodic",
        episodes=DPRL_EPISODES,
        seeds=1,
        root_seed=seed,
    )
    return float(dprl.run(spec).seeds[0].rate)


def compare(python: Path, seconds: float, repeats: int) -> None:
    """Measure the two in turn and print each pair, then the medians and their ratio."""
    pairs = []
    for repeat in range(repeats):
        pairs.append((rlberry_speed(python, seconds, repeat), dprl_speed(repeat)))
        print("rlberry {:>9,.0f} episodes/s   dprl {:>9,.0f} episodes/s".format(*pairs[-1]), flush=True)
    rlberry, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"Medians: rlberry {rlberry:,.0f}, dprl {ours:,.0f} episodes/s: {ours / rlberry:.1f} times as many."
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="how long rlberry runs, each time")
    parser.add_argument("--repeats", type=int, default=3, help="how often each is measured, in turn")
    parser.add_argument("--keep", type=Path, help="keep rlberry's environment in this directory")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):  # one core for both; children inherit it
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if arguments.keep:
        compare(make_environment(arguments.keep.resolve()), arguments.seconds, arguments.repeats)
    else:
        with tempfile.TemporaryDirectory(prefix="dprl-peer-") as directory:
            compare(make_environment(Path(directory)), arguments.seconds, arguments.repeats)
    return 0


if __name__ == "__main__":
    sys.exit(main())
