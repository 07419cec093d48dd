"""A walk through the app: every control of a page is used once, and after each use one looks whether all is well."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from playwright.sync_api import Download, ElementHandle, Error, Page

from tests.browser.controls import (
    ALIKE,
    ALL_COLUMNS,
    BACK,
    BY_KEYBOARD_ONLY,
    BY_MOUSE_ONLY,
    MISSED,
    SCROLLING,
    SILENT,
    CannotUse,
    Control,
    controls,
    element,
    turn,
)
from tests.browser.hands import Hand, Mouse

LIMIT = 15_000  # ms for a page to come to rest
DOWNLOAD = 15.0  # seconds until a download begins
WAIT = 20_000  # ms for the workers to answer what the page says it waits for
TURNS = ("choice", "tab", "link")  # turn a page to something else
MOST = 800  # uses
TRIES = 3  # to use a control
OFTEN = 20  # to use one that is replaced by another just like it while the hand moves there
RETURNS = 3  # how often a control is used, or a page opened, again, to bring back what is gone
T = TypeVar("T")
Use = tuple[Control, str]  # a control, and the entry where it is a menu


class Gone(CannotUse):
    """A control could be used when the page was looked at, and not any more when it was to be."""


class Replaced(CannotUse):
    """What redraws itself has put another element into the place of a control while it was used."""


class Walk:
    """Uses everything on the pages it is led over. `used` and `faults` say what was used, and what went wrong."""

    def __init__(self, page: Page, hand: Hand, problems: list[str], log: Callable[[], str]) -> None:
        self.page, self.hand, self.problems, self.log = page, hand, problems, log
        self.everywhere = True  # whether to use what is the same on all pages, too
        self.brief: Container[str] = ()  # names of menus of which one entry is enough
        self.late: Container[str] = ()  # names of what leads to other runs
        self.open: Callable[[], object] = page.reload
        self.used: dict[Control, float] = {}  # and the seconds it took
        self.entries: dict[Control, set[str]] = {}  # that were chosen of a menu
        self.faults: dict[str, str] = {}
        self._shown: dict[Control, Use | None] = {}  # every control met, and the use that brought it first
        self._set: dict[Control, str] = {}  # what was chosen of menus since the page was opened
        self._amid: dict[Control, dict[Control, str]] = {}  # that, when a control was met first
        self._offered: dict[Control, set[str]] = {}
        self._returns: Counter[Control | None] = Counter()
        self._gone: Counter[Control] = Counter()  # how often it was, when it was to be used
        self._vain: list[str] = []  # sentences about what is still to come, and did not
        self._ever: set[Control] = set()  # used, even if to be used again
        self._uses, self._arrived = 0, -1  # how many there were, and when the page was opened again
        self._downloads: list[Download] = []
        self._windows = page.context.pages  # what is opened later is closed again
        self._read = len(log())
        page.on("download", lambda file: self._downloads.append(file))

    def over(self, arrive: Callable[[], object]) -> None:
        """Use all controls of the page that `arrive` opens, and all that their use brings."""
        self.open = arrive
        self.arrive()
        met: set[Control] = set()
        seen: set[Control] = set()
        self._returns.clear()
        last: Use | None = None
        place, strange, path = -1, 0, urlsplit(self.page.url).path
        while len(self.used) < MOST:
            if urlsplit(self.page.url).path != path:  # it led elsewhere
                self.rest()
                self.well()
                self.page.go_back()
                self.rest()
            try:
                now = [control for control in self.look() if not control.off]
            except CannotUse:
                strange += 1
                if strange == TRIES:
                    break
                self.recover()
                continue
            for control in now:
                if control not in self._shown:
                    self._shown[control], self._amid[control] = last, self._set.copy()
            # A page that is drawn anew shows old and new side by side for a moment: what stays for two looks counts.
            met.update(control for control in now if control.layers or control in seen)
            seen = set(now)
            todo = [control for control in now if self.lacks(control)]
            if todo:
                # Of those whose turn it is first what the last use has brought, which the next may take away.
                control = min(
                    todo,
                    key=lambda one: (
                        turn(one, self.late), last is None or self._shown[one] != last, one.index <= place, one.index
                    ),
                )  # fmt: skip
                place = control.index
                last = control, self.attempt(control)
                if control.kind in TURNS:
                    self.wait()
            elif now and now[0].layers:
                self.leave(now[0].layers)
            elif not self.bring_back([*self.lost(met), *self.missed(met)], now):
                break
        for control in self.lost(met):
            self.faults[str(control)] = "was there once, and could not be brought back"

    def lost(self, met: set[Control]) -> list[Control]:
        """What is still to be used, not only to bring back another. Of two alike the second may have been the old one
        beside the new: it is left."""
        return [
            control
            for control in met
            if control.nth == 1
            and self.lacks(control)
            and not (
                control in self._ever
                and self._offered.get(control, set()) <= self.entries.get(control, set())
            )
        ]

    def missed(self, met: set[Control]) -> list[Control]:
        """What was gone as it was to be used: on a busy machine its press may have worked all the same, and what that
        brought lie where the walk has closed it again."""
        return [
            control for control in met if control.nth == 1 and self._gone[control] and self.lacks(control)
        ]

    @property
    def kinds_and_names(self) -> set[tuple[str, str]]:
        """Of all that was used."""
        return {(control.kind, control.name) for control in {*self.used, *self._ever}}

    def arrive(self) -> None:
        self._set.clear()
        self.open()
        self.rest()
        self.wait()

    def lacks(self, control: Control) -> bool:
        """Whether it was not used yet, or not all that its menu offers."""
        if control.kind in (BY_KEYBOARD_ONLY if isinstance(self.hand, Mouse) else BY_MOUSE_ONLY):
            return False
        if not (control.page or self.everywhere):
            return False
        if control.kind in ALIKE and ALIKE[control.kind] in control.place:
            return not any(
                (one.page, one.kind, one.place) == (control.page, control.kind, control.place)
                for one in self.used
            )
        return control not in self.used or bool(self._offered.get(control))

    def bring_back(self, lost: list[Control], now: list[Control]) -> bool:
        """Do again what brought a control that is gone; False when there is none, or it was tried often enough.

        What turned the page to something else may have turned it from there, so that from a second try on the page is
        opened again first.
        """
        for control in lost:
            if self._returns[control] == RETURNS:
                continue
            self._returns[control] += 1
            use = self._shown[control]
            while use is not None:
                if use[1]:
                    self._offered.setdefault(use[0], set()).add(use[1])
                else:
                    self.used.pop(use[0], None)
                if use[0] in now and self._returns[control] == 1:
                    return True
                use = self._shown[use[0]]
            if self._uses > self._arrived:  # else, opened again, it brought nothing
                self._arrived = self._uses
                for menu, entry in self._amid.get(control, {}).items():
                    self._offered.setdefault(menu, set()).add(entry)
                # The sidebar's folds are closed then, and what is lost may lie in one.
                for one in [one for one in self.used if one.kind == "expander" and "sidebar" in one.place]:
                    del self.used[one]
                self.arrive()
                return True
        return False

    # --- one use ---

    def attempt(self, control: Control) -> str:
        """Use a control, and write down what is wrong; returns the entry that was chosen of a menu."""
        entry, begin = "", time.monotonic()
        self._uses += 1
        if control not in self._ever:
            self._ever.add(control)
            self._returns.clear()  # it led on
        try:
            entry = self.insist(control)
            self.well()
        except Gone as error:
            self._gone[control] += 1
            if self._gone[control] < TRIES:
                return entry  # used when it is there again, or brought back
            if control.nth == 1:  # the second of two alike may have been the old one beside the new
                self.faults[str(control)] = str(error)
        except (CannotUse, Error) as error:
            self.faults[f"{control} {entry}".strip()] = str(error)
            self._offered.pop(control, None)
            self.recover()
        self.used[control] = self.used.get(control, 0) + time.monotonic() - begin
        return entry

    def insist(self, control: Control) -> str:
        """Use it, as often as TRIES, or as OFTEN as another was put into its place between two moves."""
        replaced = tries = 0
        while True:
            try:
                return self.use(control)
            except (CannotUse, Error) as error:
                replaced += isinstance(error, Replaced)
                tries += not isinstance(error, Replaced)
                self.well()
                self.rest()
                self.shut()
                if (now := self.look()) and now[0].layers > control.layers:
                    self.leave(now[0].layers)
                again = self.find(control)
                if again is None or again.off:
                    raise Gone(str(error)) from error
                if tries == TRIES or replaced == OFTEN:
                    raise
                control = again

    def use(self, control: Control) -> str:
        page, at = self.page, element(self.page, control)
        before, downloads = self.state(at), len(self._downloads)
        if control.kind == "menu":
            return self.choose(control, at)
        goal = at.evaluate("e => new URL(e.href).pathname") if control.kind == "link" else ""
        self.move(at, lambda: self.hand.use(control.kind, at))
        if goal:
            page.wait_for_function("goal => location.pathname === goal", arg=goal, timeout=LIMIT)
        if control.kind == "download":
            self.saved(downloads)
        self.rest()
        self.shut()
        for other in page.context.pages:
            if other not in self._windows:
                other.close()
        if (
            control.kind not in SILENT
            and control.place != "a table's menu"
            and not (control.name in SCROLLING and page.locator(".story").count())
            and self.state(at) == before
            and not ('"true"' in before and control.kind in ("tab", "choice"))  # it is chosen
        ):
            raise CannotUse("nothing happens")
        if control.name in BACK:
            self.undo(BACK[control.name])
        elif control.kind == "switch" and control.name != ALL_COLUMNS:
            if (back := self.find(control)) is None:
                raise CannotUse("it is gone when it was used")
            self.hand.use(control.kind, element(self.page, back))
            self.rest()
        return ""

    def move(self, at: ElementHandle, hand: Callable[[], T]) -> T:
        """What `hand` does with `at`. Raises Replaced where that failed because `at` is on the page no more."""
        try:
            return hand()
        except (CannotUse, Error) as error:
            if at.evaluate("e => e.isConnected"):
                raise
            raise Replaced(str(error)) from error

    def find(self, control: Control) -> Control | None:
        """The same control on the page as it is now."""
        return next((one for one in self.look() if one == control), None)

    def state(self, at: ElementHandle) -> str:
        """Everything that using it may change."""
        try:
            return str(at.evaluate("e => dprlTest.state(e)"))
        except Error:
            return "gone"

    def choose(self, control: Control, at: ElementHandle) -> str:
        """Choose an entry that was not chosen yet."""
        entries = self.move(at, lambda: self.hand.open(at))
        if not entries:
            self._offered.pop(control, None)
            self.page.keyboard.press("Escape")
            self.rest()
            return ""
        chosen = self.entries.setdefault(control, set())
        fresh = [entry for entry in entries if entry not in chosen]
        again = [entry for entry in entries if entry in self._offered.get(control, ())]
        value = at.input_value()
        entry = next((entry for entry in fresh if entry != value), (fresh or again or entries)[0])
        self.hand.choose(entry)
        self.rest()
        self.shut()
        chosen.add(entry)
        self._set[control] = entry
        self._offered[control] = set() if control.name in self.brief else {*fresh, *again} - {entry}
        return entry

    def shut(self) -> None:
        """Close a list of entries that has stayed open, because several may be chosen."""
        if self.page.query_selector("[role=listbox]"):
            self.page.keyboard.press("Escape")
            self.rest()

    def saved(self, before: int) -> None:
        end = time.monotonic() + DOWNLOAD
        while len(self._downloads) == before:
            if time.monotonic() > end:
                raise CannotUse("nothing is downloaded")
            self.page.wait_for_timeout(10)
        if not Path(self._downloads[-1].path()).stat().st_size:
            raise CannotUse("the file is empty")

    def undo(self, name: str) -> None:
        """Press what takes it back, until it has; what redraws itself may miss a press, or bring it a moment later."""
        wrong = f"there is no '{name}' then"
        for _ in range(TRIES):
            back = next((control for control in self.look() if control.name == name), None)
            if back is None and wrong == "":
                return
            if back is not None:
                self.used[back] = 0.0
                self._shown.setdefault(back, None)
                try:
                    self.hand.press(element(self.page, back))
                    wrong = ""
                except (CannotUse, Error) as error:
                    wrong = str(error)
            self.rest()
        if wrong or any(control.name == name for control in self.look()):
            raise CannotUse(wrong or f"'{name}' does not work")

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

    def wait(self) -> None:
        """Until the page has what it asked the workers for, if they say it in time; not twice for what they did not."""
        try:
            self.page.wait_for_function("vain => !dprlTest.waits(vain)", arg=self._vain, timeout=WAIT)
        except Error:
            self._vain += self.page.evaluate("vain => dprlTest.waits(vain) ?? []", self._vain)
            return
        self.rest()

    def well(self) -> None:
        """Raises CannotUse with all that went wrong since the last time."""
        new = self.log()[self._read :]
        self._read += len(new)
        seen = [problem for problem in self.problems if not MISSED.match(problem)]
        wrong = [*seen, *self.page.evaluate("dprlTest.trouble()")]
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
            self.page.mouse.click(*self.page.evaluate("dprlTest.beside()"))
        else:
            self.page.keyboard.press("Escape")
        self.rest()
        if (now := self.look()) and now[0].layers >= layers:
            self.faults[f"{now[0].page}, {now[0].place}"] = "does not close"
            self.arrive()
