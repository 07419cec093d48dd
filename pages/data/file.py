"""The form on the Your data page, the reading of a file, and the information shown before a release."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from dprl.fields import SpecError, decode
from dprl.runs.database import StoreError
from dprl.sentences import uploads as said
from dprl.sentences import verdict
from dprl.simulation import UploadSpec
from dprl.simulation.uploads import kept
from dprl.simulation.uploads.check import SHARE
from dprl.simulation.uploads.declaration import declaration
from dprl.simulation.uploads.ledger import MOST_NAME, Budget, together
from dprl.simulation.uploads.model import example
from dprl.simulation.uploads.noise import outlook as known_before
from dprl.simulation.uploads.run import draws_of
from dprl.simulation.uploads.table import MOST_BYTES
from dprl.uploads.readings import Readings, forget
from dprl.words import plural
from pages.data.own import RUNS, Own, belongings, own_data
from pages.shared.layout.chart import save
from pages.shared.layout.terms import escape, explained
from pages.shared.results.data import store
from pages.shared.results.status import ACTIVE
from pages.shared.streamlit_internals import drop_file
from pages.shared.visitor.callbacks import button, callback, on_value

MOST_DECLARED = 2_000_000  # bytes of a JSON file with a declaration
MOST_TYPED = 2000  # characters of a text field
TYPED = ("states", "actions", "horizon", "columns", "rewards", "budget", "total", "rho")


@st.cache_resource(show_spinner=False)
def readings() -> Readings:
    """Return this server's queue of files to read."""
    return Readings()


def form(own: Own) -> None:
    """Draw the form and the button that starts reading the file."""
    st.caption(explained(said.PAGE["declared"]))
    with st.container(border=True):
        left, right = st.columns(2)
        left.file_uploader(
            "File of episodes (CSV or Parquet)", type=["csv", "parquet"], key=f"own_file_{own.turn}",
            max_upload_size=min(MOST_BYTES // 10**6, st.get_option("server.maxUploadSize")), help=said.PAGE["file"],
        )  # fmt: skip
        right.file_uploader(
            "Declaration (JSON), instead of the next five fields", type=["json"], key="own_declared",
            max_upload_size=MOST_DECLARED // 10**6, help=said.PAGE["declaration"],
            on_change=on_value("own_declared", partial(declare, own)),
        )  # fmt: skip
        if own.file:
            right.caption(f"The file declares {escape(summary(own))}.")
        with st.form("own_form", border=False):
            left, right = st.columns(2)
            about = said.PAGE["last_label"]
            _text(left, own, "states", "States, separated by commas", "mild, severe, other", about)
            _text(right, own, "actions", "Actions, separated by commas", "watch, treat", about)
            first, second, third = st.columns([1, 2, 1])
            first.number_input("Steps of each episode", 1, 1000, own.horizon, 1, key="own_horizon")
            _text(second, own, "columns", "Names of the columns in your file", "", said.PAGE["columns"])
            _text(third, own, "rewards", "Lowest and highest reward", "0, 1", said.PAGE["rewards"])
            first, second, third = st.columns([2, 1, 1])
            if not store().public:
                _text(first, own, "budget", "Name of the budget", "ward 2026", said.PAGE["name"], MOST_NAME)
                how: dict[str, Any] = {"format": "%g", "help": said.PAGE["total"], "placeholder": "such as 1"}
                second.number_input("Total ρ", 1e-6, None, own.total, key="own_total", **how)
            empty = "such as 0.1" if store().public else "the whole total"
            how = {"format": "%g", "help": said.PAGE["rho"], "placeholder": empty}
            third.number_input("ρ of this release", 1e-6, 1e6, own.rho, key="own_rho", **how)
            if own.problem:
                st.markdown(f":red[:material/error: {escape(own.problem)}]")
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                how = {"icon": ":material/fact_check:", "key": "own_check"}
                st.form_submit_button("Check the file", on_click=callback(partial(check, own)), **how)
                st.caption("The file is read on this computer. Nothing is released.", width="stretch")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        save("example.csv", "Example file", example)
        st.caption(said.PAGE["example_file"], width="stretch")
    st.caption(explained(f"{said.PAGE['kept']} {said.PAGE['malformed']}"))


def _text(
    place: Any, own: Own, name: str, label: str, empty: str, about: str, most: int = MOST_TYPED
) -> None:
    place.text_input(label, getattr(own, name), most, f"own_{name}", placeholder=empty, help=about)


def check(own: Own) -> None:
    """Store the form's values and start reading the file."""
    for name in TYPED:
        value = st.session_state.get(f"own_{name}", getattr(own, name))
        setattr(own, name, value.strip() if isinstance(value, str) else value)
    own.problem = ""
    try:
        use(own, st.session_state.get(f"own_file_{own.turn}"))
    except (SpecError, StoreError) as error:
        own.problem = str(error)


def declare(own: Own, form: Any) -> None:
    """Store a declaration as soon as its file is uploaded, because a session holds only one file."""
    own.problem = ""
    try:
        if hasattr(form, "getvalue"):
            own.file = declaration(decode("declared", form.getvalue())).text
        elif form is None:
            own.file = ""
    except SpecError as error:
        own.problem = str(error)


def use(own: Own, file: Any) -> None:
    """Start reading a file, or check that it has been read. Raises SpecError and StoreError."""
    if missing := own.missing:
        raise SpecError("form", f"something is missing; give {', '.join(missing)}.")
    declared = own.declared()
    if not store().public:
        Budget(own.budget, rho=own.total)
    if hasattr(file, "read"):
        receive(own, file, declared.text)
    elif own.data is None or own.data.declared != declared.text:
        raise SpecError("data", "choose the file of episodes again: no file is kept once it is read.")


def receive(own: Own, file: Any, declared: str) -> None:
    """Start reading a file and remove it from the server's memory. Raises SpecError and StoreError."""
    if own.reading is not None:  # one file at a time
        belongings().end(own.reading.name)
    asked: dict[str, Any] = {"declared": declared, "held_out": SHARE, "budget": None, "total": None}
    if not store().public:  # a public server does not know who owns a file
        asked |= {"budget": own.budget, "total": own.total}
    try:
        reading = own.reading = readings().begin(file, asked)
    finally:
        own.turn += 1
        own.last_file = file.name
        drop_file(file)

    def end() -> None:
        readings().cancel(reading)
        if reading.done:
            forget(reading.name, reading.marker)

    def released() -> bool:
        return any(spec.data == reading.name and store().status(spec).state in ACTIVE for spec in own.specs)

    belongings().add(reading.name, end, released)


def collect(own: Own) -> None:
    """Store the data from a file once they have been read, and drop counts that are no longer stored."""
    reading = own.reading
    if reading is not None and reading.done:
        own.reading = None
        own.problem = reading.problem
        if reading.spec is not None:
            own.data, own.recalled, own.specs = reading.spec, reading.recalled, ()
            own.data_file = own.last_file
            own.outside = () if store().public else reading.outside
        else:
            belongings().end(reading.name)
    if own.data is not None and not kept.there(own.data.data):
        own.data, own.outside, own.recalled = None, (), ""
        own.problem = said.PAGE["gone"]


def stop(own: Own) -> None:
    """Stop reading the file and delete everything that was read from it."""
    if own.reading is not None:
        belongings().end(own.reading.name)
        own.reading = None
    own.turn += 1
    st.rerun()


def forget_counts(own: Own) -> None:
    if own.data is not None:
        belongings().end(own.data.data)
        kept.forget(own.data.data)
    own.data, own.specs, own.outside, own.recalled = None, (), (), ""
    own.turn += 1
    st.rerun()


def before_release(own: Own) -> None:
    """Show what was read, what a release would cost, how much noise to expect, and the button that starts it."""
    spec = own.spec
    assert own.data is not None
    if spec is None:
        return
    people = said.people(spec.n, spec.public.episodes)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f":material/lock: **{people}** read from {escape(own.data_file)}: {escape(summary(own))}",
            width="stretch",
        )
        button("Forget the data", forget_counts, own, icon="delete", key="own_forget", width="content")
        text = own.data.declared
        save("declared.json", "Declaration", lambda: text)
    if own.recalled:
        st.warning(f"{escape(own.recalled)} {said.PAGE['add_up']}", icon=":material/history:")
    if own.outside:
        strange = "\n".join(f"- {escape(sentence)}" for sentence in own.outside)
        st.warning(f"{said.PAGE['outside']}\n\n{strange}", icon=":material/visibility_lock:")
    if spec in own.specs:
        st.caption(said.PAGE["again"])
        return
    so_far = ""
    try:
        wrong = own.problem or own.refusal()
        if not store().public and Budget.known(own.budget):
            so_far = said.budget_so_far(Budget(own.budget), escape)
    except SpecError as error:
        wrong = str(error)
    budget = together(draws_of(spec)).text
    sizes = spec.public.episodes, len(spec.public.groups)
    spent = verdict.beforehand(spec.learned_from, spec.checked, budget, *sizes)
    st.markdown(explained(f"{spent} {said.PAGE['held_out']} {so_far}"))
    st.markdown(explained(" ".join(said.outlook(*known_before(spec)))))
    what = f"Release at ρ = {spec.rho:g}"
    button(what, release, spec, icon="send", type="primary", key="own_run", disabled=bool(wrong))
    if wrong:
        st.markdown(f":red[:material/error: {escape(wrong)}]")


def release(spec: UploadSpec) -> None:
    """Request a release and record it in the session."""
    own = own_data()
    own.specs = tuple(dict.fromkeys((*own.specs, spec)))
    RUNS.start(own.specs)


def summary(own: Own) -> str:
    """Describe the declaration in one line."""
    declared = own.data.public if own.data is not None else declaration(own.file)
    (S, A, H, _), (low, high) = declared.size, declared.reward_range
    sizes = (
        f"{plural(S, 'state')}, {plural(A, 'action')}, {plural(H, 'step')}, rewards from {low:g} to {high:g}"
    )
    return sizes if declared.rewards is None else f"{sizes}, mean rewards declared"
