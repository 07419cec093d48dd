"""The example in the package's own words."""

from __future__ import annotations

import doctest

import dprl


def test_the_example_is_true() -> None:
    result = doctest.testmod(dprl)
    assert result.attempted > 0
    assert result.failed == 0
