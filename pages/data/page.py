"""Your data: a policy from a private data set of your own."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.sentences import uploads as said
from dprl.uploads import readings
from pages.data.file import before_release, collect, form, show_reading
from pages.data.own import Own, going, own_data
from pages.data.result import show_example, show_release
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import head, share
from pages.shared.layout.terms import explained
from pages.shared.results.status import PACE
from pages.shared.visitor.state import read_address


def main() -> None:
    part = own_data()
    read_address(part)
    corner = head(part)
    redrawn(partial(draw, part.own, corner), PACE if going() else None)


def draw(own: Own, corner: DeltaGenerator, live: bool) -> None:
    """Draw an example, then the visitor's own file. It redraws itself while a file is read or a release computed."""
    if live != going():
        st.rerun()
    with corner:
        share(own_data())
    collect(own)
    if not own.specs:
        show_example()
    st.markdown("## Use my own file", anchors=False)
    if not readings.allowed():
        st.info(said.OFF, icon=":material/lock:")
        return
    if own.reading is not None:
        show_reading(own)
        return
    show_release(own)
    if own.data is not None:
        before_release(own)
    form(own)
    st.caption(explained(said.COMMANDS))
    st.code(said.COMMAND_LINES, language="sh", wrap_lines=True)


main()
