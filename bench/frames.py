"""Frames of the story above Home in Chromium: python -m bench.frames.

Each scene is looked at by its key until it has moved to its end, and the two sliders go from end to end and back. The
browser's main thread says what CPU each of its tasks took. A frame is one task at least, so at 4 times throttled CPU
none may take a quarter of 50 ms. CPU seconds hardly depend on what else the machine does. Prints for each scene its
frames, and what the largest took, times 4. Of a collection of garbage it prints why it began: those of the memory
reducer come on a page at rest, too, without the story. Such a page is looked at first, for comparison.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from pages.home.state import link_to
from pages.home.story import ORDER
from pages.shared.visitor.address import query_of
from tests.browser.conftest import CHROMIUM_FLAGS, chromium
from tests.browser.seen import CHART
from tests.browser.server import ROOT, serve_command, start

THROTTLE, MOST = 4, 50.0  # times, and ms
KINDS = ["disabled-by-default-devtools.timeline", "devtools.timeline", "disabled-by-default-v8.gc", "v8"]
WIDTHS = (1280, 390)
LONGEST = 30_000  # ms that a scene takes to its end
AT_REST = 40_000  # ms
BEGUN = "V8.GCIncrementalMarkingStart"


def main() -> int:
    """Measures both widths; 1 where a frame takes longer."""
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        app = start(serve_command, ROOT, Path(home))
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        try:
            nothing(browser, f"{app.url}/?{query_of(link_to(1.0))}")
            slow = [ms for width in WIDTHS for ms in story(browser, app.url, width) if ms > MOST]
        finally:
            browser.close()
            app.end()
    return int(bool(slow))


def nothing(browser: Browser, url: str) -> None:
    """Looks at a page on which nothing moves and nothing is pressed."""
    page = browser.new_page(viewport={"width": WIDTHS[0], "height": 900})
    page.goto(url)
    come(page)
    browser.start_tracing(page=page, categories=KINDS)
    page.wait_for_timeout(AT_REST)
    told("Home without its story, at rest", browser.stop_tracing())
    page.close()


def come(page: Page) -> None:
    """Waits until all of a page has come."""
    page.locator(CHART).first.wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(5000)


def story(browser: Browser, url: str, width: int) -> list[float]:
    """Reads the story; the largest frame of each part."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(url)
    motion = page.locator(".story .motion")
    motion.click()  # until the page itself has come, with the chart below the story
    come(page)
    largest = []
    for place, name in enumerate(ORDER):
        browser.start_tracing(page=page, categories=KINDS)
        if place:
            page.keyboard.press("ArrowRight")
        else:
            motion.click()
        rest(page, place)
        largest.append(told(f"{width} {name}", browser.stop_tracing()))
    for name in ("noise", "learn"):
        browser.start_tracing(page=page, categories=KINDS)
        slider = page.locator(".story section").nth(ORDER.index(name)).get_by_role("slider")
        for key in ("Home", *["ArrowRight"] * 12, "End"):
            slider.press(key)
            page.wait_for_timeout(50)
        largest.append(told(f"{width} {name}, slider", browser.stop_tracing()))
    page.close()
    return largest


def rest(page: Page, place: int) -> None:
    """Waits until a scene has been the same for a second."""
    page.wait_for_timeout(1000)
    section, before = page.locator(".story section").nth(place), ""
    for _ in range(LONGEST // 1000):
        now = section.inner_html()
        if now == before:
            return
        before = now
        page.wait_for_timeout(1000)


def told(name: str, trace: bytes) -> float:
    """Prints what the tasks of the browser's main thread took; returns the largest, in ms, throttled."""
    events: list[dict[str, Any]] = json.loads(trace)["traceEvents"]
    threads = {
        (e["pid"], e["tid"])
        for e in events
        if e["name"] == "thread_name" and e["args"]["name"] == "CrRendererMain"
    }
    tasks = [e for e in events if e["name"] == "RunTask" and (e["pid"], e["tid"]) in threads]
    tasks.sort(key=lambda task: float(task.get("tdur", 0)))
    took = [THROTTLE * task.get("tdur", 0) / 1000 for task in tasks]
    frames = sum(e["name"] == "FireAnimationFrame" for e in events)
    worst = ", ".join(f"{ms:.0f}" for ms in reversed(took[-5:]))
    print(f"{name}: {frames} frames, largest {worst} ms at {THROTTLE} times throttled CPU")
    if took and took[-1] > MOST:
        print(f"  of it {within(tasks[-1], events)}{begun(tasks[-1], events)}")
    return took[-1] if took else 0.0


def within(task: dict[str, Any], events: list[dict[str, Any]]) -> str:
    """What took longest in a task, by the browser's names."""
    end = task["ts"] + task["dur"]
    parts = [
        e
        for e in events
        if e.get("tid") == task["tid"] and e is not task and task["ts"] <= e["ts"] < end and e.get("tdur")
    ]
    parts.sort(key=lambda e: -float(e["tdur"]))
    return ", ".join(f"{e['name']} {THROTTLE * e['tdur'] / 1000:.0f} ms" for e in parts[:4])


def begun(task: dict[str, Any], events: list[dict[str, Any]]) -> str:
    """Why the collection of garbage that a task ends began, as the browser says; "" without one."""
    end = task["ts"] + task["dur"]
    here = [e for e in events if e.get("tid") == task["tid"] and e.get("pid") == task["pid"]]
    if not any(e["name"] == "MajorGC" and task["ts"] <= e["ts"] < end for e in here):
        return ""
    reasons = [
        (e["ts"], e["args"]["value"]["gc_reason"])
        for e in here
        if e["name"] == BEGUN and e["ts"] < end and "value" in e.get("args", {})
    ]
    return f"; begun by: {max(reasons)[1] if reasons else 'unknown, before this part'}"


if __name__ == "__main__":
    sys.exit(main())
