"""A visitor's own environment: uploaded as JSON, downloaded, and for small ones written in tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dprl import links
from dprl.environments import ENVIRONMENTS
from dprl.environments.custom import EXAMPLE, MAX_LABEL, parsed
from dprl.fields import SpecError
from dprl.links import MAX_MODEL
from dprl.tables import harmless
from pages.shared.callbacks import callback, taking
from pages.shared.state import Session, read_again, session
from pages.shared.text import escape, plural, size

WORLD = ENVIRONMENTS["custom"]
MOST_BYTES = 2_000_000
MOST_STATES, MOST_ACTIONS = 12, 6  # of an environment that is edited in tables
SUM = 1e-9  # how far from 1 probabilities may add up to


def controls(s: Session) -> None:
    """Upload, download, and the way to the editor, under the drawing of the environment that is in use."""
    params = s.draft["environment_params"].setdefault(WORLD.key, {})
    model = str(params.get("model", WORLD.fields[0].default))
    key = f"{s.version}:upload"
    st.file_uploader(
        "Your environment, a JSON file",
        type=["json"],
        key=key,
        on_change=taking(key, partial(received, s)),
        help="An object with P: a list for each state, of a list for each action, of the probabilities of the next "
        "states (or one such list for each step); R: mean rewards from 0 to 1 by state and action; d1: the "
        "probabilities of the first state; and, if you like, name, state_labels and action_labels. At most 2 MB.",
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
            st.button("Edit", icon=":material/table:", on_click=callback(edit), args=(s,), key="custom_edit")
    if len(model) > MAX_MODEL:
        st.caption(
            f"At {size(len(model))} it is too large for a link: send the file along, and whoever opens your link "
            "uploads it here."
        )


def received(s: Session, file: Any) -> None:
    """Takes over an uploaded file, or says in one sentence what is wrong with it."""
    if file is None:
        s.upload_problem = ""
        return
    data = file.getvalue()
    if len(data) > MOST_BYTES:
        s.upload_problem = f"The file has {size(len(data))}; give at most {size(MOST_BYTES)}."
        return
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        s.upload_problem = "The file is not text in UTF-8; give JSON."
        return
    s.upload_problem = take(s, text)


def take(s: Session, text: str) -> str:
    """Makes the environment in `text` the one in use; returns a sentence when it is not a good one.

    A file that describes every step of an episode sets H.
    """
    params = s.draft["environment_params"].get(WORLD.key, {})
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
    s.files[links.digest(model)] = model
    s.draft["environment"] = WORLD.key
    s.draft["environment_params"][WORLD.key] = {"model": model, "H": H}
    s.version += 1
    read_again(s)  # a link may have waited for this file
    return ""


def compact(text: str) -> str:
    """The same JSON without needless space."""
    return json.dumps(json.loads(text), separators=(",", ":"))


def editable(model: str) -> bool:
    """Whether an environment is small, and the same at every step, so that tables can hold it."""
    try:
        _, P, R, *_ = parsed(model)
    except SpecError:
        return False
    return P.ndim == 3 and R.ndim == 2 and P.shape[0] <= MOST_STATES and P.shape[1] <= MOST_ACTIONS


# --- the editor ---


def edit(s: Session) -> None:
    """Opens the editor with the environment in use."""
    params = s.draft["environment_params"].get(WORLD.key, {})
    s.editing = json.loads(params.get("model", WORLD.fields[0].default))
    st.rerun()


@st.dialog("Your environment", width="large", icon=":material/table:", on_dismiss=lambda: closed())
def editor() -> None:
    """States, actions, probabilities and rewards in tables."""
    s = session()
    given: dict[str, Any] = s.editing or dict(EXAMPLE)
    _, P, R, d1, states, actions = parsed(json.dumps(given))
    name = st.text_input("Name", given.get("name", ""), max_chars=MAX_LABEL, key="edit_name")
    left, right = st.columns(2)
    more_states = left.text_input("States, with commas between", ", ".join(states), key="edit_states")
    more_actions = right.text_input("Actions, with commas between", ", ".join(actions), key="edit_actions")
    wanted_states, wanted_actions = words(more_states), words(more_actions)
    problem = named(wanted_states, "states", MOST_STATES) or named(wanted_actions, "actions", MOST_ACTIONS)
    if problem:
        st.caption(f":red[{escape(problem)}]")
        return
    P, R, d1 = resized(P, R, d1, len(wanted_states), len(wanted_actions))
    shape = f"{len(wanted_states)}x{len(wanted_actions)}:{'|'.join(wanted_states + wanted_actions)}"
    st.caption(
        "Each row: the mean reward, from 0 to 1, and the probability of each next state; a row adds up to 1."
    )
    moves = st.data_editor(
        harmless(transitions(P, R, wanted_states, wanted_actions)),
        hide_index=True,
        width="stretch",
        disabled=["state", "action"],
        key=f"edit_moves:{shape}",
        column_config={
            column: st.column_config.NumberColumn(min_value=0.0, max_value=1.0) for column in ["reward"]
        },
    )
    st.caption("Where an episode begins.")
    first = st.data_editor(
        pd.DataFrame([d1], columns=[f"{i}: {state}" for i, state in enumerate(wanted_states)]),
        hide_index=True,
        width="stretch",
        key=f"edit_start:{shape}",
    )
    model = assembled(name, wanted_states, wanted_actions, moves, first)
    problem = wrong(model)
    if problem:
        st.caption(f":red[{escape(problem)}]")
    if st.button("Use it", type="primary", disabled=bool(problem), key="edit_use"):
        s.upload_problem = take(s, json.dumps(model))
        s.editing = None
        st.rerun()


def closed() -> None:
    """The editor was closed without using it."""
    session().editing = None


def words(text: str) -> list[str]:
    """What stands between the commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def named(labels: Sequence[str], what: str, most: int) -> str:
    """What is wrong with a list of names, in one sentence, or nothing."""
    if not 1 <= len(labels) <= most:
        return f"{plural(len(labels), what[:-1])} given; the tables have room for 1 to {most}."
    if len(set(labels)) < len(labels):
        return f"Two {what} have the same name; give each its own."
    if max(map(len, labels)) > MAX_LABEL:
        return f"A name has more than {MAX_LABEL} characters; give a shorter one."
    return ""


def resized(
    P: np.ndarray, R: np.ndarray, d1: np.ndarray, S: int, A: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same environment with S states and A actions; what is new stays where it is and pays nothing, and the
    probability of a state that is gone goes to the first."""
    old_S, old_A = R.shape
    s, a = min(S, old_S), min(A, old_A)
    new_P, new_R, new_d1 = np.zeros((S, A, S)), np.zeros((S, A)), np.zeros(S)
    new_P[np.arange(S), :, np.arange(S)] = 1.0
    new_P[:s, :a] = 0.0
    new_P[:s, :a, :s] = P[:s, :a, :s]
    new_P[:s, :a, 0] += P[:s, :a, s:].sum(-1)
    new_R[:s, :a], new_d1[:s] = R[:s, :a], d1[:s]
    new_d1[0] += d1[s:].sum()
    return new_P.round(12), new_R, new_d1.round(12)


def transitions(P: np.ndarray, R: np.ndarray, states: Sequence[str], actions: Sequence[str]) -> pd.DataFrame:
    """A row for each state and action: its reward, and the probability of each next state."""
    rows = [
        {"state": state, "action": action, "reward": R[s, a]}
        | {f"to {t}: {to}": P[s, a, t] for t, to in enumerate(states)}
        for s, state in enumerate(states)
        for a, action in enumerate(actions)
    ]
    return pd.DataFrame(rows)


def assembled(
    name: str, states: Sequence[str], actions: Sequence[str], moves: pd.DataFrame, first: pd.DataFrame
) -> dict[str, Any]:
    """The tables as a model; an empty cell counts as 0."""
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
    """What is wrong with tables, in one sentence that names the first row of which it is true, or nothing."""
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
