"""The two ways to use a control: with a mouse, and with a keyboard alone."""

from __future__ import annotations

from playwright.sync_api import ElementHandle, Error, FilePayload, FloatRect, Page

from dprl.simulation.uploads.model import example
from tests.browser.controls import CannotUse

PATIENCE = 15_000  # ms until something opens on a busy machine
SOON = 3000  # ms until what opens not at every press does
# How often Tab is pressed from one control to the next, and all around the page, and an arrow within a control, and
# within a menu, which may have an entry a seed.
TABS, ROUND, ARROWS, ENTRIES = 4, 100, 40, 110
OWNER = "[data-testid=stDataFrame], [data-testid=stCode], [data-testid=stSidebarHeader]"  # shows its tools to a mouse
MEANING = ".dprl-meaning"
COLUMN_MENU = "[data-testid=stDataFrameColumnMenu]"
FULL = ("You can only select up to", "No results")  # where the entries were
MODEL = b"""{"name": "two rooms", "P": [[[0.9, 0.1], [0.2, 0.8]], [[0.1, 0.9], [0.7, 0.3]]],
 "R": [[0.1, 0.0], [1.0, 0.2]], "d1": [1.0, 0.0]}"""


def part(at: ElementHandle, script: str) -> ElementHandle:
    """The element that `script`, a function of `at`, finds."""
    found = at.evaluate_handle(script).as_element()
    if found is None:
        raise CannotUse(f"nothing is there of {script}")
    return found


def box_of(at: ElementHandle) -> FloatRect:
    box = at.bounding_box()
    if box is None:
        raise CannotUse("it is not seen")
    return box


def middle(at: ElementHandle) -> tuple[float, float]:
    box = box_of(at)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


class Hand:
    """Uses a control as a visitor would; a kind of control without a method of its own is pressed."""

    name: str

    def __init__(self, page: Page) -> None:
        self.page = page

    def use(self, kind: str, at: ElementHandle) -> None:
        """Use a control that is no menu."""
        getattr(self, kind.replace(" ", "_"), self.press)(at)

    def press(self, at: ElementHandle) -> None:
        raise NotImplementedError

    def go_to(self, at: ElementHandle) -> None:
        """Point at it, or give it the focus."""
        raise NotImplementedError

    def open(self, at: ElementHandle) -> list[str]:
        """Open a menu; returns its entries: none where it says that no more can be chosen."""
        self.open_menu(at)
        box = self.awaited("[role=listbox]", at)
        entries: list[str] = box.evaluate(
            "box => [...box.querySelectorAll('[role=option]')].map(entry => entry.textContent.trim())"
        )
        return [entry for entry in entries if not entry.startswith(FULL)]

    def awaited(self, what: str, at: ElementHandle) -> ElementHandle:
        """What using `at` opens, when it is there; nothing opens when another has come into the place of `at`."""
        try:
            self.page.wait_for_function(
                "([what, at]) => !at.isConnected || dprlTest.seen(what)", arg=[what, at], timeout=PATIENCE
            )
        except Error as error:
            had = at.evaluate("e => dprlTest.active() === e") and "it has the focus"
            off = at.evaluate("e => e.disabled") and "it cannot be used"
            raise CannotUse(f"{what} does not open ({off or had or 'it has not the focus'})") from error
        found = self.page.evaluate_handle("what => dprlTest.seen(what)", what).as_element()
        if found is None:
            raise CannotUse("another is in its place")
        return found

    def open_menu(self, at: ElementHandle) -> None:
        raise NotImplementedError

    def choose(self, entry: str) -> None:
        """Choose an entry of the menu that is open."""
        raise NotImplementedError

    def help(self, at: ElementHandle) -> None:
        self.go_to(at)
        self.awaited("[role=tooltip]", at)

    def upload(self, at: ElementHandle) -> None:
        with self.page.expect_file_chooser(timeout=PATIENCE) as chooser:
            self.press(at)
        asked = self.page.evaluate("dprlTest.talk.asked")
        if "csv" in (chooser.value.element.get_attribute("accept") or ""):
            file = FilePayload(name="people.csv", mimeType="text/csv", buffer=example().encode())
        else:
            file = FilePayload(name="two rooms.json", mimeType="application/json", buffer=MODEL)
        chooser.value.set_files(file)
        self.page.wait_for_function("asked => dprlTest.talk.asked > asked", arg=asked, timeout=PATIENCE)

    def outside_link(self, at: ElementHandle) -> None:
        with self.page.expect_popup(timeout=PATIENCE) as other:
            self.press(at)
        other.value.close()

    def text(self, at: ElementHandle) -> None:
        value = at.input_value()
        if not value and at.evaluate("field => field.type === 'number' || field.inputMode === 'decimal'"):
            value = "1"
        self.write(at, another(value))
        many = at.evaluate("field => field.tagName === 'TEXTAREA'")
        self.page.keyboard.press("ControlOrMeta+Enter" if many else "Enter")

    def write(self, at: ElementHandle, text: str) -> None:
        self.focus(at)
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)

    def focus(self, at: ElementHandle) -> None:
        raise NotImplementedError

    def opens(self, what: str) -> bool:
        """Whether it is there soon."""
        try:
            self.page.wait_for_selector(what, timeout=SOON)
        except Error:
            return False
        return True

    def cell(self) -> None:
        """Write into the cell that was opened, where it can be written into."""
        self.page.evaluate("dprlTest.drawn()")
        if self.page.evaluate("dprlTest.active().matches('input:not([readonly]), textarea:not([readonly])')"):
            self.page.keyboard.insert_text("0.5")
            self.page.keyboard.press("Enter")
        else:
            self.page.keyboard.press("Escape")


class Mouse(Hand):
    """Presses, points and drags."""

    name = "by mouse"

    def spot(self, at: ElementHandle) -> tuple[float, float]:
        """Where to press it."""
        if self.page.query_selector(f"{MEANING}:not([hidden])"):  # of a word on which the mouse was left
            self.page.mouse.move(0, 0)
            self.page.wait_for_selector(MEANING, state="hidden", timeout=PATIENCE)
        where = at.evaluate("e => dprlTest.spot(e)")
        if isinstance(where, str):
            raise CannotUse(where)
        return where[0], where[1]

    def go_to(self, at: ElementHandle) -> None:
        self.page.mouse.move(*self.spot(at))

    def press(self, at: ElementHandle) -> None:
        if owner := at.evaluate_handle(f"e => e.closest('{OWNER}')").as_element():
            at.evaluate("e => dprlTest.bring(e)")
            self.page.mouse.move(*self.spot(owner))
        self.page.mouse.click(*self.spot(at))

    open_menu = focus = press

    def choose(self, entry: str) -> None:
        options = self.page.query_selector_all("[role=option]")
        named = [option for option in options if (option.text_content() or "").strip() == entry]
        if not named:
            raise CannotUse(f"the entry '{entry}' is gone")
        self.press(named[0])

    def switch(self, at: ElementHandle) -> None:
        self.press(part(at, "e => e.closest('label') ?? e"))

    choice = switch  # of which some are buttons

    def tag(self, at: ElementHandle) -> None:
        self.press(part(at, "e => e.querySelector('button')"))

    def slider(self, at: ElementHandle) -> None:
        """Press its track where it is not: not half way between the stops of one with three."""
        track = part(at, "e => e.closest('[role=group]')?.querySelector('div') ?? e")
        self.spot(track)
        box = box_of(track)
        left = at.evaluate("e => (e.value - e.min) / (e.max - e.min) < 0.5")
        self.page.mouse.click(box["x"] + (0.8 if left else 0.2) * box["width"], box["y"] + box["height"] / 2)

    def chart(self, at: ElementHandle) -> None:
        """Point at it, press it twice, press a line of its legend and one of its points, pull a frame over it."""
        x, y = self.spot(at)
        mouse = self.page.mouse
        mouse.move(x, y)
        mouse.dblclick(x, y)
        for part in ("[class^=legend][class$=toggle]", ".scatterlayer .points path"):
            if found := at.query_selector(part):
                mouse.click(*middle(found))
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + 60, y + 40, steps=3)
        mouse.up()

    def table(self, at: ElementHandle) -> None:
        """Press a heading, open a cell, and open the last column's menu, which an empty table does not have."""
        self.spot(part(at, "e => e.closest('[data-testid=stDataFrameResizable]')"))
        box = box_of(at)
        mouse = self.page.mouse
        mouse.click(box["x"] + 30, box["y"] + 18)
        mouse.dblclick(box["x"] + 0.7 * box["width"], box["y"] + 50)
        self.cell()
        if not at.evaluate(
            "e => e.closest('[data-testid=stDataFrame]').querySelector('[aria-label=Search]')"
        ):
            return
        mouse.wheel(10_000, 0)  # to the last column
        self.page.evaluate("dprlTest.drawn()")
        for _ in "123":  # the first press may only close the cell
            mouse.click(box["x"] + box["width"] - 16, box["y"] + 18)
            if self.opens(COLUMN_MENU):
                # Its first entry alone: the others are Streamlit's own as well, and act in the browser alone.
                self.press(part(at, f"() => document.querySelector('{COLUMN_MENU} [role=menuitem]')"))
                return
        raise CannotUse("the menu of a column does not open")


class Keyboard(Hand):
    """Goes from control to control with Tab, and uses them with Enter, Space and arrows."""

    name = "by keyboard"

    def go_to(self, at: ElementHandle) -> None:
        """With Tab from where the focus is, else from the control before it; within a group with arrows."""
        if not self.tab_to(at, TABS):
            at.evaluate("e => dprlTest.before(e)?.focus()")
            if not self.tab_to(at, ROUND):
                raise CannotUse("Tab does not reach it")
        in_menu = at.evaluate("e => e.matches('[role=menu] *')")
        for key in ("ArrowDown", "ArrowUp") if in_menu else ("ArrowRight", "ArrowLeft"):
            for _ in range(ARROWS):
                if self.focus_is(at) == "there":
                    return
                self.page.keyboard.press(key)
        raise CannotUse("arrows do not reach it")

    focus = go_to

    def tab_to(self, at: ElementHandle, most: int) -> bool:
        for _ in range(most):
            if self.focus_is(at) != "elsewhere":
                return True
            self.page.keyboard.press("Tab")
        return self.focus_is(at) != "elsewhere"

    def focus_is(self, at: ElementHandle) -> str:
        return str(at.evaluate("e => dprlTest.focus(e)"))

    def press(self, at: ElementHandle) -> None:
        self.go_to(at)
        self.page.keyboard.press("Enter")

    tab = press  # to come to one chooses it, but not where the focus has been left on it

    def open_menu(self, at: ElementHandle) -> None:
        self.go_to(at)
        self.page.keyboard.press("ArrowDown")

    def choose(self, entry: str) -> None:
        for key in ("ArrowDown", "ArrowUp"):
            for _ in range(ENTRIES):
                now = self.page.evaluate(
                    "document.getElementById(dprlTest.active().getAttribute('aria-activedescendant'))?.textContent.trim()"
                )
                if now == entry:
                    self.page.keyboard.press("Enter")
                    return
                self.page.keyboard.press(key)
        raise CannotUse(f"arrows do not reach the entry '{entry}'")

    def switch(self, at: ElementHandle) -> None:
        self.go_to(at)
        self.page.keyboard.press("Space")

    choice = switch

    def tag(self, at: ElementHandle) -> None:
        self.go_to(at)
        self.page.keyboard.press("Delete")

    def slider(self, at: ElementHandle) -> None:
        self.go_to(at)
        self.page.keyboard.press("ArrowLeft" if at.evaluate("e => e.value === e.max") else "ArrowRight")

    def table(self, at: ElementHandle) -> None:
        self.go_to(at)
        for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "Enter"):
            self.page.keyboard.press(key)
        self.cell()


def another(text: str) -> str:
    """Something else of the same sort as what stands in a field."""
    *most, last = text.split(",")
    if most:
        return ",".join(most)
    try:
        value = float(last)
    except ValueError:
        *lines, end = text.split("\n")
        return "\n".join(lines) if lines else f"{end}x"
    return f"{value + 1:.0f}" if value.is_integer() else f"{value / 2:g}"
