"""The rules of links as JSON, which the page uses to read and write links without a server (player_link.js)."""

from __future__ import annotations

from functools import cache
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.learners import ALGORITHMS
from dprl.links import OWNERS, VERSION, defaults
from dprl.privacy import PRIVATIZERS
from dprl.simulation import RunSpec
from dprl.simulation.pairs import runs_in

USERS = 1000  # for runs that are only validated


def codec() -> dict[str, Any]:
    """Return the defaults that links leave out, in the form used by `links.differences` and `links.decode_curves`."""
    return {"version": VERSION, "defaults": defaults(), "owners": OWNERS, "refused": refused()}


@cache
def refused() -> dict[str, Any]:
    """Return the combinations of settings that a run's validation refuses.

    Returns:
        sentences: the reasons, without the final full stop.
        pairs: for each algorithm and privacy model, the index of its sentence, or an index for each mechanism.
    """
    sentences: dict[str, int] = {}
    pairs: dict[str, dict[str, Any]] = {}

    def number(algorithm: str, privacy: str, mechanism: str | None, field: str) -> int | None:
        world = next(key for key in ENVIRONMENTS if runs_in(algorithm, key))
        try:
            RunSpec(
                environment=world, algorithm=algorithm, privacy=privacy, mechanism=mechanism, episodes=USERS
            )
        except SpecError as error:
            if error.field == field:
                return sentences.setdefault(str(error).removesuffix("."), len(sentences))
        return None

    mechanisms = sorted({key for one in PRIVATIZERS.values() for key in one.mechanisms})
    for algorithm in ALGORITHMS:
        found: dict[str, Any] = {}
        for privacy, model in PRIVATIZERS.items():
            whole = number(algorithm, privacy, None, "privacy")
            if whole is not None:
                found[privacy] = whole
            elif model.mechanisms:
                each = {key: number(algorithm, privacy, key, "mechanism") for key in mechanisms}
                found[privacy] = {key: one for key, one in each.items() if one is not None}
        pairs[algorithm] = found
    return {"sentences": list(sentences), "pairs": pairs}
