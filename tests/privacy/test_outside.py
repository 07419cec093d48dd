"""Mechanisms of other packages: what they are offered for is what the contract of a mechanism says, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from bench.engine_wasm.entries import entries
from dprl import ALGORITHMS, MECHANISMS, RunSpec
from dprl.privacy import PRIVATIZERS, Mechanism, outside
from dprl.research.series import style_of
from dprl.simulation import FIELDS
from dprl.simulation.pairs import calibrations_for, mechanisms_for
from dprl.simulation.replay import unplayable
from dprl.testing.report import offered
from tests.problems import refused

SUMS = replace(MECHANISMS["gaussian-optimal"], key="sums", title="Sums")  # has a covariance
REPORTS = replace(MECHANISMS["gaussian"], key="reports", title="Reports")
SMALL: dict[str, Any] = {"environment_params": {"S": 3, "H": 3}, "episodes": 1000, "seeds": 1}


@contextmanager
def offering(entry: Mechanism) -> Iterator[None]:
    """In this block specs may name a mechanism that no package registers yet."""
    if why := outside.refusal(entry):
        raise ValueError(f"mechanism: {why}.")
    models = dict(PRIVATIZERS)
    with offered(MECHANISMS, entry, FIELDS, "mechanism"):
        outside.offer(entry)
        try:
            yield
        finally:
            for key, model in models.items():
                PRIVATIZERS[key] = model


def test_it_is_for_calibrated_noise_in_running_counts() -> None:
    kernels = [entry.name for entry in entries()]
    before = {privacy: privatizer.mechanisms for privacy, privatizer in PRIVATIZERS.items()}
    own = [
        RunSpec(privacy=privacy, mechanism=key, **SMALL) for privacy, keys in before.items() for key in keys
    ]
    looks = [style_of(spec) for spec in own]
    with offering(SUMS), offering(REPORTS):
        assert [style_of(spec) for spec in own] == looks  # no other curve changes
        assert [entry.name for entry in entries()] == kernels  # the engine of browsers has dprl's own
        for algorithm in ALGORITHMS.values():
            for privacy, key in (("central", "sums"), ("local", "reports")):
                counted = algorithm.statistic.counted and not algorithm.forgets
                assert (key in mechanisms_for(algorithm.key, privacy)) == counted
                assert calibrations_for(algorithm.key, key) == ("calibrated",)
        for privacy, key in (("central", "sums"), ("local", "reports")):
            spec = RunSpec(privacy=privacy, mechanism=key, **SMALL)
            assert (spec.reports, spec.calibration) == ("all", "calibrated")
            assert RunSpec(privacy=privacy, **SMALL).mechanism == before[privacy][0]
            assert unplayable(spec) == "A browser cannot draw noise from another package."
            for name, value in (("reports", "played"), ("calibration", "paper"), ("contribution", 2)):
                with refused(f"{name}: "):
                    RunSpec(privacy=privacy, mechanism=key, **(SMALL | {name: value}))
    assert {privacy: privatizer.mechanisms for privacy, privatizer in PRIVATIZERS.items()} == before
    assert "sums" not in MECHANISMS


def test_a_privacy_model_offers_what_fits_it_and_says_whose_proof_it_is() -> None:
    assert (outside.model_of(SUMS), outside.model_of(REPORTS)) == ("central", "local")
    for wrong, sentence in (
        (replace(SUMS, norm="cells"), "mechanism: its norm is cells; give l1 or l2."),
        (replace(MECHANISMS["unary"], key="asking", norm="l1"), "mechanism: its noise depends on the data"),
    ):
        entry: Any = wrong
        with pytest.raises(ValueError, match=sentence.replace("(", r"\(")), offering(entry):
            pass
    assert outside.assumption("gaussian") == outside.assumption(None) == ()
    with offering(SUMS):
        assert outside.assumption("sums") == (
            "its author states how much the noise of Sums reveals, and dprl has no proof of it",
        )
