"""A run looks the same wherever it is drawn, and like no other one beside it."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from streamlit.testing.v1 import AppTest

from dprl.figures import looks, style
from dprl.learners import ALGORITHMS
from dprl.privacy import PRIVATIZERS
from dprl.simulation.pairs import calibrations_for
from tests.pages.conftest import Visit, charts


def chips(app: AppTest) -> list[str]:
    """The signs on the chips, as SVG."""
    (rules,) = [e.proto.body for e in app.get("html") if ".st-key-chip_0" in e.proto.body]
    return [base64.b64decode(uri).decode() for uri in re.findall(r"base64,([^)]+)", rules)]


def lines(app: AppTest) -> dict[str, dict[str, Any]]:
    """The traces of the chart that stand in its legend, by name."""
    (chart,) = charts(app)
    return {t["name"]: t for t in json.loads(chart.spec)["data"] if t.get("showlegend") is not False}


def test_every_noise_has_a_marker_and_every_learner_a_dash() -> None:
    for model, privatizer in PRIVATIZERS.items():
        known = {
            (m, size) for a in ALGORITHMS for m in privatizer.mechanisms for size in calibrations_for(a, m)
        }
        assert len(set(style.SYMBOLS[model])) >= len(known)
    assert len(set(looks.DASHES)) >= len(ALGORITHMS)


def test_a_curve_looks_the_same_in_the_chart_on_its_chip_and_on_other_pages(
    finished: Visit, visit: Visit
) -> None:
    link = {"c": ["envp.S.3~envp.H.3~K.1000~seeds.1~priv.central~eps.0.3", "eps.3", "eps.3~K.2000"]}
    app = finished("explore", **link)
    colors = [looks.color("central", epsilon, dark=False) for epsilon in (0.3, 3.0, 3.0)]
    signs = chips(app)
    assert [color in sign for color, sign in zip(colors, signs, strict=True)] == [True] * 3
    assert [">2</text>" in sign for sign in signs] == [False, False, True]
    drawn = list(lines(app).items())[:3]
    assert [trace["line"]["color"] for _, trace in drawn] == colors
    assert [name.startswith("2: ") for name, _ in drawn] == [False, False, True]
    home = visit(eps="0.3", v="1")
    assert colors[0] in {trace["line"].get("color") for trace in lines(home).values()}
