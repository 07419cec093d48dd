"""assets/engine.wasm: made from the kernels as they are, with their bits, and played wherever it can be."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator
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
from dprl import OfflineSpec, RunSpec
from dprl.engine import compiler, host, module
from dprl.engine.module import ENGINE, lack, manifest
from dprl.engine.pack import told
from dprl.engine.sources import reached
from dprl.fields import SpecError
from dprl.simulation import answer, answered, compiles, replay, start
from dprl.simulation.loops import module_run, replan
from dprl.simulation.loops.module_run import ModuleRun, pack
from dprl.simulation.loops.regress import RegressionRun
from dprl.simulation.loops.replan import SeedRun
from dprl.simulation.replay import SEEDS, STOPS, TOLD, UNSEEN, light_pack, replayed
from tests.problems import finished, first
from tests.simulation.test_trace import same_bits
from tests.test_layers import ROOT
from tests.wasm.browser import FUSED, played, values
from tests.wasm.cases import ByModule, Case, begun, cases, differing, ended, small

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
    """In `make test` one of each kind is played."""
    return pytest.param(case, id=case.name, marks=[] if case.name in FIRST else pytest.mark.thorough)


@pytest.mark.parametrize("case", [marked(case) for case in CASES])
def test_a_browser_gives_the_same_bits(engine: Page, in_node: Any, case: Case) -> None:
    run, packed = begun(case)
    native = ended(run)
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


@pytest.mark.parametrize("spec", first(LIGHT))
def test_a_browser_draws_the_noise_that_a_light_pack_leaves_out_with_the_same_bits(
    engine: Page, spec: RunSpec
) -> None:
    assert spec.mechanism == "gaussian-optimal"
    run = ByModule(spec, 1)
    packed = light_pack(run)
    assert len(packed.to_json()) < len(pack(run).to_json()) / 4
    found = played(engine, packed)
    ours = {name: array for name, array in found.items() if not name.startswith("draws.")}
    assert differing(ended(run), ours) == []


# As the engine of `dprl.run` and of workers: numba plays wherever the module cannot.

LINEAR = RunSpec(environment="linear-mixture", algorithm="ucrl-vtr", episodes=100, seeds=1)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Look up again what the module holds, before and after the test; play in plain Python what numba would compile."""
    monkeypatch.setattr(replan, "compiled", lambda function, signature: function)
    module_run.lack_of.cache_clear()
    yield
    module_run.lack_of.cache_clear()


@pytest.mark.thorough  # numba needs 40 s to compile the loop
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_the_module_plays_a_seed_in_slices_with_the_bits_of_numba(case: Case) -> None:
    by_module, _ = begun(case)
    while not by_module.advance(1e-4):
        pass
    by_numba = SeedRun(case.spec, 0, walk_below=case.walk_below)
    assert differing(ended(by_module), ended(by_numba)) == []
    same_bits(by_module.trace(), by_numba.trace())


SPEC = small(algorithm="dp-ucbvi", privacy="central", episodes=1_000)


def test_numba_plays_what_has_changed_since_the_module_was_made(
    plain: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = start(SPEC, 0)
    assert not expected._by_numba  # type: ignore[attr-defined]
    held = module.manifest()
    changed = held._replace(kernels={**held.kernels, "mdp.planning.evaluate:policy": "0" * 16})
    monkeypatch.setattr(module, "manifest", lambda: changed)
    module_run.lack_of.cache_clear()
    changes = "mdp.planning.evaluate:policy has changed since assets/engine.wasm was"
    assert ModuleRun.lack(SPEC).startswith(changes)
    run = start(SPEC, 0)
    assert run._by_numba  # type: ignore[attr-defined]
    np.testing.assert_array_equal(finished(run).curve().values, finished(expected).curve().values)


def test_numba_plays_where_wasmtime_cannot_be_imported(plain: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_run, "missing", lambda: "wasmtime cannot be imported here (no build).")
    assert "cannot be imported" in ModuleRun.lack(SPEC)
    assert ModuleRun(SPEC, 0)._by_numba


def test_numba_plays_a_long_run_if_it_is_compiled(plain: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ModuleRun, "long", 0.0)
    for there in (False, True):
        monkeypatch.setattr(module_run, "on_disk", lambda function, there=there: there)
        assert ModuleRun(SPEC, 0)._by_numba == there


def test_only_what_the_module_does_not_hold_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    compiler.cache_folder.cache_clear()
    try:
        assert not any(compiles(spec) for spec in (RunSpec(), RunSpec(privacy="local"), OfflineSpec()))
        assert compiles(LINEAR)
        (tmp_path / f"{RegressionRun.kernel.__module__}.simulate-0").touch()
        assert not compiles(LINEAR)
    finally:
        compiler.cache_folder.cache_clear()


def test_a_damaged_module_is_not_played(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    damaged = tmp_path / "engine.wasm"
    damaged.write_bytes(module.ENGINE.read_bytes()[:-1])
    monkeypatch.setattr(module, "ENGINE", damaged)
    module.damage.cache_clear()
    try:
        assert "is not the module that assets/engine.json describes" in module.lack([])
        monkeypatch.setattr(module, "ENGINE", tmp_path / "none.wasm")
        module.damage.cache_clear()
        assert "is missing" in module.lack([])
    finally:
        module.damage.cache_clear()


def test_memory_that_a_module_cannot_have_is_an_error() -> None:
    instance = host.Instance()
    for size in (2**28, 2**29, 2**30):
        with pytest.raises(MemoryError):
            instance.place([np.lib.stride_tricks.as_strided(np.zeros(1), (size,), (0,))])


def test_an_instance_is_reused_with_the_same_bits_until_a_call_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "_idle", [])
    first, _, again = (ended(ByModule(spec, 0)) for spec in (SMALL, SMALL.replace(privacy="local"), SMALL))
    assert differing(first, again) == []
    instance = host._idle.pop()  # the only one, of three runs and their kernels
    with pytest.raises(Exception, match="out of bounds"):
        instance.call("mdp.planning.evaluate:policy", 2**31 - 8)  # beyond its memory
    instance.give_back(instance.place([np.zeros(1)]))
    assert host._idle == []


# What a page plays without a server starts from the same bits as a native run, at every stop and seed.

SMALL = RunSpec(environment_params={"S": 3, "H": 4}, episodes=10**5, seeds=2, epsilon=0.25)
SPECS = (
    SMALL,
    SMALL.replace(privacy="local"),
    SMALL.replace(privacy="shuffle", episodes=10**4),
    SMALL.replace(mechanism="laplace-tree", calibration="paper"),
    SMALL.baseline(),
)


def bytes_of(content: dict[str, Any]) -> bytes:
    return bytes(content["zeros"]) if "zeros" in content else base64.b64decode(content["bytes"])


def composed(found: dict[str, Any], stop: int, seed: int) -> tuple[list[Any], list[bytes]]:
    """The words and the bytes of the buffers of one seed at one stop, put together as a page does."""
    words, base = list(found["words"]), [bytes_of(content) for content in found["buffers"]]
    contents, at = list(base), found["stops"][stop]
    for number, word in at["words"]:
        words[number] = word
    for number, content in [*at["buffers"], *found["seeds"][seed]]:
        if "by" not in content:
            contents[number] = bytes_of(content)
            continue
        nearly = np.frombuffer(base[number], np.float64) * content["by"]
        off = np.frombuffer(base64.b64decode(content["off"]), np.int8)
        contents[number] = (nearly.view(np.int64) + off).tobytes()
    return words, contents


@pytest.mark.parametrize("spec", first(SPECS))
def test_every_stop_and_seed_is_put_together_as_a_native_run_starts(spec: RunSpec) -> None:
    found = json.loads(json.dumps(replayed(spec)))
    assert [stop["epsilon"] for stop in found["stops"]] == replay.stops_of(spec)
    assert len(found["seeds"]) == SEEDS
    rng = np.random.default_rng(0)
    for stop in range(len(found["stops"])):
        seed, epsilon = int(rng.integers(SEEDS)), found["stops"][stop]["epsilon"]
        own = spec if epsilon is None else spec.replace(epsilon=epsilon)
        packed = light_pack(ByModule(own, seed))
        words, contents = composed(found, stop, seed)
        assert words == told(packed.words)
        differ = {
            buffer.name
            for buffer, content in zip(packed.buffers, contents, strict=True)
            if content != buffer.array.tobytes()
        }
        assert differ <= ({UNSEEN} if TOLD in found["names"] else set()), (epsilon, seed)


def test_a_page_is_prepared_without_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("dprl.simulation.loops.replan.compiled")
    assert replayed(SMALL)["stops"]


def test_the_own_budget_is_a_stop_and_without_privacy_there_is_one() -> None:
    assert replay.stops_of(SMALL) == sorted([*STOPS, 0.25])
    assert replay.stops_of(SMALL.baseline()) == [None]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"mechanism": "gaussian-toeplitz"}, "FFT"),
        ({"environment": "linear-mixture", "environment_params": {}, "algorithm": "ucrl-vtr"}, "LAPACK"),
        (
            {
                "environment_params": {"S": 50, "H": 40},
                "schedule": "episodic",
                "episodes": 10**6,
                "privacy": "none",
            },
            "a browser allows at most 2 s",
        ),
    ],
)
def test_what_cannot_be_played_is_said_in_one_sentence(changes: dict[str, Any], says: str) -> None:
    spec = RunSpec(**changes)
    assert says in replay.unplayable(spec)
    with pytest.raises(SpecError, match=says):
        answered(answer("replay", spec))
