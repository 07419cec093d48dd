"""A whole release of a file, from the file to what is written, attacked: the short form of bench/release_attack.py."""

from __future__ import annotations

import pytest

from bench.release_attack import PROMISES, attacked, measured, proved
from dprl.simulation.uploads import kept
from tests.problems import few, first

pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.parametrize("name", first(sorted(PROMISES, key="rho = 0.1".__ne__)))
def test_all_that_is_shown_of_a_release_tells_no_more_than_is_proved(name: str) -> None:
    promise, _ = PROMISES[name]
    worlds = attacked(promise, few(400) // 20)
    epsilon, delta = proved(promise)
    found = measured(worlds, delta)
    assert {"likelihood ratio", "size of release.json", "size of the budget", "seconds, rounded"} <= {*found}
    assert max(found.values()) <= epsilon
    assert found["what the budget says"] == found["what is refused"] == 0  # the same in both worlds
    assert not list(kept.folder().glob("*"))


@pytest.mark.thorough
def test_an_attack_on_a_twentieth_of_the_noise_finds_it() -> None:
    promise, _ = PROMISES["rho = 0.1"]
    epsilon, delta = proved(promise)
    assert measured(attacked(promise, 60, times=0.05), delta)["likelihood ratio"] > epsilon
