"""Runs: the runs that this visitor requested, their progress, and the storage of their results."""

from __future__ import annotations

import time
from functools import partial

import streamlit as st

from dprl.messages import messages
from dprl.runs.status import RunRow
from dprl.sitemap import PAGES, Page
from dprl.words import duration, plural, size
from pages.shared.layout.chart import save_citations
from pages.shared.layout.frame import page_link, redrawn
from pages.shared.layout.terms import escape
from pages.shared.names import in_common, label
from pages.shared.results.data import store
from pages.shared.results.status import ACTIVE, act, cancel, words
from pages.shared.visitor.callbacks import button
from pages.shared.visitor.draft import draft_of
from pages.shared.visitor.links import Curve
from pages.shared.visitor.state import add, ask, attempt, owner_id, owners, session

SAID = messages("pages")["runs"]


def main() -> None:
    st.title(PAGES["runs"].name, anchor=False)
    st.markdown(SAID["about"])
    going = any(row.state in ACTIVE for row in everything())
    redrawn(listing, 1.0 if going else None)


def listing(live: bool) -> None:
    """Draw the table of runs; redraw while one of them is active."""
    rows, all_rows = store().runs(session().visitor), everything()
    if live and not any(row.state in ACTIVE for row in all_rows):
        st.rerun()
    for page in PAGES.values():
        for group in page.groups:
            if found := store().runs(owner_id(group)):
                with st.container(border=True, gap="xsmall"):
                    runs_as_one(page, group, found)
    if not all_rows:
        with st.container(border=True):
            st.markdown("**You have no runs yet.** Every run you start is listed here.")
            page_link("explore", "Start a run")
        return
    for i, row in enumerate(rows):
        with st.container(border=True, gap="xsmall"):
            entry(i, row)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        button("Clear my finished runs", clear, icon="delete", key="clear", help=SAID["clear"])
        save_citations(row.spec for row in all_rows)


def everything() -> list[RunRow]:
    """Return this visitor's runs, including those of pages that request many."""
    return [row for name in owners() for row in store().runs(name)]


def runs_as_one(page: Page, group: str, rows: list[RunRow]) -> None:
    """Draw a single entry for all runs of a page that requests many."""
    going = [row.spec for row in rows if row.state in ACTIVE]
    seeds, done = sum(row.seeds for row in rows), sum(row.seeds_done for row in rows)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{page.groups[group]}**: {plural(len(rows), 'run')}", width="stretch")
        if going:
            act("Cancel", "close", partial(cancel, going, owner_id(group)), f"cancel_{group}")
        page_link(page.path, f"Go to {page.name}")
    said = f"{done} of {plural(seeds, 'seed')} finished, {size(sum(row.bytes for row in rows))}."
    if going:
        st.progress(min(1.0, sum(row.progress * row.seeds for row in rows) / max(seeds, 1)), said)
    else:
        st.caption(said)


def entry(i: int, row: RunRow) -> None:
    """Draw one run with its status and a button for each possible action."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{escape(label(row.spec))}**", width="stretch")
        if row.state in ACTIVE:
            act("Cancel", "close", partial(cancel, [row.spec], session().visitor), f"cancel_{i}")
        elif row.state != "done":
            again = "Try again" if row.state == "failed" else "Compute this run"
            act(again, "replay", partial(ask, [row.spec], session().visitor, again=True), f"retry_{i}")
        about = "Adds this run to the comparison on the Online page."
        if st.button("Show", icon=":material/show_chart:", key=f"show_{i}", help=about):
            session().said = add(row.spec)
            session().drafts["explore"] = draft_of(row.spec)  # the controls show the settings of this run
            st.switch_page(PAGES["explore"].file)
    st.caption(escape(in_common([Curve(row.spec)])))
    ago = duration(max(1.0, time.time() - row.asked_at)).removeprefix("about ")
    if row.state in ACTIVE:
        st.progress(min(1.0, row.progress), escape(words(row)))
    else:
        said = words(row) or f"Finished: {plural(row.seeds, 'seed')}, {size(row.bytes)}."
        st.caption(f"{escape(said)} Requested {ago} ago.")


def clear() -> None:
    """Remove the visitor's finished runs from the list, and report how many there were."""
    s = session()
    before = len(everything())
    if all(attempt(store().clear, name) for name in owners()):
        gone = before - len(everything())
        s.said = f"{plural(gone, 'run')} cleared." if gone else "There was nothing to clear."
    st.rerun()


main()
