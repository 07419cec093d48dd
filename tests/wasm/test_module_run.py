"""The module as the engine of `dprl.run` and of workers: the bits of numba, and numba wherever it cannot play."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dprl import OfflineSpec, RunSpec
from dprl.engine import compiler, host, module
from dprl.simulation import compiles, start
from dprl.simulation.loops import module_run
from dprl.simulation.loops.module_run import ModuleRun
from dprl.simulation.loops.regress import RegressionRun
from dprl.simulation.loops.replan import SeedRun
from tests.problems import finished
from tests.wasm.cases import Case, cases, small
from tests.wasm.test_engine_wasm import FIRST

LINEAR = RunSpec(environment="linear-mixture", algorithm="ucrl-vtr", episodes=100, seeds=1)


@pytest.fixture
def forgetful() -> Iterator[None]:
    """What the module was found to hold is looked up again, before and after the test."""
    module_run.lack_of.cache_clear()
    yield
    module_run.lack_of.cache_clear()


@pytest.mark.parametrize("case", [case for case in cases() if case.name in FIRST], ids=lambda case: case.name)
def test_the_module_plays_a_seed_in_slices_with_the_bits_of_numba(case: Case) -> None:
    spec, walk_below = case.spec, case.walk_below
    by_module, by_numba = ModuleRun(spec, 0, walk_below=walk_below), SeedRun(spec, 0, walk_below=walk_below)
    assert not by_module._by_numba
    while not by_module.advance(1e-4):
        pass
    ours, theirs = by_module.trace(), finished(by_numba).trace()
    assert ours.curve.values.tobytes() == theirs.curve.values.tobytes()
    for name in ("counts", "noisy", "released", "policy", "Q", "V"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


SPEC = small(algorithm="dp-ucbvi", privacy="central", episodes=1_000)


def test_numba_plays_what_has_changed_since_the_module_was_made(
    forgetful: None, monkeypatch: pytest.MonkeyPatch
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


def test_numba_plays_where_wasmtime_cannot_be_imported(
    forgetful: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module_run, "missing", lambda: "wasmtime cannot be imported here (no build).")
    assert "cannot be imported" in ModuleRun.lack(SPEC)
    assert ModuleRun(SPEC, 0)._by_numba


def test_numba_plays_a_long_run_if_its_kernels_are_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
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
        (tmp_path / f"{compiler.file_name(RegressionRun.kernel)}-0").touch()
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
