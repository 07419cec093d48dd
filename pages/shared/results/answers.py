"""Facts about a run that workers can compute without running it. Each is computed only once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any

from dprl.fields import SpecError
from dprl.privacy import Guarantee
from dprl.simulation import OfflineSpec, RunSpec, Spec, answered
from dprl.simulation.replay import QUESTION
from pages.shared.results.data import asset, cache_of_all, store
from pages.shared.visitor.state import session

PATIENCE = 0.06  # seconds for which a page waits for a new answer: enough for quick ones, and too short to delay clicks
_LOOK = 0.005


def guarantee(spec: Spec) -> Guarantee | None:
    """Return a run's stated and proved guarantees, or None until they are known. Raises SpecError."""
    found = table("guarantee", spec)
    return None if found is None else Guarantee.from_dict(found)


def table(question: str, spec: Spec) -> dict[str, Any] | None:
    """Return the result for "promise", "collusion" or "coverage", or None until it is known. Raises SpecError."""
    found = _answer_to(question, spec)
    return found if isinstance(found, dict) else None


def replay(spec: RunSpec) -> str | None:
    """Return the data for a page that plays a run without a server, or None until they are known. Raises SpecError."""
    text = _text(QUESTION, json.dumps(spec.to_dict() | {"seeds": 1}), lambda: spec)
    if text == "":
        raise SpecError("spec", "no worker could prepare this run; try again later.")
    return text


def v_star(spec: RunSpec | OfflineSpec) -> float | None:
    """Return V*, the best policy's expected reward in one episode, or None until it is known."""
    problem = (spec.environment, json.dumps(dict(spec.environment_params)))
    if (known := _optima().get(problem)) is not None:
        return known
    found = _answer_to("v_star", spec, problem)
    return found if isinstance(found, float) else None


@cache
def _optima() -> dict[tuple[str, str], float]:
    """Return the V* of each environment with its default parameters."""
    entries = asset("optima")
    return {(entry["environment"], json.dumps(entry["params"])): entry["v_star"] for entry in entries}


def _answer_to(question: str, spec: Spec, about: Hashable = None) -> Any:
    """Return the answer to a question about a spec without its seeds, or None until it is known."""
    values = spec.to_dict()
    usual = {name: value for name, value in {"seeds": 1, "root_seed": 0}.items() if name in values}
    # making another spec takes longer than all the rest
    text = _text(question, about or json.dumps(values | usual), lambda: spec.replace(**usual))
    return answered(text) if text else None


def _text(question: str, about: Hashable, make: Callable[[], Spec]) -> str | None:
    """Return the answer as text, "" if no worker could answer, or None if there is no answer after a short wait. The
    part that is being drawn is redrawn until the answer is known. Raises SpecError."""
    if (found := cache_of_all().get((question, about))) is not None:
        return str(found[1])
    s, spec = session(), make()
    text = store().answer(question, spec)
    if text is None and (question, spec) not in s.asked:
        until = time.monotonic() + PATIENCE
        while text is None and time.monotonic() < until:
            time.sleep(_LOOK)
            text = store().answer(question, spec)
    s.asked.add((question, spec))
    if text is None:
        s.waiting.add(s.drawing)
    if text:
        answered(text)  # raises a refusal, which is not cached
        cache_of_all().put((question, about), None, text)
    return text
