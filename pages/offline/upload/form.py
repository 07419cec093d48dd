"""The tab Your data: what is declared, the file, and the budgets."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dprl.environments.custom import MAX_LABEL
from dprl.fields import SpecError
from dprl.jobs.file import StoreError
from dprl.learners import OFFLINE as OFFLINE_LEARNERS
from dprl.privacy.curator import PROMISES
from dprl.sentences import uploads as sentences
from dprl.sentences import verdict
from dprl.simulation import UploadSpec, upload
from dprl.simulation.uploads import kept
from dprl.simulation.uploads.declaration import Declaration, declaration
from dprl.simulation.uploads.ledger import Budget
from dprl.simulation.uploads.model import EXAMPLE, example
from dprl.simulation.uploads.run import draws_of
from dprl.simulation.uploads.spec import FIELDS, LEARNERS, fitting_learners
from dprl.simulation.uploads.spent import together
from dprl.simulation.uploads.table import COLUMNS, MOST_BYTES
from dprl.tables import escape_formulas
from dprl.words import count, percent, plural
from pages.offline.record import OFFLINE, start_own
from pages.offline.upload.own import BUDGET, KNOWN, LEARNED, MOST, Own, labels, refusal
from pages.offline.upload.purse import purse
from pages.shared.layout.download import save
from pages.shared.layout.terms import explained
from pages.shared.results import answers
from pages.shared.results.data import store
from pages.shared.streamlit_internals import drop_file
from pages.shared.text import escape
from pages.shared.visitor.callbacks import callback, on_value

SHARES = (0.0, 0.1, 0.25, 0.5)  # of people held out
MOST_CELLS = 200  # of the table of rewards
MOST_DECLARED = 2_000_000  # bytes of a file with a declaration
ANYWHERE = "every state equally"
BUDGET_NAMES = {"rho": "ρ", "epsilon": "ε"}
REWARDS = {KNOWN: "Known: a table", LEARNED: "Learned from the data"}


def declare(own: Own) -> None:
    """The form, or what a file declares."""
    st.markdown("## 1. Declare what is public", anchors=False)
    st.markdown(explained(f"{sentences.DECLARED} {sentences.CLIPPED}"))
    if own.file:
        from_file(own)
    else:
        form(own)
    with st.expander("The declaration as a file"):
        key = f"{own.turn}:declaration"
        st.file_uploader(
            "A declaration, a JSON file, in place of the form",
            type=["json"],
            key=key,
            max_upload_size=MOST_DECLARED // 10**6,
            on_change=on_value(key, partial(declared_by, own)),
            help="An object with states and actions (lists of labels), horizon, rewards (by state and action, or by "
            "step, state and action), reward_range and start. A file can also declare names of columns, states made of "
            "several columns, edges of numbers, and a state that shorter episodes go on in.",
        )
        try:
            text = own.declared().text
        except SpecError:
            text = json.dumps(EXAMPLE)
        save("declared.json", "Download", "application/json", lambda: text)


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
        form_text(own, "states", "States, with commas between")
    with right:
        form_text(own, "actions", "Actions, with commas between")
    first, second, third, fourth = st.columns(4)
    with first:
        form_number(own, "horizon", "Steps of each episode", 1, 1000, 1)
    with second:
        form_number(own, "low", "Lowest reward")
    with third:
        form_number(own, "high", "Highest reward")
    states = labels(own.states)
    with fourth:
        choice(own, "start", "An episode begins in", {"": ANYWHERE} | {state: state for state in states})
    choice(own, "rewards", "Mean rewards", REWARDS)
    if own.rewards == KNOWN:
        rewards_table(own, states, labels(own.actions))


def form_text(own: Own, name: str, label: str) -> None:
    """A text of the form."""
    key = f"{own.turn}:own:{name}"

    def changed(value: str) -> None:
        setattr(own, name, value)

    st.text_input(
        label, getattr(own, name), key=key, max_chars=20 * MAX_LABEL, on_change=on_value(key, changed)
    )


def form_number(own: Own, name: str, label: str, low: Any = None, high: Any = None, step: Any = None) -> None:
    """A number of the form."""
    key = f"{own.turn}:own:{name}"

    def changed(value: float | None) -> None:
        if value is not None:
            setattr(own, name, value)

    st.number_input(label, low, high, getattr(own, name), step, key=key, on_change=on_value(key, changed))


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
        st.caption("For a table of this size give a declaration as a file.")
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
        own.file = declaration(file.getvalue().decode("utf-8", "replace")).text
        own.problem = ""
    except SpecError as error:
        own.problem = str(error)
    own.turn += 1
    st.rerun()


def give(own: Own) -> None:
    """The file with trajectories, or what was read of it."""
    st.markdown("## 2. Give the file", anchors=False)
    if own.data is not None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(
                f":material/lock: **{plural(own.data.n, 'trajectory', 'trajectories')}** read: "
                f"{escape(summary(own.data.public))}",
                width="stretch",
            )
            st.button(
                "Forget the data", icon=":material/delete:", key="own_forget", on_click=callback(forget_counts),
                args=(own,), width="content",
            )  # fmt: skip
        if own.recalled:
            st.warning(escape(own.recalled), icon=":material/history:")
        if own.outside:
            listed = "\n".join(f"- {escape(sentence)}" for sentence in own.outside)
            st.warning(
                f"{sentences.OUTSIDE}\n\n{listed}\n\n{sentences.NOT_MEANT}", icon=":material/visibility_lock:"
            )
        return
    share(own)
    if not store().leases.public:
        purse(own)
    key = f"{own.turn}:own:file"
    st.file_uploader(
        f"Trajectories, a CSV file with the columns {', '.join(columns(own))}",
        type=["csv"],
        key=key,
        max_upload_size=min(MOST_BYTES // 10**6, st.get_option("server.maxUploadSize")),
        on_change=on_value(key, partial(received, own)),
        help="In UTF-8, separated by commas. One person is one episode. Unless a declaration as a file says otherwise, "
        "the rows of an episode stand one below the other, in order, and are as many as the declared steps.",
    )
    if own.problem:
        st.markdown(f":red[:material/error: {escape(own.problem)}]")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        save("example.csv", "Example", "text/csv", example)
        st.caption("20,000 people in two rooms, as the form declares them at first.", width="stretch")
    st.caption(explained(f"{sentences.KEPT} {sentences.MALFORMED}"))


def columns(own: Own) -> tuple[str, ...]:
    """The columns that the file has to have."""
    try:
        return own.declared().in_file
    except SpecError:
        return COLUMNS  # what is wrong with the declaration is said when a file is given


def share(own: Own) -> None:
    """How many people are held out, which is settled when the file is read."""
    options = {f"{each:g}": percent(each) if each else "nobody" for each in sorted({*SHARES, own.held_out})}
    key = f"{own.turn}:own:held_out"

    def changed(value: str) -> None:
        own.held_out = float(value)

    st.selectbox(
        "People held out",
        list(options),
        index=list(options).index(f"{own.held_out:g}"),
        format_func=lambda option: options[option],
        key=key,
        on_change=on_value(key, changed),
        filter_mode=None,
        help="Drawn at random when the file is read. Nothing is learned from them: they say whether the learned policy "
        "is better than what was done.",
    )


def received(own: Own, file: Any) -> None:
    """Reads an uploaded file, and drops it: what is kept are its counts."""
    if file is None:
        return
    try:
        declared = own.declared()
        told: list[str] = []
        recalled: list[str] = []
        public = store().leases.public  # there nobody knows whose file it is
        own.take(
            upload(
                file,
                json.loads(declared.text),
                held_out=own.held_out,
                tell=lambda outside: told.extend(outside.sentences()),
                budget=None if public else Budget(own.purse, rho=own.total),
                recall=recalled.append,
            )
        )
        own.outside, own.recalled = () if public else tuple(told), " ".join(recalled)
    except (SpecError, StoreError) as error:
        own.problem = str(error)
        own.turn += 1
    finally:
        drop_file(file)
    st.rerun()


def forget_counts(own: Own) -> None:
    """Deletes the counts."""
    if own.data is not None:
        kept.forget(own.data.data)
    own.drop()
    st.rerun()


def summary(declared: Declaration) -> str:
    """What is declared, in a line."""
    S, A, H, _ = declared.size
    low, high = declared.reward_range
    rewards = "mean rewards known" if declared.rewards is not None else "rewards learned"
    sizes = f"{plural(S, 'state')}, {plural(A, 'action')}, {plural(H, 'step')}"
    return f"{sizes}, rewards from {low:g} to {high:g}, {rewards}"


def budgets(own: Own) -> None:
    """Which promise, several budgets of it, and the button."""
    st.markdown("## 3. Spend privacy", anchors=False)
    try:
        fitting = fitting_learners(own.data.public if own.data is not None else own.declared())
    except SpecError:
        fitting = LEARNERS  # what is wrong is said below
    choice(own, "algorithm", "Learner for your data", {key: OFFLINE_LEARNERS[key].title for key in fitting})
    if OFFLINE_LEARNERS[own.algorithm].printed:
        st.caption(sentences.PRINTED)
    left, right = st.columns(2)
    with left:
        choice(own, "privacy", "Privacy budget of your data", {key: PROMISES[key].title for key in BUDGET})
    key = f"{own.turn}:own:values:{own.privacy}"

    def typed(value: str) -> None:
        own.values[own.privacy] = value

    right.text_input(
        f"Values of {BUDGET_NAMES[own.budget.name]} to spend",
        own.values[own.privacy],
        key=key,
        max_chars=200,
        on_change=on_value(key, typed),
        help=f"Several, separated by commas, at most {MOST}. Each is a release of the same people, and what they spend "
        "adds up. Small is private.",
    )
    if "delta" in PROMISES[own.privacy].fields:
        form_number(own, "delta", "Privacy budget δ of your data", FIELDS["delta"].low, FIELDS["delta"].high)
    wrong = refusal(own)
    if wrong:
        st.caption(f":red[{escape(wrong)}]")
    elif {*own.asked()} <= {*own.specs}:
        st.markdown(sentences.AGAIN)
    elif own.data is not None:
        warn(own.asked())
        before = f"{BUDGET_NAMES[own.budget.name]} = {escape(own.values[own.privacy])}"
        drawn = (draw for spec in own.asked() for draw in draws_of(spec))
        after = together((*own.before(), *drawn))
        text = escape(after.text)
        st.markdown(explained(verdict.beforehand(own.data.learned_from, own.data.checked, before, text)))
        st.caption(explained(sentences.as_a_pair(after.implies)))
    st.button(
        "Release and learn",
        type="primary",
        key="own_run",
        disabled=bool(wrong) or own.data is None,
        on_click=callback(release),
        help="Adds noise to the counts, once for each budget, and learns a policy from each.",
    )
    if own.data is not None and not wrong:
        st.caption(
            explained(
                f"Learned from {count(own.data.learned_from)} trajectories. {escape(PROMISES[own.privacy].summary)}"
            )
        )


def warn(asked: tuple[UploadSpec, ...]) -> None:
    """What is known of these releases before they are made: that a bound will be the least there is, and why."""
    rewards = asked[0].public.rewards
    if rewards is not None and "rewards" in asked[0].learner.public and not rewards.any():
        st.markdown(f":material/warning: {sentences.WITHOUT_REWARDS}")
        return
    for spec in asked:
        found = answers.reach_of_release(spec)
        if found is None:
            st.caption(sentences.ESTIMATING)
            return
        if told := sentences.forecast(found):
            st.markdown(explained(f":material/warning: {told}"))
        listed = "\n".join(f"- {sentence}" for sentence in sentences.outlook(found))
        st.caption(explained(f"**Before you spend {found['name']} = {found['given']:g}:**\n{listed}"))


def release() -> None:
    """The button."""
    own = OFFLINE.state.own
    own.specs = tuple(dict.fromkeys((*own.specs, *own.asked())))
    start_own()
