"""A visitor's own environment: uploaded as JSON, downloaded, and for small ones written in tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dprl import links
from dprl.environments import ENVIRONMENTS
from dprl.environments.custom import EXAMPLE, MAX_LABEL, parsed
from dprl.fields import SpecError, decode
from dprl.links import MAX_MODEL
from dprl.tables import escape_formulas
from dprl.words import plural, size
from pages.shared.controls.widgets import locked
from pages.shared.text import escape
from pages.shared.visitor.callbacks import callback, on_value
from pages.shared.visitor.editing import Editing
from pages.shared.visitor.state import Session, session

WORLD = ENVIRONMENTS["custom"]
MOST_BYTES = 2_000_000
MOST_STATES, MOST_ACTIONS = 12, 6  # of an environment that is edited in tables
SUM = 1e-9  # how far from 1 probabilities may add up to


def editor_controls(s: Session) -> None:
    """Upload, download, and the way to the editor, under the drawing of the environment that is in use."""
    params = s.draft.params("environment", WORLD.key)
    model = str(params.get("model", WORLD.fields[0].default))
    key = f"{s.version}:upload"
    st.file_uploader(
        "Your environment, a JSON file",
        type=["json"],
        key=key,
        max_upload_size=MOST_BYTES // 10**6,
        on_change=on_value(key, partial(received, s)),
        help="An object with P, R and d1. P: a list for each state, of a list for each action, of the chances of "
        "the next states. One such list for each step will do, too. R: mean rewards from 0 to 1 by state and action. "
        "d1: the probabilities of the first state. If you like: name, state_labels and action_labels. At most 2 MB.",
        disabled=locked("environment"),
    )
    if s.upload_problem:
        st.caption(f":red[{escape(s.upload_problem)}]")
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "Example",
            json.dumps(EXAMPLE, indent=1),
            "example.json",
            "application/json",
            icon=":material/download:",
            on_click="ignore",
            key="custom_example",
            help="A file to start from.",
        )
        st.download_button(
            "This one",
            model,
            "environment.json",
            "application/json",
            icon=":material/download:",
            on_click="ignore",
            key="custom_this",
        )
        if editable(model):
            st.button(
                "Edit",
                icon=":material/table:",
                on_click=callback(edit),
                args=(s, model),
                key="custom_edit",
                disabled=locked("environment"),
            )
    if s.editing and s.editing.of == model:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption("Your edits are not in use yet. Press **Edit** to continue.", width="stretch")
            st.button(
                "Discard",
                icon=":material/delete:",
                on_click=callback(discard),
                args=(s,),
                key="custom_discard",
            )
    if len(model) > MAX_MODEL:
        st.caption(
            f"At {size(len(model))} it is too large for a link: send the file along, and whoever opens your link "
            "uploads it here."
        )


def received(s: Session, file: Any) -> None:
    """Apply an uploaded file, or explain in one sentence what is wrong with it."""
    if file is None:
        s.upload_problem = ""
        return
    if file.size > MOST_BYTES:
        s.upload_problem = f"The file has {size(file.size)}; give at most {size(MOST_BYTES)}."
        return
    try:
        text = decode(WORLD.key, file.getvalue())
    except SpecError as error:
        s.upload_problem = f"{error.sentence[0].upper()}{error.sentence[1:]}"
        return
    s.upload_problem = use(s, text)
    if not s.upload_problem:
        st.rerun()  # all of the page: a link may have waited for this file


def use(s: Session, text: str) -> str:
    """Use the environment in `text`; return a sentence if it has a fault.

    A file that describes every step of an episode sets H.
    """
    before = deepcopy(s.draft)
    params = s.draft.environment_params.get(WORLD.key, {})
    try:
        _, P, R, *_ = parsed(text)
        H = next((len(array) for array, steps in ((P, 4), (R, 3)) if array.ndim == steps), None)
        H = H or params.get("H", WORLD.fields[1].default)
        WORLD.size(model=text, H=H)
    except SpecError as error:
        where = error.field.removeprefix("environment_params.").removeprefix("model").lstrip(".")
        return (
            f"The file cannot be used; {where and where + ': '}{str(error).removeprefix(f'{error.field}: ')}"
        )
    model = compact(text)
    s.files[links.text_digest(model)] = model
    s.draft.environment = WORLD.key
    s.draft.environment_params[WORLD.key] = {"model": model, "H": H}
    s.version += 1
    s.remember(before)
    return ""


def compact(text: str) -> str:
    """Return the same JSON without needless space."""
    return json.dumps(json.loads(text), separators=(",", ":"))


def editable(model: str) -> bool:
    """Whether an environment is small, and the same at every step, so that tables can hold it."""
    try:
        _, P, R, *_ = parsed(model)
    except SpecError:
        return False
    return P.ndim == 3 and R.ndim == 2 and P.shape[0] <= MOST_STATES and P.shape[1] <= MOST_ACTIONS


# --- the editor ---


def edit(s: Session, text: str) -> None:
    """Open the editor with the environment in use, or with its unfinished edit."""
    if not s.editing or s.editing.of != text:
        model = edited_environment(text)
        s.editing = Editing(text, model, model)
    s.editing.open = True
    st.rerun()


@st.dialog("Your environment", width="large", icon=":material/table:", on_dismiss=lambda: closed())
def editor(e: Editing) -> None:
    """States, actions, probabilities and rewards in tables."""
    s = session()
    name = st.text_input("Name", e.model["name"], max_chars=MAX_LABEL, key=f"edit_name:{e.undone}")
    left, right = st.columns(2)
    old_states, old_actions = e.model["state_labels"], e.model["action_labels"]
    states = split_words(
        left.text_input("States, with commas between", ", ".join(old_states), key=f"edit_states:{e.undone}")
    )
    actions = split_words(
        right.text_input(
            "Actions, with commas between", ", ".join(old_actions), key=f"edit_actions:{e.undone}"
        )
    )
    problem = named(states, "states", MOST_STATES) or named(actions, "actions", MOST_ACTIONS)
    if problem:
        e.draw(e.edited)  # what is not drawn is forgotten
        st.caption(f":red[{escape(problem)}]")
        return
    if (states, actions) != (old_states, old_actions):
        e.past.append(e.edited)
        e.draw(relabelled(e.edited, states, actions))
    P, R, d1 = (np.array(e.model[key]) for key in ("P", "R", "d1"))
    st.caption(
        "Each row: the mean reward, from 0 to 1, and the probability of each next state; a row adds up to 1."
    )
    moves = st.data_editor(
        escape_formulas(transitions_table(P, R, states, actions)),
        hide_index=True,
        width="stretch",
        disabled=["state", "action"],
        key=f"edit_moves:{e.drawn}",
        column_config={
            column: st.column_config.NumberColumn(min_value=0.0, max_value=1.0) for column in ["reward"]
        },
    )
    st.caption("The first state of an episode.")
    first = st.data_editor(
        begins(d1, states),
        hide_index=True,
        width="stretch",
        key=f"edit_start:{e.drawn}",
    )
    now = assembled(name, states, actions, moves, first)
    if now != e.edited:
        e.past.append(e.edited)
        e.edited = now
    problem = wrong(e.edited)
    if problem:
        st.caption(f":red[{escape(problem)}]")
    with st.container(horizontal=True, gap="small"):
        if st.button("Use it", type="primary", disabled=bool(problem), key="edit_use"):
            s.upload_problem = use(s, json.dumps(e.edited))
            s.editing = None
            st.rerun()
        st.button(
            "Undo", icon=":material/undo:", disabled=not e.past, on_click=callback(e.undo), key="edit_undo"
        )


def closed() -> None:
    """Store the edit after the editor was closed without using it."""
    s = session()
    if s.editing and s.editing.edited == edited_environment(s.editing.of):
        s.editing = None
    elif s.editing:
        s.editing.draw(s.editing.edited)
        s.editing.open = False


def discard(s: Session) -> None:
    """Discard the edit."""
    s.editing = None


def edited_environment(text: str) -> dict[str, Any]:
    """Return an environment with everything in it that the tables show."""
    name, P, R, d1, states, actions = parsed(text)
    return assembled(name, states, actions, transitions_table(P, R, states, actions), begins(d1, states))


def split_words(text: str) -> list[str]:
    """Return the parts between the commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def named(labels: Sequence[str], what: str, most: int) -> str:
    """Explain the fault of a list of names, in one sentence, or return ""."""
    if not 1 <= len(labels) <= most:
        return f"{plural(len(labels), what[:-1])} given; the tables have room for 1 to {most}."
    if len(set(labels)) < len(labels):
        return f"Two {what} have the same name; give each its own."
    if max(map(len, labels)) > MAX_LABEL:
        return f"A name has more than {MAX_LABEL} characters; give a shorter one."
    return ""


def origins(old: Sequence[str], new: Sequence[str]) -> list[int | None]:
    """Return the old name of each new one: the same, or the one at its place if that is gone; else None."""
    return [
        old.index(name) if name in old else i if i < len(old) and old[i] not in new else None
        for i, name in enumerate(new)
    ]


def relabelled(model: dict[str, Any], states: Sequence[str], actions: Sequence[str]) -> dict[str, Any]:
    """Return the same environment with other states and actions; new ones stay where they are and pay nothing, and the
    probability of a state that is gone goes to the first."""
    P, R, d1 = (np.array(model[key]) for key in ("P", "R", "d1"))
    of_s, of_a = origins(model["state_labels"], states), origins(model["action_labels"], actions)

    def moved(row: np.ndarray) -> np.ndarray:
        new = np.array([0.0 if old is None else row[old] for old in of_s])
        new[0] += row.sum() - new.sum()
        return new.round(12)

    new_P, new_R = np.zeros((len(states), len(actions), len(states))), np.zeros((len(states), len(actions)))
    for s, old_s in enumerate(of_s):
        for a, old_a in enumerate(of_a):
            if old_s is None or old_a is None:
                new_P[s, a, s] = 1.0
            else:
                new_P[s, a], new_R[s, a] = moved(P[old_s, old_a]), R[old_s, old_a]
    changed = {"P": new_P.tolist(), "R": new_R.tolist(), "d1": moved(d1).tolist()}
    return model | changed | {"state_labels": list(states), "action_labels": list(actions)}


def transitions_table(
    P: np.ndarray, R: np.ndarray, states: Sequence[str], actions: Sequence[str]
) -> pd.DataFrame:
    """Tabulate each state and action: its reward, and the probability of each next state."""
    rows = [
        {"state": state, "action": action, "reward": R[s, a]}
        | {f"to {t}: {to}": P[s, a, t] for t, to in enumerate(states)}
        for s, state in enumerate(states)
        for a, action in enumerate(actions)
    ]
    return pd.DataFrame(rows)


def begins(d1: np.ndarray, states: Sequence[str]) -> pd.DataFrame:
    """One row: the probability of each first state."""
    return pd.DataFrame([d1], columns=[f"{i}: {state}" for i, state in enumerate(states)])


def assembled(
    name: str, states: Sequence[str], actions: Sequence[str], moves: pd.DataFrame, first: pd.DataFrame
) -> dict[str, Any]:
    """Return the tables as a model; an empty cell counts as 0."""
    S, A = len(states), len(actions)
    numbers = moves.fillna(0.0)
    P = numbers.to_numpy()[:, 3:].astype(float).reshape(S, A, S)
    R = numbers["reward"].to_numpy(dtype=float).reshape(S, A)
    return {
        "name": name.strip() or "Custom MDP",
        "P": P.tolist(),
        "R": R.tolist(),
        "d1": first.fillna(0.0).to_numpy(dtype=float)[0].tolist(),
        "state_labels": list(states),
        "action_labels": list(actions),
    }


def wrong(model: dict[str, Any]) -> str:
    """Explain the fault of tables, in one sentence that names the first row with it, or return ""."""
    P, R, d1 = (np.array(model[key]) for key in ("P", "R", "d1"))
    for s, state in enumerate(model["state_labels"]):
        for a, action in enumerate(model["action_labels"]):
            where = f"{state}, {action}"
            if P[s, a].min() < 0 or P[s, a].max() > 1:
                return f"{where}: a probability is not from 0 to 1."
            if abs(P[s, a].sum() - 1) > SUM:
                return f"{where}: the probabilities add up to {P[s, a].sum():.6g}, not to 1."
            if not 0 <= R[s, a] <= 1:
                return f"{where}: the reward {R[s, a]:.6g} is not from 0 to 1."
    if d1.min() < 0 or abs(d1.sum() - 1) > SUM:
        return f"The probabilities of the first state add up to {d1.sum():.6g}, not to 1."
    return ""
