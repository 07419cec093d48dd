"""The public names, and the example in the package's own words."""

from __future__ import annotations

import doctest

import dprl


def test_every_public_name_is_there() -> None:
    assert len(set(dprl.__all__)) == len(dprl.__all__)
    for name in dprl.__all__:
        assert hasattr(dprl, name)
    assert {"RunSpec", "run", "Trace", "ENVIRONMENTS", "ALGORITHMS", "PRIVATIZERS", "MECHANISMS"} <= set(
        dprl.__all__
    )


def test_the_example_is_true() -> None:
    result = doctest.testmod(dprl)
    assert result.attempted > 0
    assert result.failed == 0
