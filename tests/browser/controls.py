"""The controls of a page, found as a visitor finds them: by what can be pressed, typed into or moved, not by a list."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, field

from playwright.sync_api import ElementHandle, Page

# Streamlit may leave the empty sidebar of the page before to a page that has none: what folds it is no control.
EMPTY = "[data-testid=stSidebar]:not(:has([data-testid=stElementContainer])) *"
# What each kind of control is; the first that fits. A widget that fits none is an error, so that none is passed over.
KINDS = {
    "tab": "[role=tab]",
    "switch": "input[type=checkbox]",
    "choice": "[role=radio], input[type=radio]",
    "slider": "input[type=range]",
    "menu": "input[role=combobox]",
    "menu entry": "[role=menuitem], [role=menuitemcheckbox], [role=menuitemradio]",
    "tag": "[data-tag]",
    "text": ":is(input[type=text], input[type=number], input:not([type]), textarea):not([data-testid=stDataFrame] *)",
    "upload": "[data-testid=stFileUploaderDropzone] button",
    "expander": "summary",
    "popover": "[data-testid=stPopoverButton]",
    "help": "button[aria-label=Help], button[aria-label^='Help for '], a[href='#term']",
    "download": "[data-testid=stDownloadButton] button, button[aria-label='Download as CSV'], "
    ".modebar-btn[data-title^='Download plot']",
    "tool": ".modebar-btn, [data-testid=stElementToolbar] button",
    "skip link": "[data-testid=stSkipToContent], .dprl-skip",
    "outside link": "a[target=_blank]",
    "link": "a[href]",
    "button": f"button:not([tabindex='-1'], [data-testid=stToast] *, .plotly-notifier *, {EMPTY})",
    "table": "canvas[data-testid=data-grid-canvas]",
    "chart": "[data-testid=stPlotlyChart]",
}
# What belongs to one of them, only scrolls or changes size, or is a notice that goes by itself.
PARTS = (
    "label, main, [role=tabpanel], [data-testid=stCode], button[tabindex='-1'], [data-floating-ui-focus-guard], "
    "[data-testid=stPlotlyChart] *, [data-testid=stDataFrame] *, [data-testid=stFileUploaderDropzone], "
    "[data-testid=stFileUploaderDropzone] input, [data-testid=stSidebarResizeHandle], "
    ":has(> [data-testid=stSidebarResizeHandle]), [data-testid=stToast], [data-testid=stToast] *, .plotly-notifier *, "
    f"{EMPTY}"
)
# A chart is a picture that a mouse points at; its numbers stand below it. A skip link is not there for a mouse.
BY_MOUSE_ONLY, BY_KEYBOARD_ONLY = ("chart",), ("skip link",)
# These take away what stands beside them, or lead elsewhere: last, they cost no way back.
LATE = re.compile("Cancel|Remove|Reset$|Clear|Close|Use it|Use the form|Forget|Open curves|a curve")
LAST = ("Collapse sidebar", "Hide the answer", "Next", "Next lesson")
# After those that lead on, which only some places have: a recap leads back to each of its lesson's questions.
BACKWARDS = re.compile(
    r"Previous|All lessons|All claims|\d\. (Four curves|With a trusted curator|With no trusted party)"
)
# Used twice, so that the page is as before.
BACK = {"Fullscreen": "Close fullscreen", "Search": "Close Search", "Play": "Pause"}
BACK["Collapse sidebar"] = "Expand sidebar"
# Shows all columns of a table; pressed twice it would hide all of them, the shown ones too.
ALL_COLUMNS = "Select all"
# Using one of these shows in the browser alone, or nowhere (a picture that is whole is not made smaller).
SILENT = ("help", "chart", "table", "tool", "skip link", "menu", "menu entry", "download", "outside link")
# Of the story on Home: these scroll, and tests/browser/test_story.py looks where to.
SCROLLING = ("Back", "Next", "Skip to the chart")
# Streamlit puts a new chart into the place of one whose figure has changed, and Plotly then misses the old one where it
# still had something to do for it (follow the mouse, say that a picture was saved). No visitor sees it; it is not ours.
MISSED = re.compile(
    r"script error: TypeError: Cannot read properties of undefined \(reading '(locale|_hoverlayer)'\)\n.*/PlotlyChart\."
)
# Of these, one stands for all in its place: signs that show a text, links out of the app, what is chosen of many, the
# columns of a table in the list that hides them, its number formats, and the fields of one environment or algorithm,
# which one function draws.
ALIKE = {
    "help": "",
    "outside link": "",
    "tag": "",
    "switch": "a table's menu",
    "menu entry": "a table's menu, within",
    "text": "_params",
}
EVERYWHERE = ("header", "a section's menu", "outside link")  # the same on all pages


@dataclass(frozen=True)
class Control:
    """A control of a page. nth: which of those with the same kind, place and name.

    index: which of the page now; layers: how many lie over the page; off: it cannot be used now.
    """

    page: str
    kind: str
    place: str
    name: str
    nth: int = 1
    index: int = field(default=-1, compare=False)
    layers: int = field(default=0, compare=False)
    off: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        which = f" ({self.nth})" if self.nth > 1 else ""
        return f"{self.page or 'every page'}, {self.place}: {self.kind} '{self.name}'{which}"


class CannotUse(Exception):
    """A control is of no known kind, cannot be reached, or does not answer."""


def controls(page: Page) -> list[Control]:
    """What can be used now, in the order of the page; in the uppermost layer, where something lies over the page.

    Raises CannotUse for a widget of no known kind.
    """
    where = page.evaluate("location.pathname.split('/')[1] || 'home'")
    rows = page.evaluate("given => dprlTest.controls(...given)", [KINDS, PARTS])
    unknown = [row["html"] for row in rows if row["kind"] is None]
    if unknown:
        raise CannotUse(f"{where}: of no known kind: {' | '.join(unknown)}")
    return [
        Control(
            "" if row["place"] in EVERYWHERE or row["kind"] in EVERYWHERE else where,
            row["kind"],
            row["place"],
            row["name"],
            row["nth"],
            index,
            row["layers"],
            row["off"],
        )
        for index, row in enumerate(rows)
    ]


def turn(control: Control, late: Container[str] = ()) -> int:
    """What is used first: what is on the page, then what turns it to something else, the sidebar, what leads away, as
    do those named `late`, and last what leads on to where nothing of all this is."""
    if BACKWARDS.fullmatch(control.name):
        return 8
    if control.name in LAST:
        return 7
    if control.kind == "link":
        return 6
    if LATE.search(control.name) or control.name in late:
        return 5
    if control.place.startswith(("sidebar", "header")):
        return 4 if control.kind == "menu" else 3
    return {"choice": 1, "menu": 1, "tab": 2}.get(control.kind, 0)


def element(page: Page, control: Control) -> ElementHandle:
    """The element of a control that `controls` has found last."""
    found = page.evaluate_handle("index => dprlTest.element(index)", control.index).as_element()
    assert found is not None
    return found
