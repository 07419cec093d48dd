"""The frame of every page: notices, the handling of errors, and links to the pages."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from dprl.fields import SpecError
from dprl.runs.database import StoreError
from dprl.sitemap import MOVED, PAGES, SECTIONS
from pages.shared.layout.browser import unseen
from pages.shared.layout.terms import escape
from pages.shared.results.data import store
from pages.shared.streamlit_internals import forget_parts, leave_out_while
from pages.shared.visitor.callbacks import into
from pages.shared.visitor.state import owners, session

log = logging.getLogger("dprl.pages")
P = ParamSpec("P")

CRASHED = "Something went wrong on this page and was written to the log. Reload the page, or go back."
ANSWERED = 0.3  # seconds between two checks for the workers' answers
SHARE = 0.2  # share of a processor for drawing all parts that redraw themselves, not counting the time to send them
COST = 0.01  # estimated CPU seconds of drawing a part, until it is measured
AT_ONCE = 2  # number of threads that may draw at once; one of them may wait for a file
line: list[int] = []  # the threads that draw, and then those that wait, in order of arrival
moved = threading.Condition()


@contextmanager
def turn() -> Iterator[None]:
    """Let at most AT_ONCE threads draw at the same time. Otherwise, if forty visitors clicked at once, each page would
    take forty times as long, and every message would wait for all of them."""
    me = threading.get_ident()
    if me in line:
        yield
        return
    with moved:
        line.append(me)
        moved.wait_for(lambda: me in line[:AT_ONCE])
    try:
        yield
    finally:
        with moved:
            line.remove(me)
            moved.notify()  # the thread that has waited longest


class Crowd:
    """The parts of all visitors' pages that are currently redrawing themselves."""

    def __init__(self) -> None:
        # for each, when it counts as gone, and the CPU seconds of drawing it
        self._parts: dict[tuple[int, str], tuple[float, float]] = {}
        self._lock = threading.Lock()

    def pace(self, part: tuple[int, str], least: float, took: float | None = None) -> float:
        """Return the seconds until a part that is drawn now may be redrawn, at least `least`. `took` is the measured
        CPU time. A part counts as gone if it is not drawn for three times as long."""
        now = time.monotonic()
        with self._lock:
            _, cost = self._parts.get(part, (now, COST))
            cost = cost if took is None else (cost + took) / 2
            self._parts = {one: told for one, told in self._parts.items() if told[0] >= now}
            self._parts[part] = now, cost
            pace = max(least, sum(cost for _, cost in self._parts.values()) / SHARE)
            self._parts[part] = now + 3 * pace, cost
            return pace


crowd = Crowd()


def guarded(draw: Callable[P, Any]) -> Callable[P, bool]:
    """Wrap `draw` so that it waits for its turn, reports errors, and returns whether it succeeded."""

    @wraps(draw)
    def safely(*args: P.args, **kwargs: P.kwargs) -> bool:
        try:
            with turn():
                draw(*args, **kwargs)
        except (SpecError, StoreError) as error:
            st.error(escape(str(error)))
        except Exception:
            log.exception("Drawing a page failed")
            st.error(CRASHED)
            page_link("", "Back to Home")
        else:
            return True
        return False

    return safely


def redrawn(
    draw: Callable[[bool], object],
    every: float | None,
    name: str = "results",
    still: Callable[[], bool] | None = None,
) -> None:
    """Draw a part of a page, and keep redrawing it if `every` is a number. `draw` receives whether it is redrawn.

    still: returns whether nothing has changed. If possible, the server calls it instead of redrawing, and redraws the
    whole page once something has changed. With many visitors, parts are redrawn less often, so that requests do not
    pile up. After an error, a part is not redrawn until the visitor's next action draws it without an error.
    """
    s = session()
    me = id(s), name
    wanted = min(every or ANSWERED, ANSWERED) if name in s.polling else every
    pace = wanted if wanted is None or still else crowd.pace(me, wanted)
    again = False  # true after the page's own run

    def part() -> None:
        nonlocal again
        s.drawing = name
        if still is not None:
            leave_out_while(still)
        # a redrawn part explains its terms again
        s.explained = {term: where for term, where in s.explained.items() if where != name}
        s.waiting.discard(name)
        begin = time.thread_time()
        fine = guarded(draw)(every is not None)
        if again and pace is not None and wanted is not None and still is None:
            now = crowd.pace(me, wanted, time.thread_time() - begin)
            if fine and not pace / 2 < now < 2 * pace:
                st.rerun()
        again = True
        if fine == s.stuck and pace is not None:
            s.stuck = not fine
            st.rerun()
        if fine and (name in s.waiting) != (name in s.polling):
            st.rerun()

    st.fragment(part, run_every=None if s.stuck else pace)()


def dark() -> bool:
    return st.context.theme.type == "dark"


def wide() -> bool:
    """Return whether there is room for names next to charts, according to the browser or its user agent."""
    browser, reported = st.context.headers.get("User-Agent", ""), session().wide
    return bool(browser) and "Mobi" not in browser if reported is None else reported


@guarded
def show_page(page: StreamlitPage) -> None:
    """Show the store's messages, and draw the page with links to the runs and to its documentation."""
    if notice := store().notice:
        st.warning(escape(notice))
    s = session()
    s.arrived, s.page = s.page != page.url_path, page.url_path
    if s.arrived:
        s.pressed = None  # a visitor who has left a page no longer waits for anything there
        s.waiting.clear()
        forget_parts()
    s.explained.clear()
    s.drawing, s.polling, s.common, s.alone = "", frozenset(s.waiting), "", ""
    if s.said and s.said != notice:
        st.toast(escape(s.said))
    s.said = ""
    with st.container(horizontal=True, gap="small", width="content", key="corner"):
        going = store().going(owners())
        page_link("runs", f"Runs ({going})" if going else "Runs")
        if st.get_option("server.enableStaticServing"):
            guide = PAGES[page.url_path].guide or "index"
            st.markdown(f":material/menu_book: [Docs](app/static/docs/{guide}.html)")
    page.run()
    settle(page.url_path)
    unseen(f"{page.url_path}:{s.runs}", dark(), wide(), into(s, "wide"))


@cache
def settle(path: str) -> None:
    """Exempt the objects of a page's first drawing from garbage collection, which would delay all visitors by 0.2 s."""
    gc.freeze()


ROOT = Path(__file__).parents[3]


def pages() -> dict[str, list[StreamlitPage]]:
    """Return a copy of the pages in each section, for one run of the script."""
    return {section: [copy(page) for page in made] for section, made in _pages().items()}


@cache
def _pages() -> dict[str, list[StreamlitPage]]:
    """Make the pages only once, because Streamlit looks up each file and lets other threads run meanwhile."""
    found: dict[str, list[StreamlitPage]] = {section: [] for section in SECTIONS}
    for page in PAGES.values():
        how: Any = {"default": not page.path, "visibility": "hidden" if page.aside else "visible"}
        made = st.Page(ROOT / page.file, title=page.name, url_path=page.path or None, **how)
        found[page.section].append(made)
    for path in MOVED:  # draws nothing, because app.py redirects from these addresses
        found[""].append(st.Page(lambda: None, title=path, url_path=path, visibility="hidden"))
    return found


def page_link(
    path: str,
    label: str,
    query: Mapping[str, str] | Sequence[tuple[str, str]] | None = None,
    *,
    icon: str = "",
) -> None:
    """Draw a link to the page at a path, with a query and, if given, another icon."""
    page = PAGES[path]
    st.page_link(page.file, label=label, icon=f":material/{icon or page.icon}:", query_params=query)
