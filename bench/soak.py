"""A long stay: python -m bench.soak [--minutes 30] [--people 20]

Visitors by websocket come to random pages, plain or by a link, press any button there, have the page run again, and
leave, with workers that compute what they ask for. Prints twice a minute how many came, and memory, threads and open
files of the pages' process. Exit status 1 where the log has an error, a visit failed, or memory still grows: by more
than 50 MB from the middle third to the last.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

from bench.hostile import cpu, memory, pages_of
from dprl.jobs.store import Store
from tests.browser.server import ROOT, App, serve_command, start
from tests.browser.sessions import Session, opened
from tests.pages.test_hostile import GOOD

GROWN = 50.0  # MB
STAY = 6.0  # seconds between two things that a visitor does, at most
LOOK = 30.0
AROUND = 40  # lines of the log that are printed from where something is wrong
# What a server that is well does not log.
BAD = re.compile(r"Traceback|\bERROR\b|\berror:|CRITICAL|Exception")


@dataclass
class Stay:
    """What has happened so far."""

    until: float
    visits: int = 0
    presses: int = 0
    failed: list[str] = field(default_factory=list)


async def visitor(app: App, rng: random.Random, stay: Stay) -> None:
    """Comes and goes until the end."""
    pages = [*GOOD, "claims", "runs"]
    while time.monotonic() < stay.until:
        page = rng.choice(pages)
        links = GOOD.get(page, [])
        query = urlencode(rng.choice(links)) if links and rng.random() < 0.5 else ""
        try:
            async with opened(app.url, "" if page == "home" else page, query) as session:
                await session.until(partial(getattr, session, "ended"))
                for _ in range(rng.randint(0, 5)):
                    await asyncio.sleep(rng.uniform(0.0, STAY))
                    await use(session, rng)
                    stay.presses += 1
            stay.visits += 1
        except (TimeoutError, AssertionError, OSError) as error:
            stay.failed.append(f"{page}?{query}: {type(error).__name__}: {str(error)[:300]}")
            print(stay.failed[-1], flush=True)


async def use(session: Session, rng: random.Random) -> None:
    """Presses some button, or has the page run again; nothing of it may fail."""
    ended, buttons = session.ended, session.buttons
    if buttons and rng.random() < 0.8:
        await session.press(rng.choice(buttons))
    else:
        await session.again()
    await session.until(lambda: session.ended > ended)
    assert session.text is not None  # raises where there is an exception


async def watch(app: App, stay: Stay) -> list[float]:
    """MB in the memory of the pages' process, looked at twice a minute."""
    server, store, found = pages_of(app), Store(app.home / "runs.sqlite"), []
    while time.monotonic() < stay.until:
        await asyncio.sleep(LOOK)
        found.append(memory(server))
        threads, files = (len(os.listdir(f"/proc/{server}/{what}")) for what in ("task", "fd"))
        queued = store.status.activity().seeds_queued
        print(
            f"{stay.visits} visits, {stay.presses} presses, {len(stay.failed)} failed; {found[-1]:.0f} MB, "
            f"{threads} threads, {files} files, {cpu(server):.0f} CPU s; {queued} seeds queued, "
            f"store {store.size_bytes() / 2**20:.0f} MB",
            flush=True,
        )
    store.close()
    return found


async def soak(app: App, minutes: float, people: int) -> tuple[Stay, list[float]]:
    """All of it."""
    stay = Stay(time.monotonic() + 60.0 * minutes)
    visitors = [visitor(app, random.Random(i), stay) for i in range(people)]
    watching = asyncio.create_task(watch(app, stay))
    await asyncio.gather(*visitors)
    return stay, await watching


def main() -> int:
    """1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--people", type=int, default=20)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server ends, too
    with tempfile.TemporaryDirectory() as home:
        app = start(serve_command, ROOT, Path(home))
        try:
            stay, watched = asyncio.run(soak(app, options.minutes, options.people))
        finally:
            app.end()
        log = app.log().splitlines()
        wrong = [at for at, line in enumerate(log) if BAD.search(line)]
    for at in wrong[:20]:
        print("\n".join(log[max(at - 1, 0) : at + AROUND]))
    third = max(1, len(watched) // 3)
    grown = float(np.median(watched[-third:]) - np.median(watched[third : 2 * third] or watched[:1]))
    print(
        f"{stay.visits} visits, {stay.presses} presses, {len(stay.failed)} failed, {len(wrong)} errors in the log, "
        f"memory {grown:+.0f} MB from the middle third to the last"
    )
    return int(bool(wrong or stay.failed) or grown > GROWN)


if __name__ == "__main__":
    sys.exit(main())
