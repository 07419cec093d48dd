"""Our own components, for browser functions that Streamlit does not offer. Their sources are in assets/web/."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from dprl.assets import WEB, classic, module_with_imports, web_source
from pages.shared.results.data import cache_of_all
from pages.shared.visitor.callbacks import callback


def component(name: str, *, css: str = "", js: str = "") -> Callable[..., Any]:
    """Load NAME.js, NAME.html and NAME.css from assets/web/, unless `js` or `css` replaces a file."""
    look, shape = css or f"{name}.css", f"{name}.html"
    return st.components.v2.component(
        f"dprl_{name}",
        html=web_source(shape) if (WEB / shape).is_file() else None,
        css=web_source(look) if (WEB / look).is_file() else None,
        js=js or web_source(f"{name}.js"),
    )


# Several invisible scripts joined into one, because each component is made, hashed and sent at every rerun.
PARTS = ("fullscreen", "popover", "sign_picture", "meanings")
LISTENING = f"""
const parts = [{", ".join(classic(f"{name}.js").rstrip() for name in PARTS)}];
export default function () {{
  const ends = parts.map((part) => part());
  return () => ends.forEach((end) => end());
}}
"""
ENOUGH = 700  # pixels of a page's width that leave room next to charts

# A button that opens the sidebar on narrow screens (see style.css).
settings_button = partial(component("settings", css="button.css"), key="settings", width="content")
# The first target of Tab: a link past the settings, to their Run button.
skip_to_run = partial(component("skip"), key="skip", height=1)
_copy = component("copy_link", css="button.css")
_close = component("close_sidebar")
_from_top = component("from_top")
_say = component("say")
_daylight = component("daylight")
_listening = component("listening", js=LISTENING)


def copy_link(query: str, label: str = "Copy link", replace: str = "") -> None:
    """Draw a button that copies this page's address with another query. If `replace` is given, it becomes the query in
    the address bar. Two buttons on one page need different labels."""
    key = "_".join(label.lower().split())
    _copy(data={"query": query, "label": label, "replace": replace}, key=key, width="content")


def from_top(opened: str) -> None:
    """Scroll to the top of the page whenever `opened`, which identifies the content, changes."""
    _from_top(data={"opened": opened}, key="from_top", height=1)


def say(said: str, name: str) -> None:
    """Announce a text to screen readers whenever it changes. Each text on a page needs its own name."""
    _say(data={"said": said}, key=f"say_{name}", height=1)


def unseen(under: str, dark: bool, wide: bool, seen: Callable[[bool], None]) -> None:
    """Run the invisible scripts that every page needs; see assets/web/.

    under: names the content; if it changes, the sidebar closes on a narrow screen. dark, wide: the theme and the room
    for which the page is drawn; if they change, it is redrawn. seen: receives whether there is room next to charts.
    """

    def heard() -> None:
        if (told := st.session_state.get("seen_daylight")) is not None and told.seen:
            seen(bool(told.seen["wide"]))

    with st.container(key="unseen"):
        _close(data={"under": under}, key="close", height=1)
        _daylight(
            data={"drawn": "dark" if dark else "light", "wide": wide, "enough": ENOUGH},
            key="seen_daylight",
            height=1,
            on_seen_change=callback(heard),
        )
        _listening(key="listening", height=1)  # without data, so that the browser runs it once


_one_user = component("one_user", js=module_with_imports("one_user.js"))


def one_user(key: str, make: Callable[[], dict[str, Any]]) -> None:
    """Draw one user's path through an environment. `make` returns the data, and is called once for each key."""
    text = cache_of_all().cached(("one_user", key), lambda: json.dumps(make()))
    _one_user(data={"id": key} | json.loads(text), key="one_user")
