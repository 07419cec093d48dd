"""What all visitors share is bounded in memory, whatever links they follow (docs/how-to/deploying.md)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from dprl.figures.picture import Picture
from dprl.research.series import place_of
from dprl.runs.store import Store
from dprl.simulation import RunSpec
from pages.shared.layout import chart
from pages.shared.results import data
from pages.shared.results.data import SizedCache

SMALL = {"S": 3, "A": 2, "H": 3}


def test_charts_with_much_in_them_are_kept_in_smaller_numbers(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    most, points = 10**6, 40_000
    small = SizedCache(most)
    monkeypatch.setattr(chart, "cache_of_all", lambda: small)

    def draw(_: bool) -> Picture:
        figure = go.Figure({"type": "scattergl", "y": np.random.default_rng().random(points)})
        return Picture(figure, "a chart", "See.", pd.DataFrame())

    for place in range(12):
        chart.kept(("test", place), draw)
    kept = [place for place in range(12) if small.get(("picture", "test", place, False)) is not None]
    assert most / 2 < 8 * points * len(kept) < 1.1 * most
    assert kept[-1] == 11


def test_large_environments_are_kept_in_small_numbers(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 8 * 2**20
    small = SizedCache(most)
    monkeypatch.setattr(data, "cache_of_all", lambda: small)
    spec = RunSpec(environment="random", environment_params={"S": 40, "A": 5, "H": 20})
    one = data.environment(spec).P.nbytes
    assert data.environment(spec) is data.environment(spec)
    others = [spec.replace(environment_params={**spec.environment_params, "seed": i}) for i in range(1, 12)]
    for other in others:
        data.environment(other)
    kept = sum(small.get(("environment", place_of(s))) is not None for s in [spec, *others])
    assert 1 <= kept <= most / one < 10
