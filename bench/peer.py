"""How many episodes a second dprl plays, and how many rlberry and rlberry-scool do, on one machine in one run.

    python -m bench.peer [--seconds 3] [--repeats 3] [--keep DIRECTORY]

All run UCBVI on RiverSwim (S = 6, A = 2, H = 20) on one core, with step-dependent estimates and a new plan
after every episode. rlberry's bonus is a simplified one, sqrt(1/n) + H/n, and its rewards are their
means; dprl computes the paper's Bernstein bonus and draws Bernoulli rewards. All compute their plans in code
compiled by numba; compilation is not timed. Time is CPU time. rlberry's later versions have their tabular agents in
rlberry-scool. Each needs a virtual environment of its own: it is made for the run and removed, or kept in, and later
taken from, --keep.
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
from dataclasses import dataclass
from pathlib import Path

from bench.engine import CASES, measure
from dprl.environments import ENVIRONMENTS


@dataclass(frozen=True)
class Peer:
    """A package with a UCBVI.

    Attributes:
        packages: what pip installs. numba is optional for rlberry, which is much slower without.
        alone: what it then installs without all that it asks for.
        agents, environments: the modules that have UCBVIAgent and FiniteMDP.
    """

    name: str
    packages: tuple[str, ...]
    alone: tuple[str, ...]
    agents: str
    environments: str


BELOW = ("gymnasium==0.29.1", "numba==0.68.1", "numpy==2.4.6")
PEERS = (
    Peer("rlberry 0.5.0", ("rlberry==0.5.0", *BELOW), (), "rlberry.agents.ucbvi", "rlberry.envs.finite"),
    Peer(
        "rlberry-scool 0.7.3",
        ("rlberry==0.7.3", *BELOW),
        ("rlberry-scool==0.7.3",),
        "rlberry_scool.agents.ucbvi",
        "rlberry.envs.finite_mdp",
    ),
)
HORIZON = 20

PEER_SCRIPT = """
import importlib, json, sys, time
import numpy as np
import rlberry

rlberry.logger.setLevel("WARNING")
given = json.load(sys.stdin)
UCBVIAgent = importlib.import_module(given["agents"]).UCBVIAgent
FiniteMDP = importlib.import_module(given["environments"]).FiniteMDP
environment = FiniteMDP(np.array(given["R"]), np.array(given["P"]), np.array(given["d1"]))
environment.reward_range = (0.0, 1.0)
agent = UCBVIAgent(environment, gamma=1.0, horizon=given["H"], stage_dependent=True, seeder=given["seed"])
agent.fit(10)
episodes, begin = 0, time.process_time()
while (seconds := time.process_time() - begin) < given["seconds"]:
    agent.fit(200)
    episodes += 200
print("episodes per second:", episodes / seconds)
"""


def make_environment(peer: Peer, directory: Path) -> Path:
    """Make a peer's environment in `directory` unless it is there; returns its Python."""
    python = directory / "bin" / "python"
    done = directory / "complete"
    if not done.exists():
        print(f"Installing {', '.join(peer.packages + peer.alone)} into {directory} ...", flush=True)
        venv.create(directory, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *peer.packages], check=True)
        if peer.alone:
            subprocess.run([*pip, "--no-deps", *peer.alone], check=True)
        done.touch()
    return python


def speed_of(peer: Peer, python: Path, seconds: float, seed: int) -> float:
    """Episodes a second of a peer's UCBVI, run for about `seconds`."""
    mdp = ENVIRONMENTS["riverswim"].make(S=6, H=HORIZON)
    given = {
        "agents": peer.agents,
        "environments": peer.environments,
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


def compare(pythons: dict[Peer, Path], seconds: float, repeats: int) -> None:
    """Measure all in turn and print each round, then the medians and their ratios."""
    rounds = []
    for repeat in range(repeats):
        played = {peer.name: speed_of(peer, python, seconds, repeat) for peer, python in pythons.items()}
        played["dprl"] = measure(CASES[0], repeat)
        rounds.append(played)
        print("   ".join(f"{name} {speed:>9,.0f} episodes/s" for name, speed in played.items()), flush=True)
    print(f"Medians: dprl {statistics.median(played['dprl'] for played in rounds):,.0f} episodes/s")
    for peer in pythons:
        ratios = [played["dprl"] / played[peer.name] for played in rounds]
        print(
            f"{peer.name} {statistics.median(played[peer.name] for played in rounds):,.0f} episodes/s: dprl plays "
            f"{statistics.median(ratios):.0f} times as many ({min(ratios):.0f} to {max(ratios):.0f})"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="how long a peer runs, each time")
    parser.add_argument("--repeats", type=int, default=3, help="how often each is measured, in turn")
    parser.add_argument("--keep", type=Path, help="keep the peers' environments in this directory")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):  # one core for both; children inherit it
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory(prefix="dprl-peer-") as made:
        root = arguments.keep.resolve() if arguments.keep else Path(made)
        pythons = {peer: make_environment(peer, root / peer.name.replace(" ", "-")) for peer in PEERS}
        compare(pythons, arguments.seconds, arguments.repeats)
    return 0


if __name__ == "__main__":
    sys.exit(main())
