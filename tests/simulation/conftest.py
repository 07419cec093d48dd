from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dprl.mdp.tabular import Array
from dprl.privacy.privatizers import Noise
from dprl.privacy.privatizers.none import NOTHING_PROMISED
from dprl.simulation import RunSpec, prepare
from dprl.simulation.loops import eliminate, replan, slices
from dprl.simulation.trace import Ints


@pytest.fixture(autouse=True)
def own_home(home: Path) -> None:
    """Nothing of an upload outlives its test."""


@pytest.fixture
def few_details(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that stop twice for the details of a trace, not 40 times: for tests that look at the rest of many runs."""
    monkeypatch.setattr(slices, "DETAIL_BYTES", 0)


@pytest.fixture
def nothing_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Traces without what their noise proves, which for bits takes longer than to play: for tests of the rest."""
    for module in (slices, eliminate):
        monkeypatch.setattr(module, "guarantee_of", lambda spec, noise: NOTHING_PROMISED)


@pytest.fixture
def noise_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """How much noise there is, and what the learner is told of it, is worked out once for all seeds and environments
    of one size: for bits that takes longer than to play."""
    noises: dict[object, Noise] = {}
    errors: dict[object, Array] = {}
    work_out, tell = prepare.noise_of, prepare.error_told

    def noise_of(spec: RunSpec, times: Ints, **more: Any) -> Noise:
        left_out = "environment", "environment_params", "seeds", "root_seed"
        told = [value for name, value in spec.to_dict().items() if name not in left_out]
        key = str((told, spec.problem_size, times.tobytes(), more))
        if key not in noises:
            noises[key] = work_out(spec, times, **more)
        return noises[key]

    def error_told(spec: RunSpec, noise: Noise) -> Array:
        key = (spec.bonus, id(noise))  # which is kept above
        if key not in errors:
            errors[key] = tell(spec, noise)
        return errors[key]

    for module in (prepare, eliminate):
        monkeypatch.setattr(module, "noise_of", noise_of)
    monkeypatch.setattr(replan, "error_told", error_told)
