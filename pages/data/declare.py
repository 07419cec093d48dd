"""The tab Your data: what is declared, in a form or by a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dprl.environments.custom import MAX_LABEL
from dprl.fields import SpecError, decode
from dprl.sentences import uploads as sentences
from dprl.simulation.uploads.declaration import (
    ENDED,
    MAPPED,
    MOST_EPISODES,
    PERSON,
    Declaration,
    declaration,
)
from dprl.simulation.uploads.model import EXAMPLE
from dprl.tables import escape_formulas
from dprl.words import human, percent, plural
from pages.data.own import KNOWN, LEARNED, Own, labels
from pages.shared.layout.download import save
from pages.shared.layout.terms import explained
from pages.shared.text import escape
from pages.shared.visitor.callbacks import callback, on_value

MOST_CELLS = 200  # of the table of rewards
MOST_DECLARED = 2_000_000  # bytes of a file with a declaration
MOST_LISTED = 80  # characters of labels
ANYWHERE = "not known: estimated from the release"
STATIONARY = {"no": "nothing is declared", "yes": "the same at every step"}
NONE_SHORTER = "not allowed"
REWARDS = {KNOWN: "Known: I fill in a table", LEARNED: "Learned from the file"}
ABOUT_REWARDS = {
    KNOWN: "Then no noise is spent on rewards, and the bound is higher.",
    LEARNED: "Then the column with rewards counts, and noise hides each reward.",
}


def declare(own: Own) -> None:
    """The form, or what a file declares."""
    st.markdown("## 1. Declare what is public", anchors=False)
    st.markdown(explained(sentences.DECLARED))
    with st.expander("Reasons, and labels that you do not declare", icon=":material/help:"):
        st.markdown(explained(f"{sentences.WHY_DECLARED} {sentences.CLIPPED}"))
    if own.file:
        from_file(own)
    else:
        form(own)
    with st.expander("Declaration as a file"):
        key = f"{own.turn}:declaration"
        st.file_uploader(
            "JSON file with a declaration, in place of the form",
            type=["json"],
            key=key,
            max_upload_size=MOST_DECLARED // 10**6,
            on_change=on_value(key, partial(declared_by, own)),
            help="An object with states and actions (lists of labels), horizon, rewards, reward_range and start. "
            "Rewards are by state and action, or by step, state and action. A file can also declare names of "
            "columns, and states made of several columns. It can declare edges of numbers, and a state that "
            "shorter episodes go on in.",
        )
        try:
            text = own.declared().text
        except SpecError:
            text = json.dumps(EXAMPLE)
        save("declared.json", "Download the declaration", "application/json", lambda: text)


def from_file(own: Own) -> None:
    """A declaration that was uploaded, or came with a link."""
    try:
        said = summary(own.declared())
    except SpecError as error:
        said = str(error)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"Declared by a file or a link: {escape(said)}", width="stretch")
        st.button("Use the form", key="own_form", on_click=callback(by_form), args=(own,), width="content")


def by_form(own: Own) -> None:
    """Back to the form."""
    own.file = ""
    own.turn += 1


def form(own: Own) -> None:
    """States, actions, horizon, start and rewards."""
    left, right = st.columns(2)
    with left:
        form_text(own, "states", "States, separated by commas")
    with right:
        form_text(own, "actions", "Actions, separated by commas")
    first, second, third, fourth = st.columns(4)
    states = list(dict.fromkeys(labels(own.states)))
    with first:
        form_number(own, "horizon", "Steps of each episode", 1, 1000, 1)
    with second:
        shorter = {"": NONE_SHORTER, ENDED: f"go on in a new state, {ENDED}"}
        shorter |= {state: f"go on in {state}" for state in states if state != ENDED}
        choice(own, "absorbing", "Episodes with fewer steps", shorter)
    with third:
        form_number(own, "low", "Lowest reward")
    with fourth:
        form_number(own, "high", "Highest reward")
    if own.absorbing:
        st.caption(sentences.SHORTER)
    first_states(own, states)
    steps_alike(own)
    mean_rewards(own)
    if own.known:
        rewards_table(own, labels(own.states), labels(own.actions))
    people, each, unit, points = st.columns(4)
    with people:
        form_text(own, "person", "Column that names the user", sentences.ONE_EPISODE)
    with each:
        most = "Most episodes of a user"
        form_number(own, "episodes", most, 1, MOST_EPISODES, 1, off=not own.person)
    with unit:
        form_text(own, "unit", "Unit of a reward", "such as euros")
    with points:
        form_number(own, "points", "Units per reward point", 1e-9, 1e12, off=not own.unit)
    if own.person:
        st.caption(sentences.FIRST)
    with st.expander("Names of the columns in your file", expanded=True, icon=":material/view_column:"):
        for name, place in zip(MAPPED, st.columns(len(MAPPED)), strict=True):
            with place:
                column_name(own, name)
        st.caption(sentences.OTHER_COLUMNS)


def first_states(own: Own, states: list[str]) -> None:
    """In which states an episode begins, and how often in each."""
    own.start = tuple(state for state in own.start if state in states)
    key = f"{own.turn}:own:start:{'|'.join(states)}"

    def changed(value: list[str]) -> None:
        own.start = tuple(value)

    left, right = st.columns(2)
    left.multiselect(
        "First states of an episode", states, list(own.start), key=key, placeholder=ANYWHERE,
        on_change=on_value(key, changed),
        help="The proved bound takes a declared start to be true. Do not compute it from the file. If you leave it "
        "out, it is estimated from the released counts of the first step, and the bound is a little lower.",
    )  # fmt: skip
    if len(own.start) > 1:
        with right:
            form_text(
                own, "chances", "How often each of them is the first", "equally often; or such as 70, 30"
            )


def steps_alike(own: Own) -> None:
    """Whether all steps are alike, and what goes wrong where that is not so."""
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        choice(own, "stationary", "Public stationarity", STATIONARY)
    with right:
        st.caption(explained(sentences.ALIKE if own.stationary == "yes" else sentences.MAY_DIFFER))


def mean_rewards(own: Own) -> None:
    """Whether mean rewards are declared or learned. Until that is chosen it follows from the table."""
    options = list(REWARDS)
    key = f"{own.turn}:own:rewards:{own.rewards or own.known}"

    def changed(value: str) -> None:
        own.rewards = value

    st.radio(
        "Mean rewards", options, index=options.index(KNOWN if own.known else LEARNED), horizontal=True, key=key,
        format_func=lambda option: REWARDS[option], captions=[ABOUT_REWARDS[option] for option in options],
        on_change=on_value(key, changed),
    )  # fmt: skip


def column_name(own: Own, name: str) -> None:
    """What the file calls a column."""
    key = f"{own.turn}:own:column:{name}"

    def changed(value: str) -> None:
        own.names[name] = value.strip()

    st.text_input(
        name.capitalize(), own.names.get(name, ""), key=key, max_chars=MAX_LABEL, placeholder=name,
        on_change=on_value(key, changed),
    )  # fmt: skip


def form_text(own: Own, name: str, label: str, empty: str = "") -> None:
    """A text of the form. empty: what stands in it while it is."""
    key = f"{own.turn}:own:{name}"

    def changed(value: str) -> None:
        setattr(own, name, value)

    st.text_input(
        label, getattr(own, name), key=key, max_chars=20 * MAX_LABEL, placeholder=empty,
        on_change=on_value(key, changed),
    )  # fmt: skip


def form_number(
    own: Own,
    name: str,
    label: str,
    low: Any = None,
    high: Any = None,
    step: Any = None,
    off: bool = False,
) -> None:
    """A number of the form. off: it says nothing as long as another field is empty."""
    key = f"{own.turn}:own:{name}"

    def changed(value: float | None) -> None:
        if value is not None:
            setattr(own, name, value)

    now = getattr(own, name)
    st.number_input(label, low, high, now, step, key=key, on_change=on_value(key, changed), disabled=off)


def choice(own: Own, name: str, label: str, options: dict[str, str]) -> None:
    """One of a few words of the form."""
    now = getattr(own, name)
    key = f"{own.turn}:own:{name}:{'|'.join(options)}"

    def changed(value: str) -> None:
        setattr(own, name, value)

    st.selectbox(
        label,
        list(options),
        index=list(options).index(now) if now in options else 0,
        format_func=lambda option: options[option],
        key=key,
        on_change=on_value(key, changed),
        filter_mode=None,
    )
    if now not in options:
        setattr(own, name, next(iter(options)))


def rewards_table(own: Own, states: list[str], actions: list[str]) -> None:
    """Mean rewards by state and action."""
    if (
        len(states) * len(actions) > MOST_CELLS
        or len({*states}) < len(states)
        or len({*actions}) < len(actions)
    ):
        st.caption("This table is too large for the form. Give a declaration as a file.")
        return
    key = f"{own.turn}:own:table:{hash((tuple(states), tuple(actions)))}"
    begun = st.session_state.setdefault(f"{key}:begun", dict(own.table))
    shown = pd.DataFrame(
        {action: [begun.get((state, action), own.low) for state in states] for action in actions},
        index=pd.Index(states, name="state"),
        dtype=float,
    ).reset_index()
    edited = st.data_editor(
        escape_formulas(shown), hide_index=True, width="stretch", disabled=["state"], key=key,
        column_config={"state": st.column_config.TextColumn("Mean reward in")},
    )  # fmt: skip
    numbers = edited.iloc[:, 1:].fillna(own.low).to_numpy(dtype=float)
    for s, state in enumerate(states):
        for a, action in enumerate(actions):
            own.table[state, action] = numbers[s, a]


def declared_by(own: Own, file: Any) -> None:
    """Takes over a declaration from a file, or says what is wrong with it."""
    if file is None:
        return
    try:
        if file.size > MOST_DECLARED:
            raise SpecError("declared", "this file has more than 2 MB; give a smaller one.")
        own.file = declaration(decode("declared", file.getvalue())).text
        own.problem = ""
    except SpecError as error:
        own.problem = str(error)
    own.turn += 1
    st.rerun()


def summary(declared: Declaration) -> str:
    """What is declared, in a line."""
    S, A, H, _ = declared.size
    low, high = declared.reward_range
    said = [plural(S, "state"), plural(A, "action"), plural(H, "step"), f"rewards from {low:g} to {high:g}"]
    said.append("rewards learned" if declared.rewards is None else "mean rewards known")
    if declared.stationary:
        said.append("all steps alike")
    if declared.unit:
        said.append(f"one point is {human(declared.unit[0])} {declared.unit[1]}")
    return ", ".join(said)


def declared_lines(declared: Declaration) -> list[str]:
    """What is declared, a line each."""
    begins = ["estimated from the release"]
    if declared.start is not None:
        first = {state: share for state, share in zip(declared.states, declared.start, strict=True) if share}
        begins = [
            state if share == 1 else f"{state} {percent(float(share))}" for state, share in first.items()
        ]
    lines = [
        f"States: {_shortened(declared.states)}",
        f"Actions: {_shortened(declared.actions)}",
        f"First state: {_shortened(begins)}",
        f"Episodes with fewer steps: go on in {declared.absorbing}"
        if declared.absorbing
        else f"Episodes with fewer steps: {NONE_SHORTER}",
        f"Columns: {', '.join(declared.in_file)}",
    ]
    if declared.stationary:
        lines.append("Steps: transitions and mean rewards are the same at every step")
    if declared.of_people:
        most = plural(declared.episodes, "episode")
        lines.append(f"A user: {declared.columns[PERSON]}, with at most {most} that count")
    return lines


def _shortened(names: Sequence[str]) -> str:
    """As many as there is room for, and how many more there are."""
    ends = np.cumsum([len(name) + 2 for name in names])
    fit = max(1, int((ends <= MOST_LISTED).sum()))
    listed = ", ".join(names[:fit])
    return f"{listed} and {len(names) - fit} more" if fit < len(names) else listed
