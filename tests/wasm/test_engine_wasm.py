"""assets/engine.wasm: made from the kernels as they are, and with their bits."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from bench.engine_wasm.entries import entries
from bench.engine_wasm.tools import digest as tools
from bench.engine_wasm.unoptimised import KNOWN, SWITCHED_OFF
from bench.engine_wasm.unoptimised import digest as of_numba
from dprl.engine.module import ENGINE, lack, manifest
from dprl.engine.sources import reached
from dprl.simulation import RunSpec
from dprl.simulation.loops.module_run import pack
from dprl.simulation.loops.replan import SeedRun
from dprl.simulation.replay import light_pack
from tests.test_layers import ROOT
from tests.wasm.browser import FUSED, played, values
from tests.wasm.cases import Case, begun, cases, differing, natively

CASES = tuple(cases())
# One of each kind of loop, of each way to draw noise that is no other's special case.
FIRST = (
    "ucb-po, none, paper, blocks",
    "ucbvi, none, paper, blocks",
    "dp-ucbvi, central, anytime, laplace-tree, paper, walked",
    "pucb, central, anytime, gaussian-tree, calibrated, blocks",
    "dp-ucbvi, local, unary, played",
    "dp-ucbvi, shuffle, paper, binomial-sum, paper, blocks",
    "riverswim, K = 1e+15",
)


def test_the_module_is_made_from_the_kernels_as_they_are() -> None:
    assert lack(entry.held for entry in entries()) == ""
    assert manifest().tools == tools(), (
        "bench/engine_wasm has changed since assets/engine.wasm was made; "
        "make it anew with `python -m bench.engine_wasm`."
    )
    assert [*manifest().kernels] == [entry.name for entry in entries()]


def test_the_module_says_nothing_of_the_machine_that_made_it() -> None:
    module = ENGINE.read_bytes()
    assert [at for at in (b".py", b"/lib/", b"/home/", str(ROOT).encode()) if at in module] == []


def test_what_is_switched_off_in_numba_is_what_it_was() -> None:
    assert of_numba() == KNOWN, (
        f"numba has changed {' or '.join(SWITCHED_OFF)}: read bench/engine_wasm/unoptimised.py, make the module anew, "
        "compare it by `python -m bench.engine --bits`, and write the new digest down."
    )


SOURCE = '''
RATE: int = 2

def helper(x, more=1.0):
    return x * RATE * more

def unused(x):
    return x

def kernel(x: float) -> float:
    """What it does."""
    return helper(x) + 1.0  # why
'''


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("int = 2", "int = 3", True),
        ("int = 2", "float = 2", False),
        ("more=1.0", "more=2.0", True),
        ("x * RATE", "RATE * x", True),
        ("+ 1.0", "+ 2.0", True),
        ("return x\n", "return -x\n", False),
        ("What it does", "What it is for", False),
        ("# why", "# because", False),
        ("x: float) -> float", "x)", False),
    ],
)
def test_the_digest_changes_when_what_is_compiled_does(
    tmp_path: Path, old: str, new: str, changes: bool
) -> None:
    assert old in SOURCE
    before, after = (
        sources_of(tmp_path / name, text) for name, text in (("a", SOURCE), ("b", SOURCE.replace(old, new)))
    )
    assert (before != after) == changes


def sources_of(folder: Path, text: str) -> dict[str, str]:
    """What the kernel of a module with this text is made of."""
    folder.mkdir()
    (folder / "toy.py").write_text(text, encoding="utf-8")
    found: dict[str, Any] = {"__name__": "dprl.toy"}
    exec(compile(text, folder / "toy.py", "exec"), found)
    return reached([found["kernel"]])


@pytest.mark.parametrize("name", ["log", "exp", "log1p", "expm1"])
def test_logarithms_and_exponentials_have_the_bits_of_the_c_library(engine: Page, name: str) -> None:
    rng = np.random.default_rng(0)
    size = np.exp(rng.uniform(-40.0, 6.0, 5_000))
    numbers = {"log": size, "exp": size - 10.0, "log1p": size, "expm1": size - 10.0}[name]
    numbers = np.concatenate([numbers, rng.uniform(0.0, 1.0, 5_000) * (-1.0 if name == "log1p" else 1.0)])
    if name == "log":  # close to 1, where the quick routine most often leaves it to the exact one
        numbers = np.concatenate([numbers, rng.uniform(0.9, 1.1, 5_000)])
    native = np.array([getattr(math, name)(number) for number in numbers.tolist()])
    given = values(engine, f"gnu_{name}", numbers)
    assert np.flatnonzero(given != native).tolist() == [], (
        f"The C library of this machine has another {name} than the module: it is not the GNU C library, or not for a "
        "processor with FMA. Runs can differ from the module's in their last digits here."
    )


def test_a_product_and_a_sum_are_rounded_once(engine: Page) -> None:
    """Also where a sum cancels, a product is tiny, or the result is halfway between two numbers."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 1_000)) * 2.0 ** rng.integers(-300, 300, (2, 1_000))
    z = -x * y * rng.choice([1.0, 1.0 + 2.0**-52, 2.0**-53, 2.0**52, 0.0, 1.5], 1_000)
    x[:100] = rng.integers(1, 2**27, 100) * 2.0**-500
    y[:100], z[:100] = 1.0 + 2.0**-26, x[:100] * (1.0 + 2.0**-30)
    triples = np.stack([x, y, z], 1).tolist()
    exact = [float(Fraction(a) * Fraction(b) + Fraction(c)) for a, b, c in triples]
    assert [float(one) for one in engine.evaluate(FUSED, triples)] == exact


def marked(case: Case) -> Any:
    """In `make test` one of each kind is played, in Node, too; .ci/run plays all there and in Firefox."""
    return pytest.param(case, id=case.name, marks=[] if case.name in FIRST else pytest.mark.thorough)


@pytest.mark.parametrize("case", map(marked, CASES))
def test_a_browser_gives_the_same_bits(engine: Page, in_node: Any, case: Case) -> None:
    run, packed = begun(case)
    native = natively(run)
    for place in (engine, in_node) if case.name in FIRST else (engine,):
        assert differing(native, played(place, packed)) == []


LIGHT = (
    RunSpec(environment_params={"S": 3, "H": 4}, episodes=10**4),
    RunSpec(environment="gridworld", algorithm="pucb", epsilon=0.3, episodes=10**9, root_seed=3),
    RunSpec(
        algorithm="private-ucb-po", mechanism="gaussian-optimal", schedule="geometric:0.1", episodes=10**6
    ),
    RunSpec(environment="random", episodes=10**15),
)


@pytest.mark.parametrize(
    "spec", [LIGHT[0], *(pytest.param(spec, marks=pytest.mark.thorough) for spec in LIGHT[1:])]
)
def test_a_browser_draws_the_noise_that_a_light_pack_leaves_out_with_the_same_bits(
    engine: Page, spec: RunSpec
) -> None:
    assert spec.mechanism == "gaussian-optimal"
    run = SeedRun(spec, 1)
    packed = light_pack(run)
    assert len(packed.to_json()) < len(pack(run).to_json()) / 4
    found = played(engine, packed)
    ours = {name: array for name, array in found.items() if not name.startswith("draws.")}
    assert differing(natively(run), ours) == []
