"""Components of our own: what a page needs from the browser itself, and Streamlit does not bring.

The sources are in assets/web/, the files that have a component's name. They are read once, when the page is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dprl.assets import WEB, plain, web_source


def component(name: str, *, css: str = "", js: str = "") -> Callable[..., Any]:
    """Load the component of NAME.js in assets/web/, with NAME.html and NAME.css if they exist.

    Args:
        css: the file of a look that several share, instead of NAME.css.
        js: a script instead of NAME.js.
    """
    look, shape = css or f"{name}.css", f"{name}.html"
    return st.components.v2.component(
        f"dprl_{name}",
        html=web_source(shape) if (WEB / shape).is_file() else None,
        css=web_source(look) if (WEB / look).is_file() else None,
        js=js or web_source(f"{name}.js"),
    )


def joined_script(*names: str) -> str:
    """Join several invisible scripts of assets/web/ into one: each component is made, hashed and sent at every rerun,
    as a button is."""
    parts = ",\n".join(plain(web_source(f"{name}.js")).rstrip() for name in names)
    return f"""
const parts = [{parts}];
export default function () {{
  const ends = parts.map((part) => part());
  return () => ends.forEach((end) => end());
}}
"""
