"""A visitor's declaration of public knowledge about an environment: the transitions that are possible at all."""

from __future__ import annotations

from dprl.learners import ALGORITHMS
from dprl.simulation.structure import OWN
from pages.shared.controls.widgets import select
from pages.shared.visitor.state import Session

STRUCTURE = {"": "nothing is declared", OWN: "what the environment allows"}
STRUCTURE_HELP = (
    "Declares which transitions are possible at all: the walls of a map, the stages that a disease cannot skip. This "
    "is public knowledge, learned from nobody's data, which the guarantee does not protect. Only these transitions "
    "are counted and released. So there is less noise, and the algorithm knows what cannot happen. "
    "Privacy holds whether the declaration is true or not. An environment that can do anything else is refused."
)


def structure(s: Session) -> None:
    """Whether that is declared, for learners that make something of it."""
    if "structure" not in ALGORITHMS[s.draft.algorithm].declarable:
        return
    key = s.draft.environment
    select(
        "Public structure",
        tuple(STRUCTURE),
        s.draft.structure.get(key, ""),
        lambda word: s.draft.structure.update({key: word}),
        STRUCTURE,
        STRUCTURE_HELP,
        name=f"structure.{key}",
    )
