"""What a page without a server takes, against the figures it must reach: python -m bench.live_page [--drags 1000]

Opens pages from disk in Chromium, with the network off: one curve of five seeds of 10^9 users, the comparison of four
privacy models at 10^15 users, and eight curves. A page is opened when the browser rests: a new window first has it
prepare interfaces of its own. Every drag plays its runs anew; of eight curves it plays one seed each. Chromium
throttles the page and not its workers, so at 4 times throttled CPU what the slowest worker took is counted four times.
It throttles by a loop that is busy also while the page waits, and takes that part of a core from the workers: with few
cores they are counted too high. The row below has four times the seconds of the same drags without throttling, as a
machine would take that is slower in everything; it has no figure to reach. Memory is what the page's process has for
itself, its workers among it. A page is open when all its curves are drawn, be it of their first seeds alone, which it
says. A busy machine shows in seconds and not in the CPU seconds beside them: where these are below the figure, a quiet
machine reaches it with one core. A row is missed where both are above.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Page, sync_playwright

from dprl.figures.looks import CurveStyle
from dprl.player import MOST_BYTES, PlayedCurve, Shown, player_page, sizes_of
from dprl.simulation import RunSpec, answered
from dprl.wasm import answer
from tests.browser.conftest import CHROMIUM_FLAGS, chromium

OPEN, DRAG, THROTTLED, COMPARISON, MEMORY = 2.0, 0.15, 0.5, 2.0, 300  # seconds, and MB
THROTTLE = 4
LEAK = 1.1  # times the memory after a tenth of the drags
FIVE = RunSpec(episodes=10**9, seeds=5)
FOUR = [RunSpec(privacy=model, episodes=10**15, seeds=5) for model in ("none", "central", "shuffle", "local")]
EIGHT = [
    RunSpec(privacy=model, bonus=bonus, episodes=10**9, seeds=5)
    for model in ("none", "central", "shuffle", "local")
    for bonus in ("anytime", "paper")
]
DRAWN = "() => document.querySelector('#ends tbody') && performance.now()"  # all curves, of the seeds so far
PLAYED = "() => /has played/.test(document.querySelector('#played')?.textContent) && performance.now()"
# Moves a slider, or plays everything anew; resolves when all is drawn: seconds, and those of the slowest worker.
MOVED = """place => new Promise((resolve) => {
  player.pool.found.clear();
  const draw = player.draw, ended = player.pool.ended, busy = new Map(), begun = performance.now();
  player.pool.ended = function (worker, data, ...more) {
    busy.set(worker, (busy.get(worker) ?? 0) + (data.milliseconds ?? 0));
    return ended.call(this, worker, data, ...more);
  };
  player.draw = function (said) {
    draw.call(this, said);
    if (document.body.classList.contains("waiting")) return;
    delete player.draw;
    delete player.pool.ended;
    requestAnimationFrame(() => setTimeout(() =>
      resolve([(performance.now() - begun) / 1000, Math.max(...busy.values()) / 1000])));
  };
  if (place === null) return player.play();
  const slider = document.querySelector("#epsilon");
  slider.value = String(place);
  slider.dispatchEvent(new Event("input"));
})"""


class Table:
    """The rows that are printed, and how many miss their figure."""

    def __init__(self) -> None:
        self.missed = 0
        print(f"{'':52} {'median':>8} {'least':>8} {'most':>8} {'CPU':>8} {'must be':>8}")

    def row(
        self, name: str, values: Sequence[float], limit: float, unit: str, cpu: Sequence[float] = ()
    ) -> None:
        """Print one. It is missed where the medians are above the limit. cpu: of each value, CPU seconds."""
        median, taken = statistics.median(values), statistics.median(cpu) if cpu else None
        self.missed += median > limit and (taken is None or taken > limit)
        cells = [*(f"{value:8.3g}" for value in (median, min(values), max(values)))]
        cells += [" " * 8 if taken is None else f"{taken:8.3g}", f"{limit:8.3g}"]
        print(f"{name:52} {' '.join(cells)} {unit}", flush=True)


def page_of(specs: Sequence[RunSpec], workers: int) -> tuple[str, int]:
    """The page of these runs, and how many numbers of users it would have at most."""
    asked = [(spec, size) for spec in specs for size in sizes_of(spec)]
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        ready = pool.map(answer, [spec.replace(episodes=size) for spec, size in asked])
        found = dict(zip(asked, map(answered, ready), strict=True))
    curves = []
    for number, spec in enumerate(specs, 1):
        name = f"{spec.privacy}, {spec.bonus}, ε = {spec.epsilon}"
        replays = {size: found[spec, size] for size in sizes_of(spec)}
        curves.append(PlayedCurve(spec, name, name, CurveStyle(spec.privacy, number=number), replays))
    return player_page("Runs", "", curves, Shown(), footer=""), max(len(sizes_of(spec)) for spec in specs)


@contextmanager
def opened(browser: Browser, file: Path) -> Iterator[tuple[Page, float, float]]:
    """The page, the seconds until its curves are drawn, and until all of their seeds are. Raises AssertionError where
    a request leaves it."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    rest()
    page.goto(file.as_uri())
    drawn = page.wait_for_function(DRAWN).json_value() / 1000
    yield page, drawn, page.wait_for_function(PLAYED).json_value() / 1000
    assert [url for url in asked if not url.startswith((file.as_uri(), "data:", "blob:"))] == []
    context.close()


def renderers(ask: Callable[[psutil.Process], float]) -> dict[int, float]:
    """Of each process in which the browser has pages, what is asked of it."""
    found = {}
    for child in psutil.Process().children(recursive=True):
        try:
            if "--type=renderer" in child.cmdline():
                found[child.pid] = ask(child)
        except psutil.Error:  # it has ended meanwhile
            continue
    return found


def rest() -> None:
    """Wait until the browser rests: for a new window it prepares interfaces of its own, for half a CPU second."""
    before, quiet = -1.0, 0
    while quiet < 3:
        time.sleep(0.25)
        now = sum(renderers(used).values())
        quiet, before = (quiet + 1 if now - before < 0.02 else 0), now


def used(process: psutil.Process) -> float:
    """Its CPU seconds so far."""
    return float(sum(process.cpu_times()[:2]))


def memory() -> float:
    """MB that the page has for itself, and shares with nobody."""
    return max(renderers(lambda process: process.memory_full_info().uss / 1e6).values())


@contextmanager
def counted(into: list[float]) -> Iterator[None]:
    """Adds the CPU seconds that pages take meanwhile."""
    before = renderers(used)
    yield
    into.append(sum(seconds - before.get(number, 0.0) for number, seconds in renderers(used).items()))


def moved(page: Page, place: int | None, cpu: list[float]) -> list[float]:
    """Seconds until all is drawn again, and those of the slowest worker. place: of the slider, None where it was."""
    with counted(cpu):
        found: list[float] = page.evaluate(MOVED, place)
    return found


def drag(table: Table, page: Page) -> None:
    """Time drags over all stops, with and without throttling."""
    stops = range(page.evaluate("player.common(player.moved()).length"))
    cpu: list[float] = []
    quick = [moved(page, i, cpu)[0] for i in stops]
    table.row("a drag: five seeds of 1e9 users", quick, DRAG, "s", cpu)
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": THROTTLE})
    slow = [moved(page, i, []) for i in stops]
    session.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    values = [seconds + (THROTTLE - 1) * workers for seconds, workers in slow]
    cpu = [THROTTLE * seconds for seconds in cpu]
    table.row(f"the same at {THROTTLE} times throttled CPU", values, THROTTLED, "s", cpu)
    whole = [THROTTLE * seconds for seconds in quick]
    table.row(f"{THROTTLE} times the seconds of a drag", whole, float("inf"), "s")


def leak(table: Table, page: Page, drags: int) -> None:
    """Drag over all stops again and again, and look for what memory page and workers, which are one process, keep."""
    stops = page.evaluate("player.common(player.moved()).length")
    session, kept = page.context.new_cdp_session(page), []
    for number in range(drags):
        page.evaluate(MOVED, number % stops)
        if number % max(drags // 40, 1) == 0 or number == drags - 1:
            session.send("HeapProfiler.collectGarbage")
            kept.append(memory())
    table.row(f"memory during {drags:,} drags", kept, MEMORY, "MB")
    quarter = max(len(kept) // 4, 1)
    early, late = kept[:quarter], kept[-quarter:]
    table.row(
        "its last quarter over its first", [statistics.median(late) / statistics.median(early)], LEAK, ""
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--drags", type=int, default=1000)
    drags = parser.parse_args().drags
    workers = max(1, len(os.sched_getaffinity(0)))
    table = Table()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "page.html"
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        for name, specs in (("one curve", [FIVE]), ("four models", FOUR), ("eight curves", EIGHT)):
            text, sizes = page_of(specs, workers)
            file.write_text(text, encoding="utf-8")
            table.row(f"{name}: size", [file.stat().st_size / 1e6], MOST_BYTES / 1e6, "MB")
            begun, ended, cpu = [], [], list[float]()
            for _ in range(3):
                with opened(browser, file) as (page, drawn, played):
                    begun.append(drawn)
                    ended.append(played)
                    cpu.append(max(renderers(used).values()))
                    had = page.evaluate("Math.max(...player.head.curves.map(({ sizes }) => sizes.length))")
            table.row(f"{name}: open, with {had} of {sizes} numbers of users", begun, OPEN, "s")
            table.row(f"{name}: until all seeds are drawn", ended, float("inf"), "s", cpu)
            with opened(browser, file) as (page, _, _):
                if specs == FOUR:
                    cpu = []
                    again = [moved(page, None, cpu)[0] for _ in range(5)]
                    table.row("four models, five seeds of 1e15 users each", again, COMPARISON, "s", cpu)
                if specs == [FIVE]:
                    drag(table, page)
                    leak(table, page, drags)
                if specs == EIGHT:
                    page.evaluate(
                        "player.seeds = 1"
                    )  # of each curve: what is kept does not depend on how many
                    leak(table, page, drags)
                table.row(f"{name}: memory", [memory()], MEMORY, "MB")
        browser.close()
    print(f"{table.missed} missed; load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
