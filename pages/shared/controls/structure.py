"""What a visitor declares as public knowledge of an environment: which transitions are possible at all."""

from __future__ import annotations

import streamlit as st

from dprl.fields import SpecError
from dprl.learners import ALGORITHMS
from dprl.simulation.structure import ALLOWED, OWN, written
from pages.shared.controls.widgets import locked, select
from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.state import Session

MOST_SHOWN = 20_000  # characters of a table that is edited here
STRUCTURE = {
    "": "nothing is declared",
    OWN: "what the environment allows",
    "table": "a table of your own",
}
STRUCTURE_HELP = (
    "Declares which transitions are possible at all: the walls of a map, the stages that a disease cannot skip. This "
    "is public knowledge, learned from nobody's data, which the guarantee does not protect. Only these transitions "
    "are counted and released. So there is less noise, and the algorithm knows what cannot happen. "
    "Privacy holds whether the declaration is true or not. An environment that can do anything else is refused."
)


def structure(s: Session) -> None:
    """Which transitions are declared possible, for learners that make something of it."""
    if "structure" not in ALGORITHMS[s.draft.algorithm].declarable:
        return
    key = s.draft.environment
    said = s.draft.structure.get(key, "")

    def chosen(word: str) -> None:
        s.draft.structure[key] = table_to_begin_with(s) if word == "table" else word
        s.version += 1

    select(
        "Public structure",
        tuple(STRUCTURE),
        said if said in ("", OWN) else "table",
        chosen,
        STRUCTURE,
        STRUCTURE_HELP,
        name=f"structure.{key}",
    )
    if said not in ("", OWN):
        name = f"{s.version}:table of {key}"
        st.text_area(
            "Possible next states, as JSON",
            said,
            key=name,
            on_change=on_value(name, lambda text: s.draft.structure.update({key: text})),
            help=f"{ALLOWED[0].upper() + ALLOWED[1:]}; states are numbered from 0.",
            disabled=locked("structure"),
        )


def table_to_begin_with(s: Session) -> str:
    """The environment's own table, where it is short enough to be edited."""
    try:
        text = written(s.draft.environment, s.draft.params("environment", s.draft.environment))
    except SpecError:  # of its parameters, which is said where they are
        text = ""
    return text if 0 < len(text) <= MOST_SHOWN else "[[[0]]]"
