"""The tab Your data: the file, and the budgets."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dprl.fields import SpecError
from dprl.learners import OFFLINE as OFFLINE_LEARNERS
from dprl.privacy.curator import PROMISES
from dprl.sentences import uploads as sentences
from dprl.sentences import verdict
from dprl.simulation import UploadSpec
from dprl.simulation.uploads.model import example
from dprl.simulation.uploads.run import draws_of
from dprl.simulation.uploads.spec import FIELDS, LEARNERS, fitting_learners
from dprl.simulation.uploads.spent import together
from dprl.simulation.uploads.table import COLUMNS, MOST_BYTES
from dprl.words import percent
from pages.data.declare import choice, declared_lines, form_number, summary
from pages.data.own import BUDGET, MOST, Own, why_not_asked
from pages.data.purse import purse
from pages.data.receive import forget_counts, received
from pages.data.state import own_data, start
from pages.shared.layout.download import save
from pages.shared.layout.terms import explained
from pages.shared.results import answers
from pages.shared.results.data import store
from pages.shared.text import escape
from pages.shared.visitor.callbacks import callback, on_value

SHARES = (0.0, 0.1, 0.25, 0.5)  # of people held out
BUDGET_NAMES = {"rho": "ρ", "epsilon": "ε"}


def give(own: Own) -> None:
    """The file with trajectories, or what was read of it."""
    st.markdown("## 2. Give the file", anchors=False)
    if own.data is not None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(
                f":material/lock: **{sentences.people(own.data.n, own.data.public.episodes)}** read: "
                f"{escape(summary(own.data.public))}",
                width="stretch",
            )
            st.button(
                "Forget the data", icon=":material/delete:", key="own_forget", on_click=callback(forget_counts),
                args=(own,), width="content",
            )  # fmt: skip
        with st.expander("What you declared", icon=":material/fact_check:"):
            lines = declared_lines(own.data.public)
            if not store().public:
                lines.append(f"Name of the budget: {own.purse}")
            st.markdown(explained("\n".join(f"- {escape(line)}" for line in lines)))
            text = own.data.declared
            save("declared.json", "Download the declaration", "application/json", lambda: text)
        if own.recalled:
            st.warning(f"{escape(own.recalled)} {sentences.ADD_UP}", icon=":material/history:")
        if own.outside:
            strange = "\n".join(f"- {escape(sentence)}" for sentence in own.outside)
            st.warning(
                f"{sentences.OUTSIDE}\n\n{strange}\n\n{sentences.NOT_MEANT}",
                icon=":material/visibility_lock:",
            )
        return
    share(own)
    if not store().public:
        purse(own)
    if names_users(own):
        st.caption(sentences.FIRST)
    key = f"{own.turn}:own:file"
    st.file_uploader(
        f"CSV or Parquet file of trajectories, with the columns {', '.join(columns(own))}",
        type=["csv", "parquet"],
        key=key,
        max_upload_size=min(MOST_BYTES // 10**6, st.get_option("server.maxUploadSize")),
        on_change=on_value(key, partial(received, own)),
        help="A CSV file is UTF-8, separated by commas. Each episode is one user, unless a column names the user. Each "
        "row is one step of an episode. Only the declared number of steps counts.",
    )
    if own.problem:
        st.markdown(f":red[:material/error: {escape(own.problem)}]")
    if own.undeclared or own.accept_undeclared:
        agree(own)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        save("example.csv", "Example", "text/csv", example)
        st.caption(
            "An example with 20,000 users in two rooms, as declared in the form at first.", width="stretch"
        )
    st.caption(explained(f"{sentences.KEPT} {sentences.MALFORMED}"))


def agree(own: Own) -> None:
    """Let the owner count undeclared labels as the last declared one, after a file was refused for them."""
    key = f"{own.turn}:own:undeclared"

    def changed(value: bool) -> None:
        own.accept_undeclared = value

    st.checkbox(
        "Count labels that are not declared as the last declared label",
        own.accept_undeclared,
        key=key,
        on_change=on_value(key, changed),
        help="Then give the file again. Better declare the labels, if they mean something else.",
    )


def columns(own: Own) -> tuple[str, ...]:
    """The columns that the file has to have."""
    try:
        return own.declared().in_file
    except SpecError:
        return COLUMNS  # what is wrong with the declaration is said when a file is given


def names_users(own: Own) -> bool:
    """Whether a file declares a column that names the user: the form says itself what follows from it."""
    try:
        return bool(own.file) and own.declared().of_people
    except SpecError:
        return False


def share(own: Own) -> None:
    """How many people are held out, which is settled when the file is read."""
    options = {f"{each:g}": percent(each) if each else "none" for each in sorted({*SHARES, own.held_out})}
    key = f"{own.turn}:own:held_out"

    def changed(value: str) -> None:
        own.held_out = float(value)

    st.selectbox(
        "Users held out",
        list(options),
        index=list(options).index(f"{own.held_out:g}"),
        format_func=lambda option: options[option],
        key=key,
        on_change=on_value(key, changed),
        filter_mode=None,
        help="Users drawn at random when the file is read. Nothing is learned from them. They say whether the learned "
        "policy is better than what was done.",
    )


def budgets(own: Own) -> None:
    """Which promise, several budgets of it, and the button."""
    st.markdown("## 3. Spend privacy", anchors=False)
    try:
        fitting = fitting_learners(own.data.public if own.data is not None else own.declared())
    except SpecError:
        fitting = LEARNERS  # what is wrong is said below
    choice(own, "algorithm", "Algorithm for your data", {key: OFFLINE_LEARNERS[key].title for key in fitting})
    if OFFLINE_LEARNERS[own.algorithm].paper_noise:
        st.caption(sentences.PAPER_CONSTANTS)
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
        help=f"Several, separated by commas, at most {MOST}. Each is a release of the same users, and "
        "budgets add up. Small is private.",
    )
    if "delta" in PROMISES[own.privacy].fields:
        form_number(own, "delta", "Privacy budget δ of your data", FIELDS["delta"].low, FIELDS["delta"].high)
    wrong, hopeless = why_not_asked(own), False
    if wrong:
        st.caption(f":red[{escape(wrong)}]")
    elif {*own.asked()} <= {*own.specs}:
        st.markdown(sentences.AGAIN)
    elif own.data is not None:
        hopeless = warn(own.asked())
        before = f"{BUDGET_NAMES[own.budget.name]} = {escape(own.values[own.privacy])}"
        drawn = (draw for spec in own.asked() for draw in draws_of(spec))
        after = together((*own.before(), *drawn))
        text = escape(after.text)
        data, episodes = own.data, own.data.public.episodes
        named = not store().public
        told = verdict.beforehand(data.learned_from, data.checked, before, text, episodes, named)
        st.markdown(explained(told))
        st.caption(explained(sentences.as_a_pair(after.implies)))
    st.button(
        "Release and learn",
        type="primary",
        key="own_run",
        disabled=bool(wrong) or own.data is None or hopeless,
        on_click=callback(release),
        help="Adds noise to the counts, once for each budget, and learns a policy from each release.",
    )
    if own.data is not None and not wrong:
        of = sentences.people(own.data.learned_from, own.data.public.episodes)
        st.caption(explained(f"Learned from {of}. {escape(PROMISES[own.privacy].summary)}"))


def warn(asked: tuple[UploadSpec, ...]) -> bool:
    """What is known of these releases before they are made: that a bound will be the least there is, and why. Whether
    that is certain of one of them, or not known yet: then nothing is spent on it."""
    rewards = asked[0].public.rewards
    if rewards is not None and "rewards" in asked[0].learner.public and not rewards.any():
        st.markdown(f":material/warning: {sentences.WITHOUT_REWARDS}")
        return False
    hopeless = False
    for spec in asked:
        found = answers.reach_of_release(spec)
        if isinstance(found, answers.Pending):
            st.caption(sentences.ESTIMATING)
            return True
        if found is None:
            continue
        hopeless |= sentences.certain(found)
        if told := sentences.forecast(found):
            st.markdown(explained(f":material/warning: {told}"))
        listed = "\n".join(f"- {sentence}" for sentence in sentences.noise_outlook(found))
        st.caption(explained(f"**Before you spend {found['name']} = {found['given']:g}:**\n{listed}"))
    if hopeless:
        st.markdown(sentences.NOT_OFFERED)
    return hopeless


def release() -> None:
    """The button."""
    own = own_data().own
    own.specs = tuple(dict.fromkeys((*own.specs, *own.asked())))
    start()
