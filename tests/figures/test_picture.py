"""What a page keeps of a picture."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable

import numpy as np
import pytest

from dprl.figures.picture import PackedPicture, Picture
from tests.figures.captioned import comparison, heatmaps
from tests.figures.test_regret import curve


def curves() -> Picture:
    return comparison([curve(), curve("another", "local", 3.0)], show_seeds=True)


def cells() -> Picture:
    true = np.arange(10.0 * 6 * 2).reshape(10, 6, 2)
    names = [f"s{i}" for i in range(6)]
    return heatmaps(
        true, true + 1, when="after 10 episodes", state_labels=names, action_labels=["stay", "go"]
    )


@pytest.mark.parametrize("draw", [curves, cells])
def test_it_says_the_same_in_a_third_of_the_memory(draw: Callable[[], Picture]) -> None:
    PackedPicture(draw())  # after which all is imported
    tracemalloc.start()
    picture = draw()
    gc.collect()
    whole, _ = tracemalloc.get_traced_memory()
    kept = PackedPicture(picture)
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] - whole
    tracemalloc.stop()
    assert taken < 0.3 * whole
    assert taken / 2 < kept.nbytes < 1.2 * taken
    assert repr(kept.figure.to_dict()) == repr(picture.figure.to_dict())
    assert kept.table.equals(picture.table)
    assert (kept.alt, kept.see) == (picture.alt, picture.see)
    figure = weakref.ref(picture.figure)
    del picture
    gc.collect()
    assert figure() is None


def test_what_one_visitors_page_does_to_it_no_other_sees() -> None:
    kept = PackedPicture(curves())
    before = repr(kept.figure.to_dict())
    kept.figure.to_dict()["layout"].clear()
    assert repr(kept.figure.to_dict()) == before
