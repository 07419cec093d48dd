"""Noise is the same to the last bit on every CPU: NumPy picks other code for each, and this asks for the plainest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from dprl.privacy.mechanisms import gaussian, optimal
from tests.privacy.draws import prepared

TIMES = np.unique(np.geomspace(1, 10**6, 200).astype(np.int64))
FOUND = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])  # code of its own for this CPU


def noise() -> dict[str, str]:
    """Scales, deviations and bounds of every kind of noise, and correlated draws: their bits."""
    found = {}
    for privacy, mechanism in (
        ("central", "laplace-tree"),
        ("central", "gaussian-tree"),
        ("central", "gaussian-toeplitz"),
        ("central", "gaussian-optimal"),
        ("central", "gaussian-blt"),
        ("local", "laplace"),
        ("local", "gaussian"),
        ("shuffle", "binomial-sum"),
    ):
        made = prepared(privacy, mechanism, "tight", TIMES, H=5)
        for name in ("scales", "std", "bound"):
            found[f"{mechanism} {name}"] = np.asarray(getattr(made, name)).tobytes().hex()
    stream = prepared("central", "gaussian-toeplitz", "tight", TIMES).stream
    for correlate in (gaussian.correlate, optimal.correlate):
        memory = np.zeros((stream.releases, 7))
        correlate(np.random.default_rng(0), stream, memory)
        found[f"draws, {correlate.__module__}"] = memory.tobytes().hex()
    return found


def test_plainer_code_draws_the_same_noise() -> None:
    root = str(Path(__file__).parents[2])
    env = os.environ | {"NPY_DISABLE_CPU_FEATURES": " ".join(FOUND), "PYTHONPATH": root}
    done = subprocess.run([sys.executable, __file__], env=env, capture_output=True, text=True, check=True)
    other, ours = json.loads(done.stdout), noise()
    assert [name for name in ours if ours[name] != other[name]] == []


if __name__ == "__main__":
    print(json.dumps(noise()))
