"""A real browser on the real app, started as `make run` starts it.

Fixtures for tests:
    app      the running app: .url, .home (its DPRL_HOME), .log()
    visit    visit(path, width, scheme) -> Page, loaded and idle; the test fails at its end if anything
             went wrong (error on the page or in the console, traceback, failed request, outside address)
    screen   (width, scheme): a test that asks for it runs at 1280 pixels by night, and thoroughly at 390 by day
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Request,
    Response,
    expect,
    sync_playwright,
)

from tests.browser.server import END_LIMIT, ROOT, App, serve_command, start

IDLE_LIMIT = 30.0  # seconds for a page to come to rest
expect.set_options(timeout=1000 * IDLE_LIMIT)  # the machine may be busy; what never comes still fails
# Each width and each scheme once: colours move nothing, so a pair shows no more. Most other tests are 1280 by day.
DESK, PHONE = (1280, "dark"), (390, "light")

# No background traffic, and no sandbox only where Chromium refuses one (as root).
CHROMIUM_FLAGS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # links out of the app lead nowhere
    "--no-first-run",
    "--process-per-site",  # see windows()
    *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
]

LOOKUPS = ("_stcore/health", "_stcore/host-config")

# Of a page that redraws itself, when it is left between its timer and its answer. A press that is lost changes nothing
# on the page, which is a fault by itself.
LEFT = "Cannot send rerun backMessage when disconnected from server"


def chromium() -> str | None:
    """Path of the browser to drive; None means Playwright's own."""
    return os.environ.get("DPRL_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


# Not session scope: while Playwright runs, this thread has an event loop, which other tests must not meet.
@pytest.fixture(scope="package")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    running = start(serve_command, ROOT, tmp_path_factory.mktemp("home"))
    yield running
    left = running.end()
    assert left == [], f"still running {END_LIMIT:.0f} s after Ctrl-C: {left}"


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            running = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        except Error as error:
            pytest.fail(
                "No browser to test with: `make test` installs one; or install Chromium, or name one with "
                f"DPRL_CHROMIUM=/path/to/chromium. Playwright said: {error.message.splitlines()[0]}",
                pytrace=False,
            )
        yield running
        running.close()


def shared(browser: Browser, *scripts: str) -> BrowserContext:
    """Where windows are opened, in one process of the browser, so that each costs half. scripts: run first."""
    context = browser.new_context(reduced_motion="reduce")
    blank = context.new_page()
    blank.route("**/*", lambda route: route.fulfill(body=""))
    blank.goto("http://127.0.0.1/")
    for script in (*scripts, (Path(__file__).parent / "page.js").read_text(encoding="utf-8")):
        context.add_init_script(script)
    return context


@pytest.fixture(scope="package")
def windows(browser: Browser) -> Iterator[BrowserContext]:
    """Where all windows are opened, but those of whom a test gives another storage."""
    context = shared(browser)
    yield context
    context.close()


@pytest.fixture(
    params=[
        pytest.param(DESK, id="1280-dark"),
        pytest.param(PHONE, id="390-light", marks=pytest.mark.thorough),
    ]
)
def screen(request: pytest.FixtureRequest) -> tuple[int, str]:
    width_and_scheme: tuple[int, str] = request.param
    return width_and_scheme


def idle(page: Page, limit: float = IDLE_LIMIT) -> None:
    """Wait until the page is at rest, as page.js sees it: all is answered, drawn, and has stood still for a moment."""
    if not page.evaluate("limit => dprlTest.rest(limit)", 1000 * limit):
        pytest.fail(f"{page.url} did not come to rest within {limit:.0f} s")


def looked_up(url: str, status: int) -> bool:
    """Whether this is Streamlit looking for its server: on a page below the root it first tries below that page."""
    path = urlsplit(url).path
    return status == 404 and path.count("/") > 2 and path.split("/", 2)[2] in LOOKUPS


class Visits:
    """Opens pages of one app and remembers everything that went wrong on them."""

    def __init__(self, windows: BrowserContext, app: App) -> None:
        self.windows = windows
        self.app = app
        self.problems: list[str] = []
        self._log_before = len(app.log())

    def __call__(self, path: str = "", width: int = 1280, scheme: str = "light") -> Page:
        """A page in a browser window of its own (so a session of its own), loaded and idle."""
        page = self.window(width, scheme)
        page.goto(f"{self.app.url}/{path.lstrip('/')}")
        idle(page)
        return page

    def window(self, width: int = 1280, scheme: str = "light") -> Page:
        """A browser window of its own, empty."""
        page = self.windows.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.on("pageerror", lambda error: self.problems.append(f"script error: {error.stack or error}"))
        page.on("console", self._check_console)
        page.on("request", self._check_request)
        page.on("response", self._check_response)
        return page

    def _check_console(self, message: ConsoleMessage) -> None:
        looked = "status of 404" in message.text and looked_up(message.location.get("url", ""), 404)
        if message.type == "error" and not looked and LEFT not in message.text:
            self.problems.append(f"console: {message.text}")

    def _check_request(self, request: Request) -> None:
        if not request.url.startswith((self.app.url, "data:", "blob:")):
            self.problems.append(f"asks for an outside address: {request.url}")

    def _check_response(self, response: Response) -> None:
        if response.status >= 400 and not looked_up(response.url, response.status):
            self.problems.append(f"{response.status} for {response.url}")

    def end(self) -> list[str]:
        """Close all windows and forget what they stored; returns one sentence for every problem met."""
        blank, *pages = self.windows.pages
        for page in pages:
            for box in page.get_by_test_id("stException").all():
                self.problems.append(f"error shown on {page.url}: {box.inner_text()}")
            page.close()
        storage = {"origin": self.app.url, "storageTypes": "all"}  # the cache of what was read is none of it
        self.windows.new_cdp_session(blank).send("Storage.clearDataForOrigin", storage)
        self.windows.clear_cookies()
        self.windows.clear_permissions()
        log = self.app.log()[self._log_before :]
        if "Traceback (most recent call last)" in log:
            self.problems.append(f"traceback in the app's log:\n{log}")
        return self.problems


@pytest.fixture
def visit(windows: BrowserContext, app: App) -> Iterator[Visits]:
    visits = Visits(windows, app)
    yield visits
    assert visits.end() == []
