"""What this browser calls itself in a room: drawn at random, kept in the browser for a day, and different in each room.
A teacher's browser keeps the key of the room beside it."""

from __future__ import annotations

import re

import streamlit as st

from pages.room.state import group
from pages.shared.visitor.callbacks import callback

# localStorage may be closed to a page (some private windows): then a name lasts as long as the page.
_DEVICE_JS = """
export default function ({ data, setStateValue }) {
  const day = 24 * 3600 * 1000, prefix = "dprl-room-", name = prefix + data.code;
  const read = (entry) => { try { return JSON.parse(localStorage.getItem(entry)); } catch { return null; } };
  const hex = (byte) => byte.toString(16).padStart(2, "0");
  const draw = () => [...crypto.getRandomValues(new Uint8Array(16))].map(hex).join("");
  try {
    for (const entry of Object.keys(localStorage))
      if (entry.startsWith(prefix) && !(Date.now() - read(entry)?.at < day)) localStorage.removeItem(entry);
  } catch {}
  window.dprlRooms ??= {};
  const kept = read(name) ?? window.dprlRooms[name] ?? { at: Date.now(), device: draw(), key: "" };
  if (data.key) kept.key = data.key;
  window.dprlRooms[name] = kept;
  try { localStorage.setItem(name, JSON.stringify(kept)); } catch {}
  const said = `${data.code} ${kept.device} ${kept.key}`;
  if (said !== data.said) setStateValue("said", said);
}
"""
_device = st.components.v2.component("dprl_device", js=_DEVICE_JS)
KEY = "device"


def meet() -> None:
    """Has the browser say who it is in the room; the page is drawn again when it has."""
    r = group()
    with st.container(key="device_holder"):
        _device(
            data={"code": r.code, "key": r.key, "said": f"{r.code} {r.device} {r.key}"},
            key=KEY,
            height=1,
            on_said_change=callback(_heard),
        )


def _heard() -> None:
    """Keeps what the browser said, if it is about the room at hand."""
    r = group()
    said = getattr(st.session_state.get(KEY), "said", None) or ""
    found = re.fullmatch(r"(\w+) ([0-9a-f]{32}) ([0-9a-f]{32})?", str(said))
    if found and found[1] == r.code:
        r.device, r.key = found[2], r.key or found[3] or ""
