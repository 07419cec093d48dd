"""What a page needs from the browser itself: the clipboard, the sidebar of a phone, word of day and night, and charts
that go on filling the screen."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dprl.figures import signed
from pages.shared.layout.terms import MEANINGS_JS
from pages.shared.visitor.callbacks import callback

ENOUGH = 700  # pixels of a page's width, from which on charts have room beside them

_COPY_JS = """
export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  const label = button.querySelector("span");
  const copy = async () => {
    const url = location.origin + location.pathname + "?" + data.query;
    try {
      await navigator.clipboard.writeText(url);
    } catch {  // no clipboard outside https and localhost: the old way
      const area = document.createElement("textarea");
      area.value = url;
      area.style.position = "fixed";
      document.body.appendChild(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    label.textContent = "Link copied";
    setTimeout(() => { label.textContent = data.label; }, 1800);
  };
  label.textContent = data.label;
  button.onclick = copy;
  return () => { button.onclick = null; };
}
"""

# The look of Streamlit's own secondary button, from its theme variables.
_BUTTON_CSS = """
button {
  display: inline-flex; align-items: center; gap: .45rem; min-height: 2.5rem; padding: .25rem .75rem; width: 100%;
  justify-content: center; white-space: nowrap; font: 400 0.875rem var(--st-font); color: var(--st-text-color);
  background: var(--st-background-color); cursor: pointer;
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius);
}
button:hover, button:focus-visible {
  border-color: var(--st-primary-color); color: var(--st-primary-color); outline: none;
}
svg { width: 1.05rem; height: 1.05rem; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; }
"""

_COPY_HTML = """
<button type="button"><svg viewBox="0 0 24 24" aria-hidden="true"><path
d="M10 14a4.5 4.5 0 0 0 6.4 0l3-3a4.5 4.5 0 0 0-6.4-6.4l-1 1M14 10a4.5 4.5 0 0 0-6.4 0l-3 3a4.5 4.5 0 0 0 6.4
6.4l1-1"/></svg><span aria-live="polite">Copy link</span></button>
"""

# On a phone the sidebar lies over the page: a button in the page opens it.
_SETTINGS_HTML = """
<button type="button"><svg viewBox="0 0 24 24" aria-hidden="true"><path
d="M4 7h9M19 7h1M4 17h3M13 17h7"/><circle cx="16" cy="7" r="2.6"/><circle cx="10" cy="17" r="2.6"/></svg
><span>Settings</span></button>
"""

_SETTINGS_JS = """
export default function ({ parentElement }) {
  parentElement.querySelector("button").onclick = () =>
    document.querySelector('[data-testid="stExpandSidebarButton"]')?.click();
}
"""

# It closes by itself when what lies under it changes: another page, or a run that was just started.
_CLOSE_JS = """
export default function ({ data }) {
  const sidebar = document.querySelector('[data-testid="stSidebar"]');
  const open = sidebar?.getAttribute("data-collapsed") === "false";
  if (window.dprlUnder !== undefined && window.dprlUnder !== data.under && open && window.innerWidth < 768) {
    document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
  }
  window.dprlUnder = data.under;
}
"""

# A press on it goes past all settings; it is seen once Tab has come to it.
_SKIP_JS = """
export default function () {
  const link = document.createElement("a");
  [link.className, link.href, link.textContent] = ["dprl-skip", "#run", "Skip to Run"];
  link.onclick = (event) => {
    event.preventDefault();
    document.querySelector(".st-key-run button:enabled, .st-key-reset button")?.focus();
  };
  document.body.prepend(link);
  return () => link.remove();
}
"""

# Read out when it changes, to whoever does not see the page.
_SAY_HTML = '<p role="status" aria-live="polite"></p>'
_SAY_CSS = (
    "p { width: 1px; height: 1px; margin: 0; overflow: hidden; white-space: nowrap; clip-path: inset(50%); }"
)
_SAY_JS = """
export default function ({ data, parentElement }) {
  const line = parentElement.querySelector("p");
  if (line.textContent !== data.said) line.textContent = data.said;
}
"""

# Streamlit changes its own colours with the visitor's system, but does not tell the script, which draws the charts
# (streamlit/streamlit issue 11920); nor does it tell how much room they have.
_DAYLIGHT_JS = """
export default function ({ data, setTriggerValue }) {
  const app = document.querySelector('[data-testid="stApp"]');
  const main = document.querySelector('[data-testid="stMain"]');
  const look = () => {
    const seen = getComputedStyle(app).colorScheme, wide = main.clientWidth >= data.enough;
    const news = wide !== data.wide && main.clientWidth && main.dataset.told !== String(wide);  // said once
    if (seen === data.drawn && !news) return;
    main.dataset.told = wide;
    setTriggerValue("seen", { wide });
  };
  const watch = new MutationObserver(look), room = new ResizeObserver(look);
  watch.observe(app, { attributes: true, attributeFilter: ["class"] });
  room.observe(main);
  look();
  return () => { watch.disconnect(); room.disconnect(); };
}
"""

# A chart that is drawn anew is another one to Streamlit: while runs go on, one that fills the screen would leave it at
# the next look. It stays in its place, and is told to fill the screen again.
_FULLSCREEN_JS = """
export default function () {
  const rule = document.head.appendChild(document.createElement("style"));
  let chart = "", page = "";  // the class of the one that fills the screen, and where
  const hold = (name) => {
    [chart, page] = [name, location.pathname];
    rule.textContent = name && `.${name} [data-testid="stFullScreenFrame"] {
      position: fixed; inset: 0; z-index: 1000050; background: light-dark(#ffffff, #0e1117); }`;
  };
  const pressed = ({ target }) => {
    const tool = target.closest?.(".modebar-btn")?.dataset.title;
    if (tool === "Fullscreen")
      hold([...target.closest("[class*=st-key-]").classList].find((name) => name.startsWith("st-key-")));
    else if (tool === "Close fullscreen") hold("");
  };
  const escaped = ({ key }) => { if (key === "Escape") hold(""); };
  const watch = new MutationObserver(() => {
    if (chart && page !== location.pathname) hold("");
    if (chart) document.querySelector(`.${chart} .modebar-btn[data-title="Fullscreen"]`)
      ?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  });
  document.addEventListener("click", pressed, true);
  document.addEventListener("keydown", escaped, true);
  watch.observe(document.body, { childList: true, subtree: true });
  return () => {
    document.removeEventListener("click", pressed, true);
    document.removeEventListener("keydown", escaped, true);
    watch.disconnect();
    rule.remove();
  };
}
"""

# Streamlit puts what is behind a button at the end of the page, where Tab comes last, from the button past everything
# else, and far from it. Here Tab leads in, on from its last control to what follows the button, and back.
_POPOVER_JS = """
export default function () {
  // Once the focus has left, all in it has a tabindex of -1, and keeps its own as data, until the focus is there again.
  const within = (one) => one.dataset?.tabindex === undefined ? one.tabIndex >= 0 : one.dataset.tabindex !== "-1";
  function* inside(root) {
    for (const one of root.querySelectorAll("*")) {
      if (within(one) && !one.disabled && one.checkVisibility({ visibilityProperty: true })) yield one;
      if (one.shadowRoot) yield* inside(one.shadowRoot);
    }
  }
  const focused = () => {
    let one = document.activeElement;
    while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
    return one;
  };
  const tabbed = (event) => {
    if (event.key !== "Tab" || event.altKey || event.ctrlKey || event.metaKey) return;
    const button = document.querySelector('[data-testid="stPopoverButton"][aria-expanded="true"]');
    const body = document.querySelector('[data-testid="stPopoverBody"]');
    const way = button && body ? [...inside(body)] : [];
    if (!way.length) return;
    const [now, back] = [focused(), event.shiftKey];
    if (now === button && !back) way[0].focus();
    else if (now === way[0] && back) button.focus();
    else {
      if (now === way.at(-1) && !back) button.focus();  // from where the browser goes on
      return;
    }
    event.preventDefault();
  };
  document.addEventListener("keydown", tabbed, true);
  return () => document.removeEventListener("keydown", tabbed, true);
}
"""

# The same script signs pictures in a page that is taken along.
_SIGN_JS = f"""
export default function () {{
  {signed.SCRIPT}
  return () => document.removeEventListener("click", signPicture, true);
}}
"""


def _together(*scripts: str) -> str:
    """A script that does what several do. Each component is made, hashed and sent at every rerun, as a button is."""
    parts = ",\n".join(script.strip().removeprefix("export default ") for script in scripts)
    return f"""
const parts = [{parts}];
export default function () {{
  const ends = parts.map((part) => part());
  return () => ends.forEach((end) => end());
}}
"""


_copy = st.components.v2.component("dprl_copy_link", html=_COPY_HTML, css=_BUTTON_CSS, js=_COPY_JS)
_settings = st.components.v2.component("dprl_settings", html=_SETTINGS_HTML, css=_BUTTON_CSS, js=_SETTINGS_JS)
_close = st.components.v2.component("dprl_close_sidebar", js=_CLOSE_JS)
_skip = st.components.v2.component("dprl_skip", js=_SKIP_JS)
_say = st.components.v2.component("dprl_say", html=_SAY_HTML, css=_SAY_CSS, js=_SAY_JS)
_daylight = st.components.v2.component("dprl_daylight", js=_DAYLIGHT_JS)
_listening = st.components.v2.component(
    "dprl_listening", js=_together(_FULLSCREEN_JS, _POPOVER_JS, _SIGN_JS, MEANINGS_JS)
)


def copy_link(query: str, label: str = "Copy link") -> None:
    """A button that copies the address of this page with `query` (already escaped) to the clipboard. Of two on a page
    each has a label of its own."""
    key = "_".join(label.lower().split())
    _copy(data={"query": query, "label": label}, key=key, width="content")


def settings_button() -> None:
    """A button that opens the sidebar, shown on narrow screens only (style.css)."""
    _settings(key="settings", width="content")


def skip_to_run() -> None:
    """The first thing that Tab comes to: a link past the settings, to their Run button."""
    _skip(key="skip", height=1)


def say(said: str, name: str) -> None:
    """Has readers of the screen told something, whenever it is something else. name: of what, once on a page."""
    _say(data={"said": said}, key=f"say_{name}", height=1)


def unseen(under: str, dark: bool, wide: bool, seen: Callable[[bool], None]) -> None:
    """What has no look of its own.

    A narrow screen's sidebar closes whenever `under` changes. The page is drawn again when the browser's colours, or
    the room beside its charts, are no longer those it is drawn for. A chart that fills the screen goes on filling it
    when it is drawn anew, the camera above it writes below the picture what was run, Tab leads from a button to what it
    has opened and on from there, and terms say what they mean.

    Args:
        under: A word for what the sidebar covers.
        dark: Whether the page is drawn for a dark screen.
        wide: Whether it is drawn for one with room beside charts.
        seen: Called with whether there is room.
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
