"""The environments of a page that simulates its runs: each with a light and a dark picture, and a description."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.figures.policy import environment_drawing
from dprl.research.series import place_of
from dprl.simulation import RunSpec
from dprl.words import plural

DIGITS = 4  # decimal places of positions in a picture whose sides are about 1


def worlds(specs: Iterable[RunSpec]) -> list[dict[str, Any]]:
    """Return each environment once, in the form that assets/web/player_below.js draws."""
    distinct = {place_of(spec): spec for spec in specs}
    return [_world(spec) for spec in distinct.values()]


def _world(spec: RunSpec) -> dict[str, Any]:
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    H, S, A = mdp.R.shape
    pictures = {
        theme: environment_drawing(
            mdp.P,
            mdp.R,
            drawing=mdp.drawing,
            state_labels=mdp.state_labels,
            action_labels=mdp.action_labels,
            dark=theme == "dark",
        )
        for theme in ("light", "dark")
    }
    first = pictures["light"]
    size = f"{plural(S, 'state')}, {plural(A, 'action')} and {plural(H, 'step')}"
    name = ENVIRONMENTS[spec.environment].called(spec.environment_params)
    says = f"{name}, with {size}. {first.alt} {first.see}".strip()
    return {"says": says} | {theme: _plain(one.figure.to_plotly_json()) for theme, one in pictures.items()}


def _plain(figure: dict[str, Any]) -> dict[str, Any]:
    """Reduce a picture to few digits and no tools, so that touching it still scrolls the page."""
    layout = {name: value for name, value in figure["layout"].items() if name != "template"} | {
        "dragmode": False
    }
    text = json.dumps({"data": figure["data"], "layout": layout}, default=lambda value: value.tolist())
    found: dict[str, Any] = json.loads(text, parse_float=lambda digits: round(float(digits), DIGITS))
    return found
