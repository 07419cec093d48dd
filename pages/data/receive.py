"""The tab Your data: a file on its way from the browser to its counts, which another process makes of it."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from dprl.fields import SpecError
from dprl.runs.database import StoreError
from dprl.sentences import uploads as sentences
from dprl.simulation.uploads import kept
from dprl.uploads.readings import Readings, forget
from pages.data.belongings import belongings
from pages.data.own import Own
from pages.shared.results import data
from pages.shared.results.data import store
from pages.shared.results.status import ACTIVE
from pages.shared.streamlit_internals import drop_file
from pages.shared.visitor.callbacks import callback


@st.cache_resource(show_spinner=False)
def readings() -> Readings:
    """One for the whole server."""
    return Readings()


def received(own: Own, file: Any) -> None:
    """Has an uploaded file read, and drops it. A browser that lags behind may say once more that it gave a file which
    was dropped: then there is nothing to read."""
    if not hasattr(file, "read"):
        return
    if own.reading is not None:  # one file at a time
        belongings().end(own.reading.name)
    own.problem = ""
    try:
        declared = own.declared()
        public = store().public  # there nobody knows whose file it is
        asked = {
            "declared": declared.text,
            "held_out": own.held_out,
            "budget": None if public else own.purse,
            "total": None if public else own.total,
            "accept_undeclared": own.accept_undeclared,
        }
        reading = own.reading = readings().begin(file, asked)

        def end() -> None:
            readings().cancel(reading)
            if reading.done:
                forget(reading.name, reading.marker)

        belongings().add(reading.name, end, partial(released_of, own, reading.name))
    except (SpecError, StoreError) as error:
        own.problem = str(error)
    finally:
        own.turn += 1
        drop_file(file)
    st.rerun()


def released_of(own: Own, name: str) -> bool:
    """Whether a release of these counts is being made."""
    return any(spec.data == name and data.status(spec).state in ACTIVE for spec in own.specs)


def collect(own: Own) -> None:
    """Takes over what was read, where a reading has ended; and counts that are no longer kept are not offered."""
    reading = own.reading
    if reading is not None and reading.done:
        own.reading = None
        own.problem, own.undeclared = reading.problem, reading.undeclared
        if reading.spec is not None:
            own.take(reading.spec)
            own.recalled = reading.recalled
            own.outside = () if store().public else reading.outside
        else:
            belongings().end(reading.name)
    if own.data is not None and not kept.there(own.data.data):
        own.data, own.outside, own.recalled = None, (), ""
        own.problem = sentences.GONE
        own.turn += 1


def show_reading(own: Own) -> None:
    """How far it is, and a way to stop."""
    reading = own.reading
    assert reading is not None
    st.markdown("## 2. Give the file", anchors=False)
    st.progress(reading.share, sentences.reading(reading.share, reading.ahead))
    st.button("Stop reading", icon=":material/cancel:", key="own_stop", on_click=callback(stop), args=(own,))


def stop(own: Own) -> None:
    """Nothing of the file is kept."""
    if own.reading is not None:
        belongings().end(own.reading.name)
        own.reading = None
    own.turn += 1
    st.rerun()


def forget_counts(own: Own) -> None:
    """Deletes the counts."""
    if own.data is not None:
        belongings().end(own.data.data)
        kept.forget(own.data.data)
    own.drop()
    st.rerun()
