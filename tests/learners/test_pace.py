"""What learners with a schedule of their own say of it is what they do."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from dprl.learners import ALGORITHMS
from dprl.learners.elimination.eliminator import stages
from dprl.learners.linear.value_iteration import batches
from dprl.mdp import Size


@pytest.mark.parametrize("key", ALGORITHMS)
def test_who_has_a_schedule_of_its_own_says_what_it_is(key: str) -> None:
    learner = ALGORITHMS[key]
    assert [bool(learner.pace(private)) for private in (True, False)] == [bool(learner.schedule)] * 2


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_batches_that_are_called_equal_are(norm: str) -> None:
    assert "equal batches" in ALGORITHMS["lsvi-ucb"].pace(True)
    assert "equal" not in ALGORITHMS["lsvi-ucb"].pace(False)
    ends = batches(10**8, Size(4, 3, 5, d=3), 1.0, norm)
    assert len(ends) > 3
    assert len(set(np.diff([0, *ends]))) == 1


@pytest.mark.parametrize("key", ["sdp-pe", "apeve", "sdp-pe-relaxed", "apeve-relaxed"])
@pytest.mark.parametrize("K", [1000, 10**6 + 7, 10**12])
def test_stages_that_are_said_to_double_do(key: str, K: int) -> None:
    assert "each twice as long as the one before except for the last" in ALGORITHMS[key].pace(True)
    lengths = [stage.length for stage in stages(K, 12)]
    assert len(lengths) > 2
    assert all(after == 2 * before for before, after in pairwise(lengths[:-1]))
    assert sum(lengths) * 2 >= K - 1  # who is left is in the last
