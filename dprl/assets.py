"""Where the files of the dashboard are that are no Python, and the sources among them that a browser runs."""

from __future__ import annotations

import re
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent
INSTALLED = Path(__file__).parent / "dashboard"  # where a wheel holds the same files, see dprl/wheel.py
ROOT = INSTALLED if INSTALLED.is_dir() else CHECKOUT  # app.py, pages/, assets/ and .streamlit/ are here
ASSETS = ROOT / "assets"
WEB = ASSETS / "web"  # JavaScript, CSS and HTML, each in a file of its own kind


def web_source(name: str) -> str:
    """The text of a file of assets/web/, such as slider.js."""
    return (WEB / name).read_text(encoding="utf-8")


def classic(*names: str) -> str:
    """Modules of assets/web/ as one script, in this order: what is opened from disk has no modules."""
    texts = (re.sub(r"^import .*\n", "", web_source(name), flags=re.MULTILINE) for name in names)
    return "\n".join(re.sub(r"^export (default )?", "", text, flags=re.MULTILINE) for text in texts)


def plain(module: str) -> str:
    """A module of one function as the function alone, for where there are no modules."""
    return module.replace("export default ", "", 1)
