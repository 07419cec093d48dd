"""A walk through the app: every control of a page is used once, and after each use one looks whether all is well."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Download, ElementHandle, Error, Page

from tests.browser.controls import BY_KEYBOARD_ONLY, BY_MOUSE_ONLY, CannotUse, Control, controls, element
from tests.browser.hands import Hand, Mouse

LIMIT = 15_000  # ms for a page to come to rest
DOWNLOAD = 5.0  # seconds until a download begins
MOST = 800  # uses
RETURNS = 3  # how often a control is used again, or a page opened again, to bring back what is gone
# These take away what stands beside them, or lead elsewhere: last, they cost no way back.
LATE = re.compile("Cancel|Remove|Reset|Clear|Close|Use it|Show this|Collapse|a curve")
# Used twice, so that the page is as before.
BACK = {"Fullscreen": "Close fullscreen", "Search": "Close Search"}
# Using one of these shows in the browser alone, or nowhere (a picture that is whole is not made smaller).
SILENT = ("help", "chart", "table", "tool", "skip link", "menu", "menu entry", "download", "outside link")

Use = tuple[Control, str]  # a control, and the entry where it is a menu


def turn(control: Control) -> int:
    """What is used first: what is on the page, then what turns it to something else, last what leads away."""
    if control.kind == "link":
        return 5
    if LATE.search(control.name):
        return 4
    if control.place.startswith(("sidebar", "header")):
        return 3
    return {"choice": 1, "menu": 1, "tab": 2}.get(control.kind, 0)


class Walk:
    """Uses everything on the pages it is led over. `used` and `faults` say what was used, and what went wrong."""

    def __init__(self, page: Page, hand: Hand, problems: list[str], log: Callable[[], str]) -> None:
        self.page, self.hand, self.problems, self.log = page, hand, problems, log
        self.open: Callable[[], object] = page.reload
        self.used: dict[Control, float] = {}  # and the seconds it took
        self.entries: dict[Control, set[str]] = {}  # that were chosen of a menu
        self.faults: dict[str, str] = {}
        self._shown: dict[Control, Use | None] = {}  # every control met, and the use that brought it first
        self._offered: dict[Control, set[str]] = {}
        self._returns: Counter[Control | None] = Counter()
        self._downloads: list[Download] = []
        self._read = len(log())
        page.on("download", lambda file: self._downloads.append(file))

    def over(self, arrive: Callable[[], object]) -> None:
        """Use all controls of the page that `arrive` opens, and all that their use brings."""
        self.open = arrive
        self.arrive()
        met: set[Control] = set()
        self._returns.clear()
        last: Use | None = None
        place = -1
        while len(self.used) < MOST:
            now = [control for control in self.look() if not control.off]
            for control in now:
                self._shown.setdefault(control, last)
            met.update(now)
            todo = [control for control in now if self.lacks(control)]
            if todo:
                control = min(todo, key=lambda one: (turn(one), one.index <= place, one.index))
                place = control.index
                last = control, self.attempt(control)
            elif now and now[0].layers:
                self.leave(now[0].layers)
            elif not self.bring_back([control for control in met if self.lacks(control)], now):
                break
        for control in met:
            if self.lacks(control):
                self.faults[str(control)] = "was there once, and could not be brought back"

    def arrive(self) -> None:
        self.open()
        self.rest()

    def lacks(self, control: Control) -> bool:
        """Whether it was not used yet, or not all that its menu offers."""
        if control.kind in (BY_KEYBOARD_ONLY if isinstance(self.hand, Mouse) else BY_MOUSE_ONLY):
            return False
        return control not in self.used or bool(self._offered.get(control))

    def bring_back(self, lost: list[Control], now: list[Control]) -> bool:
        """Do again what brought a control that is gone; False when there is none, or it was tried often enough."""
        for control in lost:
            use: Use | None = self._shown[control]
            while use is not None and use[0] not in now:
                use = self._shown[use[0]]
            if self._returns[control] < RETURNS:
                self._returns[control] += 1
                if use is None:
                    self.arrive()
                elif use[1]:
                    self._offered[use[0]].add(use[1])
                else:
                    del self.used[use[0]]
                return True
        return False

    # --- one use ---

    def attempt(self, control: Control) -> str:
        """Use a control, and write down what is wrong; returns the entry that was chosen of a menu."""
        entry, begin = "", time.monotonic()
        try:
            entry = self.use(control)
            self.well()
        except (CannotUse, Error) as error:
            self.faults[f"{control} {entry}".strip()] = str(error)
            self._offered.pop(control, None)
            self.recover()
        self.used[control] = self.used.get(control, 0) + time.monotonic() - begin
        return entry

    def use(self, control: Control) -> str:
        page, at = self.page, element(self.page, control)
        before, path, downloads = self.state(at), urlsplit(page.url).path, len(self._downloads)
        if control.kind == "menu":
            return self.choose(control, at)
        self.hand.use(control.kind, at)
        if control.kind == "download":
            self.saved(downloads)
        self.rest()
        for other in page.context.pages[1:]:
            other.close()
        if (
            control.kind not in SILENT
            and control.place != "a table's menu"
            and self.state(at) == before
            and not ('"true"' in before and control.kind in ("tab", "choice"))  # it is chosen
        ):
            raise CannotUse("nothing happens")
        if control.name in BACK:
            self.undo(BACK[control.name])
        elif control.kind == "switch" and control.place != "a table's menu":
            self.hand.use(control.kind, at)
            self.rest()
        if urlsplit(page.url).path != path:
            self.well()
            page.go_back()
            self.rest()
        return ""

    def state(self, at: ElementHandle) -> str:
        """Everything that using it may change."""
        try:
            return str(at.evaluate("e => dprlTest.state(e)"))
        except Error:
            return "gone"

    def choose(self, control: Control, at: ElementHandle) -> str:
        """Choose an entry that was not chosen yet."""
        entries = self.hand.open(at)
        chosen = self.entries.setdefault(control, set())
        fresh = [entry for entry in entries if entry not in chosen]
        again = [entry for entry in entries if entry in self._offered.get(control, ())]
        value = at.input_value()
        entry = next((entry for entry in fresh if entry != value), (fresh or again or entries)[0])
        self.hand.choose(entry)
        self.rest()
        chosen.add(entry)
        self._offered[control] = {*fresh, *again} - {entry}
        return entry

    def saved(self, before: int) -> None:
        end = time.monotonic() + DOWNLOAD
        while len(self._downloads) == before:
            if time.monotonic() > end:
                raise CannotUse("nothing is downloaded")
            self.page.wait_for_timeout(10)
        if not Path(self._downloads[-1].path()).stat().st_size:
            raise CannotUse("the file is empty")

    def undo(self, name: str) -> None:
        back = next((control for control in self.look() if control.name == name), None)
        if back is None:
            raise CannotUse(f"there is no '{name}' then")
        self.used[back] = 0.0
        self._shown.setdefault(back, None)
        self.hand.press(element(self.page, back))
        self.rest()

    # --- around it ---

    def look(self) -> list[Control]:
        try:
            return controls(self.page)
        except CannotUse as error:
            self.faults[str(error)] = "a widget this test does not know"
            raise

    def rest(self) -> None:
        if not self.page.evaluate("limit => dprlTest.rest(limit)", LIMIT):
            raise CannotUse("the page does not come to rest")

    def well(self) -> None:
        """Raises CannotUse with all that went wrong since the last time."""
        new = self.log()[self._read :]
        self._read += len(new)
        wrong = [*self.problems, *self.page.evaluate("dprlTest.trouble()")]
        self.problems.clear()
        if "Traceback (most recent call last)" in new:
            wrong.append(f"in the log: {new}")
        if wrong:
            raise CannotUse("; ".join(wrong))

    def recover(self) -> None:
        """Close what may have been left open."""
        self.page.keyboard.press("Escape")
        try:
            self.rest()
        except (CannotUse, Error):
            self.arrive()

    def leave(self, layers: int) -> None:
        """Close what lies over the page, in which everything was used."""
        if isinstance(self.hand, Mouse):
            self.page.mouse.click(self.page.evaluate("innerWidth") - 8, 70)
        else:
            self.page.keyboard.press("Escape")
        self.rest()
        if (now := self.look()) and now[0].layers >= layers:
            self.faults[f"{now[0].page}, {now[0].place}"] = "does not close"
            self.page.keyboard.press("Escape")
            self.rest()
