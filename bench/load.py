"""Many visitors at once, by websocket: python -m bench.load [--people 40] [--rounds 3] [page ...]

For each page, in turn with a trivial Streamlit page of one Plotly chart: all open it at the same moment (seconds to
the first chart, or to all of a page without), then each uses it three times within some seconds (seconds to the
answer). Then each opens a link to a run of its own. Prints medians, 95th percentiles, CPU seconds of the pages'
process, bytes and messages from it, its memory, and ratios to the trivial page. Only the ratios of a quiet machine say
something; the load is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np

from bench.hostile import cpu, memory, pages_of
from dprl.jobs.store import Store
from dprl.simulation import RunSpec
from dprl.sitemap import PAGES
from pages.shared.examples import HOME_BUDGETS
from pages.shared.visitor import links
from pages.shared.visitor.links import Curve
from tests.browser.server import ROOT, App, serve_command, start
from tests.browser.sessions import Session, opened

OPENED = [page.folder for page in PAGES.values() if page.bundled]  # which show a chart at once
RUNS = "runs"  # a link to a run of one's own, in place of a page
USES = 3
SPREAD = 6.0  # seconds in which each uses the page so often
RUN = RunSpec(episodes=10**6, seeds=2)
TRIVIAL = """
import plotly.graph_objects as go
import streamlit as st

st.title("A chart")
power = st.slider("Power", 1, 5)
x = list(range(100))
st.plotly_chart(go.Figure(go.Scatter(x=x, y=[v**power for v in x])))
"""


class Spent(NamedTuple):
    """CPU seconds of the pages' process, and bytes and messages from it."""

    cpu: float
    bytes: int
    messages: int

    def since(self, before: Spent) -> Spent:
        """What came after that."""
        return Spent(self.cpu - before.cpu, self.bytes - before.bytes, self.messages - before.messages)

    def each(self, count: int) -> str:
        """For one of so many."""
        return f"{self.cpu / count:.3f} CPU s, {self.bytes / count / 1000:.0f} kB, {self.messages / count:.0f} messages"


@dataclass
class Found:
    """Seconds to each first chart and to each answer; what opening took, and what all uses took; MB in the memory of
    the pages' process."""

    joined: list[float]
    used: list[float]
    opening: Spent
    using: Spent
    memory: float

    def __str__(self) -> str:
        joined, used = shares(self.joined), shares(self.used)
        return (
            f"{joined} ({self.opening.each(len(self.joined))}); used {used} ({self.using.each(len(self.used))}); "
            f"{self.memory:.0f} MB"
        )


def shares(seconds: list[float]) -> str:
    """Median and 95th percentile, in words."""
    return f"p50 {np.quantile(seconds, 0.5):.2f} s, p95 {np.quantile(seconds, 0.95):.2f} s"


Use = Callable[[Session, random.Random], Awaitable[None]]


async def visit(app: App, server: int, page: str, queries: list[str], use: Use) -> Found:
    """All open the page at once, with a link each, and then use it."""
    before, joined, used = Spent(cpu(server), 0, 0), [], []

    def spent(sessions: list[Session]) -> Spent:
        return Spent(cpu(server), sum(s.received for s in sessions), sum(s.messages for s in sessions))

    async def one(number: int, stack: contextlib.AsyncExitStack) -> Session:
        begin = time.perf_counter()
        session = await stack.enter_async_context(opened(app.url, page, queries[number]))
        await session.until(partial(answered, session, 0))
        joined.append((session.charted or time.perf_counter()) - begin)
        return session

    async def uses(session: Session, rng: random.Random) -> None:
        for pause in np.diff([0.0, *sorted(rng.uniform(0.0, SPREAD) for _ in range(USES))]):
            await asyncio.sleep(pause)
            ended, begin = session.ended, time.perf_counter()
            await use(session, rng)
            await session.until(partial(answered, session, ended))
            used.append(time.perf_counter() - begin)

    async with contextlib.AsyncExitStack() as stack:
        sessions = await asyncio.gather(*(one(i, stack) for i in range(len(queries))))
        there = spent(sessions)
        await asyncio.gather(*(uses(s, random.Random(i)) for i, s in enumerate(sessions)))
        return Found(joined, used, there.since(before), spent(sessions).since(there), memory(server))


def answered(session: Session, before: int) -> bool:
    """Whether more runs of its page have ended than before."""
    return session.ended > before


async def drag(session: Session, rng: random.Random) -> None:
    """Moves Home's slider."""
    await session.say("dprl_slider", place=rng.randrange(len(HOME_BUDGETS)))


async def again(session: Session, rng: random.Random) -> None:
    """Uses a widget for which the whole page runs again."""
    await session.again()


async def compare(trivial: App, ours: App, pages: list[str], people: int, rounds: int) -> None:
    """Prints a line for each visit, and the medians of the ratios."""
    ratios: dict[str, list[float]] = {}
    for page in pages:
        for turn in range(rounds):
            found = {}
            for one in ("trivial", page) if turn % 2 else (page, "trivial"):
                app = trivial if one == "trivial" else ours
                server = app.process.pid if app is trivial else pages_of(app)
                place = "" if one in ("trivial", "home") else one
                if not turn:  # what is imported and drawn once for all is there
                    await visit(app, server, place, [""], again)
                use = drag if one == "home" else again
                found[one] = await visit(app, server, place, [""] * people, use)
                print(f"{one}: {found[one]}", flush=True)
            theirs, mine = (np.quantile(found[one].joined, 0.95) for one in ("trivial", page))
            ratios.setdefault(page, []).append(float(mine / theirs))
    for page, several in ratios.items():
        print(f"{page}: p95 to the first chart is {np.median(several):.2f} times that of the trivial page")


async def runs(app: App, people: int, rounds: int) -> None:
    """Each opens a link to a run of its own on Explore, anew in each round."""
    store, server = Store(app.home / "runs.sqlite"), pages_of(app)
    await visit(app, server, "explore", [""], again)  # what is imported and drawn once for all is there
    for turn in range(rounds):
        own = (RUN.replace(root_seed=turn * people + i) for i in range(people))
        queries = [urlencode(links.encode([Curve(run)], links.View())) for run in own]
        begin = time.perf_counter()
        found = await visit(app, server, "explore", queries, again)
        while (activity := store.status.activity()).seeds_queued or activity.seeds_running:
            await asyncio.sleep(0.1)
        seconds = time.perf_counter() - begin
        print(f"a run of one's own: {found}; all {2 * people} seeds after {seconds:.1f} s", flush=True)


def main() -> int:
    """1 where the log has a traceback."""
    parser = argparse.ArgumentParser(prog="python -m bench.load", description=__doc__)
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("pages", nargs="*", metavar="page", help=", ".join([*OPENED, RUNS]))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the servers end, too
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (home / "page.py").write_text(TRIVIAL)
        flags = [
            "--server.address=127.0.0.1",
            "--server.fileWatcherType=none",
            "--browser.gatherUsageStats=false",
        ]
        run = [sys.executable, "-m", "streamlit", "run", "page.py", *flags]
        trivial = start(lambda port: [*run, f"--server.port={port}"], home, home / "trivial")
        stack.callback(trivial.end)
        ours = start(serve_command, ROOT, home / "ours")
        stack.callback(ours.end)
        print("load {:.1f}, {:.1f}, {:.1f}".format(*os.getloadavg()), flush=True)
        pages = options.pages or [*OPENED, RUNS]
        asyncio.run(compare(trivial, ours, [p for p in pages if p != RUNS], options.people, options.rounds))
        if RUNS in pages:
            asyncio.run(runs(ours, options.people, options.rounds))
        log = ours.log()
    if "Traceback" in log:
        print(log[log.index("Traceback") :][:3000])
    return int("Traceback" in log)


if __name__ == "__main__":
    sys.exit(main())
