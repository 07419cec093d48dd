"""Locate the dashboard's files, and read those that run in a browser."""

from __future__ import annotations

import re
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent
INSTALLED = Path(__file__).parent / "dashboard"  # the same files in a wheel, see deploy/wheel.py
ROOT = INSTALLED if INSTALLED.is_dir() else CHECKOUT  # contains app.py, pages/, assets/ and .streamlit/
ASSETS = ROOT / "assets"
WEB = ASSETS / "web"  # JavaScript, CSS and HTML files


def web_source(name: str) -> str:
    """Return the text of a file in assets/web/, such as slider.js."""
    return (WEB / name).read_text(encoding="utf-8")


def page_of(name: str, **parts: str) -> str:
    """Return an HTML file in assets/web/ with each placeholder, such as {title}, replaced by the part of its name."""
    return re.sub(r"\{(\w+)\}", lambda place: parts[place[1]], web_source(name))


def _alone(name: str) -> str:
    """Return the source of a JavaScript module without its imports."""
    return re.sub(r"^import .*\n", "", web_source(name), flags=re.MULTILINE)


def classic(*names: str) -> str:
    """Join modules in assets/web/ into one script, because a page opened from disk cannot load modules."""
    return "\n".join(re.sub(r"^export (default )?", "", _alone(name), flags=re.MULTILINE) for name in names)


def module_with_imports(name: str, *parts: str) -> str:
    """Join a module with the modules that it imports, because a component must be a single text."""
    return f"{classic('parts.js', *parts)}\n{_alone(name)}"
