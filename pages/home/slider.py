"""A slider that answers while it moves. Streamlit's own waits a while before it sends, too long to see cause and
effect as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages.shared.visitor.callbacks import on_value

_HTML = """
<div class="head"><label for="slider"></label><output for="slider"></output></div>
<input id="slider" type="range" min="0" step="1">
<div class="ends" aria-hidden="true"><span></span><span></span></div>
"""

# What the browser can do itself is done at once; what is sent follows at most every PACE ms, the last place always.
# The chart is turned by its own buttons (Plotly's `updatemenus`), because Streamlit can only replace a chart that has
# changed, which takes three times as long and blinks. The address goes ahead of what is sent: whatever the browser
# sends next carries it, and one that lags behind would be read as a link to where the slider was. It is written in
# place: what is written from Python becomes an entry of the Back button each time.
_JS = """
const PACE = 80, REST = 400;
export default function ({ data, parentElement, setStateValue }) {
  const input = parentElement.querySelector("input");
  if (input.dataset.ready) return;  // drawn again by its own move: the visitor's hand is ahead
  input.dataset.ready = "yes";
  const output = parentElement.querySelector("output");
  const ends = parentElement.querySelectorAll(".ends span");
  parentElement.querySelector("label").textContent = data.label;
  data.ends.forEach((words, i) => { ends[i].textContent = words; });
  input.max = data.words.length - 1;
  input.value = data.place;
  // The chart may not be there yet.
  const turn = () => {
    const buttons = document.querySelectorAll(data.chart + " .updatemenu-button");
    if (buttons.length === 0) { if (input.isConnected) setTimeout(turn, 50); return; }
    buttons[input.value].dispatchEvent(new MouseEvent("click"));
  };
  const say = () => {
    output.textContent = data.words[input.value];
    input.setAttribute("aria-valuetext", data.spoken[input.value]);
    input.style.setProperty("--share", input.value / input.max);
  };
  let sent = input.value, last = -PACE, waiting = null;
  const send = () => {
    waiting = null;
    if (input.value === sent) return;
    sent = input.value;
    last = performance.now();
    write();
    setStateValue("place", Number(sent));
  };
  const path = location.pathname;
  const write = () => {
    if (!input.isConnected || location.pathname !== path) return;  // another page is open by now
    const url = new URL(location.href);
    new URLSearchParams(data.queries[input.value]).forEach((value, key) => url.searchParams.set(key, value));
    // A browser refuses a hundred of these in a row; the one at rest comes through.
    try { history.replaceState(history.state, "", url); } catch {}
  };
  let resting = null;
  input.oninput = () => {
    say();
    turn();
    clearTimeout(resting);
    resting = setTimeout(write, REST);
    if (waiting !== null) return;
    const pause = last + PACE - performance.now();
    if (pause <= 0) send(); else waiting = setTimeout(send, pause);
  };
  say();
  if (data.write) write();
}
"""

_CSS = """
:host, div { font-family: var(--st-font); color: var(--st-text-color); }
.head { display: flex; justify-content: space-between; align-items: baseline; gap: .75rem; }
label { font-size: 1rem; }
output { font-size: 1.5rem; font-weight: 600; white-space: nowrap; }
.ends { display: flex; justify-content: space-between; font-size: .875rem; margin-top: -.4rem; opacity: .75; }
input {
  --track: linear-gradient(var(--st-primary-color), var(--st-primary-color))
    0 / calc(var(--share, 0) * 100%) 100% no-repeat, var(--st-border-color);
  appearance: none; width: 100%; height: 2.5rem; margin: 0; background: transparent; cursor: pointer;
}
input::-webkit-slider-runnable-track { height: .45rem; border-radius: .25rem; background: var(--track); }
input::-moz-range-track { height: .45rem; border-radius: .25rem; background: var(--track); }
input::-webkit-slider-thumb {
  appearance: none; width: 1.6rem; height: 1.6rem; margin-top: -.575rem; border-radius: 50%;
  border: .2rem solid var(--st-background-color); background: var(--st-primary-color);
  box-shadow: 0 0 0 1px var(--st-primary-color);
}
input::-moz-range-thumb {
  width: 1.2rem; height: 1.2rem; border-radius: 50%;
  border: .2rem solid var(--st-background-color); background: var(--st-primary-color);
  box-shadow: 0 0 0 1px var(--st-primary-color);
}
input:focus { outline: none; }
input:focus-visible::-webkit-slider-thumb { box-shadow: 0 0 0 .2rem var(--st-text-color); }
input:focus-visible::-moz-range-thumb { box-shadow: 0 0 0 .2rem var(--st-text-color); }
"""

_slider = st.components.v2.component("dprl_slider", html=_HTML, css=_CSS, js=_JS)


def live_slider(
    label: str,
    place: int,
    words: Sequence[str],
    *,
    spoken: Sequence[str],
    ends: tuple[str, str],
    key: str,
    chart: str,
    queries: Sequence[str],
    write: bool,
    on_move: Callable[[int], None],
) -> None:
    """A slider over `words`, at `place` when it is first drawn.

    Args:
        spoken: the words as a screen reader says them.
        chart: key of the container of a figure with a button for each place, which is pressed as the slider
            moves.
        queries: what the address says for each place, once the slider rests there.
        write: the address does not say it yet.
        on_move: called with the new place before the part of the page that holds the slider is drawn again.

    To move it from elsewhere, draw it under another key.
    """

    def moved(sent: Any) -> None:
        place = sent.get("place")
        if isinstance(place, int) and 0 <= place < len(words):  # it comes from a browser
            on_move(place)

    data = {
        "label": label,
        "place": place,
        "words": words,
        "spoken": spoken,
        "ends": ends,
        "queries": queries,
    }
    data |= {"chart": f".st-key-{chart}", "write": write}
    _slider(data=data, key=key, on_place_change=on_value(key, moved))
