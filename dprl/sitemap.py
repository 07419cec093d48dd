"""The table of the dashboard's pages, which are listed nowhere else.

Chats and courses preview a link before anybody opens it. They run no scripts, and Streamlit would send them an empty
page, so we insert the page's title and description before it is sent.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

PRODUCT = "Privacy in reinforcement learning"
SECTIONS = ("", "Explore", "Decide", "Check", "Teach")  # in the order of the navigation


@dataclass(frozen=True)
class Page:
    """One page of the dashboard."""

    path: str  # its address on the server, "" for Home
    name: str  # its name in the navigation, and its heading unless `heading` is given
    says: str  # a sentence about its content, for previews of links
    icon: str  # the Material Symbol shown on links to it
    section: str = ""  # its section in the navigation, or ""
    heading: str = ""  # the question at the top of the page, if it differs from the name
    settings: bool = False  # whether the sidebar has settings, which a link can lock
    # groups of runs requested under separate names, so that runs in Explore need not wait for them: the suffix of the
    # visitor's name, and the title on the Runs page
    groups: Mapping[str, str] = field(default_factory=dict)
    bundled: tuple[str, ...] = ()  # names of the bundled files in assets/ that it shows, without .json
    guide: str = ""  # its page in the documents, below docs/, or ""
    # the lists of terms and papers that it shows: online, offline
    lists: tuple[str, ...] = ("online",)
    moved: tuple[str, ...] = ()  # addresses of former pages, now part of it
    aside: bool = False  # whether it opens from an icon in the corner instead of the navigation

    @property
    def folder(self) -> str:
        """Return the name of the page's folder in pages/."""
        return self.path or "home"

    @property
    def file(self) -> str:
        """Return the path of the page's script, for Streamlit."""
        return f"pages/{self.folder}/page.py"

    @property
    def whole(self) -> str:
        """Return the title for a browser's tab."""
        return PRODUCT if not self.path else f"{self.name} · {PRODUCT}"

    def of(self, what: str) -> str:
        """Return the tab's title for one item on the page, such as a lesson."""
        return f"{what} · {self.whole}"


def _pages() -> dict[str, Page]:
    records: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    for record in records.values():
        record |= {name: tuple(values) for name, values in record.items() if isinstance(values, list)}
    return {path: Page(path, **record) for path, record in records.items()}


PAGES = _pages()
MOVED = {former: path for path, page in PAGES.items() for former in page.moved}
GROUPS = {key: title for page in PAGES.values() for key, title in page.groups.items()}


def page_at(path: str) -> Page | None:
    """Return the page at a path of the server, or None."""
    return PAGES.get(path.rstrip("/").rpartition("/")[2])


def tagged(html: bytes, page: Page) -> bytes:
    """Add the page's title and preview tags to the empty HTML page that Streamlit serves."""
    name, says = escape(page.whole), escape(page.says)
    tags = (
        f'<title>{name}</title><meta name="description" content="{says}">'
        f'<meta property="og:title" content="{name}"><meta property="og:description" content="{says}">'
        f'<meta property="og:type" content="website"><meta property="og:site_name" content="{PRODUCT}">'
        '<meta name="twitter:card" content="summary">'
    )
    return html.replace(b"<title>Streamlit</title>", tags.encode(), 1)
