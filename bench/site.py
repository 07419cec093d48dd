"""What the site without a server takes: python -m bench.site [--out DIR]

Writes it by `dprl web`, in seconds and in CPU seconds of all its processes. Then opens each page from disk in Chromium,
with the network off: its size, and the seconds until its first picture is drawn, or its list is there. Of a page that
plays runs that is when all its curves are drawn, be it of their first seeds alone. A busy machine shows in seconds and
hardly in the CPU seconds beside them, which are those of the page and of its workers until then. Chromium is watched
here, which makes opening Plotly slower than visitors have it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from playwright.sync_api import Browser, sync_playwright

from bench.live_page import DRAWN, renderers, used
from tests.browser.conftest import CHROMIUM_FLAGS, chromium

OPENED = 3  # times
# A chart that is in sight, a scene of the story, or no picture at all.
SEEN = """() => {
  const plots = [...document.querySelectorAll(".plot")];
  const near = plots.filter((plot) => plot.getBoundingClientRect().top < innerHeight);
  const story = document.querySelector("#story")?.shadowRoot?.querySelector("svg");
  const drawn = near.length ? near.every((plot) => plot.querySelector(".main-svg")) : window.site || !plots.length;
  return (story || drawn) && performance.now();
}"""


def written(out: Path) -> tuple[float, float]:
    """Seconds, and CPU seconds of all processes."""
    begun, before = time.perf_counter(), os.times()
    subprocess.run(
        [sys.executable, "-m", "dprl", "web", "--out", str(out)], check=True, stdout=subprocess.DEVNULL
    )
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - begun, cpu


def opened(browser: Browser, file: Path) -> tuple[float, float]:
    """Seconds until something is seen, and CPU seconds of the page until then."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    before = renderers(used)
    page = context.new_page()
    page.goto(file.as_uri(), wait_until="commit")
    seconds = page.wait_for_function(DRAWN if file.name.startswith("live") else SEEN).json_value() / 1000
    cpu = sum(spent - before.get(number, 0.0) for number, spent in renderers(used).items())
    context.close()
    return seconds, cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, help="a site that is there already")
    given: Path | None = parser.parse_args().out
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        out = given or Path(folder)
        if given is None:
            seconds, cpu = written(out)
            print(f"written in {seconds:.0f} s, {cpu:.0f} CPU s")
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        print(f"{'':16} {'MB':>6} {'opened, s':>10} {'least':>6} {'CPU s':>6}")
        files = sorted(out.glob("*.html"))
        for file in files:
            seen = [opened(browser, file) for _ in range(OPENED)]
            seconds, cpu = (statistics.median(values) for values in zip(*seen, strict=True))
            size, least = file.stat().st_size / 1e6, min(one for one, _ in seen)
            print(f"{file.name:16} {size:6.2f} {seconds:10.2f} {least:6.2f} {cpu:6.2f}", flush=True)
        browser.close()
    print(f"{len(files)} pages; load of the machine {psutil.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
