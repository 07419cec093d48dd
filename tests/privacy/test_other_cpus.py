"""Noise, and what learners are told of it, are the same to the last bit on every CPU.

NumPy, the C library and OpenBLAS pick other code for each CPU, and numba makes other code: this asks for the plainest.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from dprl import ALGORITHMS, RunSpec, run
from dprl.privacy import MECHANISMS, PRIVATIZERS, Mechanism
from dprl.privacy.mechanisms import Stream
from dprl.privacy.mechanisms.unary import UNARY, chances
from tests.privacy.draws import EVERY, prepared

TIMES = np.unique(np.geomspace(1, 10**6, 40).astype(np.int64))
FOUND = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])  # code of its own for this CPU
PLAINER = {
    "numpy": {"NPY_DISABLE_CPU_FEATURES": " ".join(FOUND)},
    "libc": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F"},
    "blas": {"OPENBLAS_CORETYPE": "Nehalem"},
    "numba": {"NUMBA_CPU_NAME": "generic"},
}
Numbers = dict[str, str]


def bits(array: object) -> str:
    return hashlib.sha256(np.asarray(array, dtype=float).tobytes()).hexdigest()


def drawn(mechanism: Mechanism, stream: Stream) -> str:
    """Unit noise of each release in seven cells; half of the users that are asked are in a cell."""
    rng = np.random.default_rng(0)
    memory, noise = np.zeros((mechanism.rows(stream.items, stream.releases), 7)), np.zeros(7)
    if mechanism.prepare is not None:
        mechanism.prepare(rng, stream, memory)
    found = []
    for i, users in enumerate(np.diff(stream.leaves[:-1])):
        if mechanism is UNARY:
            memory[3], memory[4] = chances(replace(stream, questions=np.arange(7)))
            memory[1] = np.rint(users * memory[3])
            memory[0], memory[2] = memory[1] // 2, users // 2
        mechanism.add_noise(i, stream.leaves, stream.batches, memory, rng, noise)
        found.append(noise.copy())
    return bits(found)


def noise() -> Numbers:
    """Scales, deviations, bounds, radii and draws of every kind of noise."""
    found = {}
    for triple in EVERY:
        made, name = prepared(*triple, TIMES, H=3, S=3, A=2, epsilon=50.0), ", ".join(triple)
        for part in ("scales", "std", "bound"):
            found[f"{name}: {part}"] = bits(getattr(made, part))
        found[f"{name}: radius"] = bits(made.radius())
        found[f"{name}: draws"] = drawn(MECHANISMS[triple[1]], made.stream)
    return found


def runs() -> Numbers:
    """Of short runs with every kind of noise and every set of constants: regret, noise, bounds and plans."""
    specs = [RunSpec(environment="riverswim", algorithm="ucbvi", episodes=10**7, seeds=1)]
    for key, privacy, mechanism, calibration in [
        *(("dp-ucbvi", *triple) for triple in EVERY),
        *(("sdp-pe-relaxed", *triple) for triple in EVERY if triple[1] == "binomial-sum"),
    ]:
        given = {"environment_params": {"S": 4, "H": 6}, "episodes": 10**9, "seeds": 1, "algorithm": key}
        given |= {"privacy": privacy, "mechanism": mechanism, "calibration": calibration}
        ways = product(ALGORITHMS[key].bonuses, (1.0, 30.0))
        specs += [RunSpec.from_dict(given | {"bonus": bonus, "epsilon": epsilon}) for bonus, epsilon in ways]
    found = {}
    for spec in specs:
        trace, name = run(spec).seeds[0], spec.to_json()
        for part in ("regret", "noisy", "released", "error_bound", "error_used", "Q"):
            if hasattr(trace, part):
                found[f"{name}: {part}"] = bits(getattr(trace, part))
    return found


def elsewhere(what: str, *plainer: str) -> Numbers:
    """The same, computed by another process on an imitated CPU."""
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    for name in plainer:
        env |= PLAINER[name]
    found: Numbers = json.loads(subprocess.check_output([sys.executable, __file__, what], env=env))
    return found


@pytest.mark.thorough
def test_plainer_code_draws_the_same_noise() -> None:
    other, ours = elsewhere("noise", "numpy", "libc", "blas"), noise()
    assert other.keys() == ours.keys()
    assert {name.partition(",")[0] for name in ours} == set(PRIVATIZERS) - {"none"}
    assert [name for name in ours if ours[name] != other[name]] == []


@pytest.mark.thorough
@pytest.mark.parametrize("plainer", [*[(name,) for name in PLAINER], tuple(PLAINER)], ids="+".join)
def test_plainer_code_makes_the_same_runs(plainer: tuple[str, ...]) -> None:
    other, ours = elsewhere("runs", *plainer), runs()
    assert other.keys() == ours.keys()
    assert [name for name in ours if ours[name] != other[name]] == []


if __name__ == "__main__":
    print(json.dumps({"noise": noise, "runs": runs}[sys.argv[1]]()))
