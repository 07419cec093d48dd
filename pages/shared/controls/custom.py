"""A visitor's own environment: uploaded as JSON, downloaded, and edited as text."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from functools import partial
from typing import Any

import streamlit as st

from dprl import links
from dprl.environments import ENVIRONMENTS
from dprl.environments.custom import EXAMPLE, parsed
from dprl.fields import SpecError, decode
from dprl.links import MAX_MODEL
from dprl.words import size
from pages.shared.controls.widgets import locked
from pages.shared.layout.chart import save
from pages.shared.layout.terms import escape
from pages.shared.visitor.callbacks import button, key_of, keyed
from pages.shared.visitor.state import Session

WORLD = ENVIRONMENTS["custom"]
MOST_BYTES = 2_000_000
MOST_EDITED = 20_000  # characters of an environment that is edited as text
ROW = re.compile(r"\[\s+([^\[\]]+?)\s+\]")  # a row of numbers or labels


def editor_controls(s: Session) -> None:
    """Draw the upload, the downloads, and the text of the environment in use, under its drawing."""
    params = s.draft.params("environment", WORLD.key)
    model = str(params.get("model", WORLD.fields[0].default))
    st.file_uploader(
        "Your environment (JSON)",
        type=["json"],
        max_upload_size=MOST_BYTES // 10**6,
        help="A JSON object with P, R and d1. P[s][a] lists the probabilities of the next states; P may also have one "
        "such table for each step. R[s][a] is the mean reward, from 0 to 1. d1 lists the probabilities of the first "
        "state. Optional: name, state_labels and action_labels. At most 2 MB.",
        disabled=locked("environment"),
        **keyed("upload", partial(received, s)),
    )
    if s.upload_problem:
        st.caption(f":red[{escape(s.upload_problem)}]")
    with st.container(horizontal=True, gap="small"):
        save("example.json", "Example", "application/json", lambda: json.dumps(EXAMPLE, indent=1))
        save("environment.json", "This one", "application/json", lambda: model)
        if len(model) <= MOST_EDITED:
            with st.popover(
                "Edit", icon=":material/edit:", key="custom_edit", disabled=locked("environment")
            ):
                edited = key_of("edited")
                st.text_area("Environment in use, as JSON", laid_out(model), height=400, key=edited)

                def take_edited() -> None:
                    if (text := st.session_state.get(edited)) is not None:
                        s.upload_problem = use(s, text)

                button("Use it", take_edited, type="primary", key="edit_use")
    if len(model) > MAX_MODEL:
        st.caption(
            f"At {size(len(model))}, this environment is too large for a link. Send the file with the link; whoever "
            "opens the link can upload the file here."
        )


def received(s: Session, file: Any) -> None:
    """Apply an uploaded file, or explain its fault in one sentence."""
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

    A text that describes every step of an episode sets H.
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
            f"The environment cannot be used; "
            f"{where and where + ': '}{str(error).removeprefix(f'{error.field}: ')}"
        )
    model = compact(text)
    s.files[links.text_digest(model)] = model
    s.draft.environment = WORLD.key
    s.draft.environment_params[WORLD.key] = {"model": model, "H": H}
    s.remember(before)
    return ""


def compact(text: str) -> str:
    """Return the same JSON without needless space."""
    return json.dumps(json.loads(text), separators=(",", ":"))


def laid_out(text: str) -> str:
    """Return the same JSON with a line for each row of numbers."""
    return ROW.sub(lambda row: f"[{' '.join(row[1].split())}]", json.dumps(json.loads(text), indent=1))
