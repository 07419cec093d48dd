"""Name who asks for runs: the visitor, or the visitor with one group of runs of the table of pages."""

from __future__ import annotations

from dprl.sitemap import GROUPS
from pages.shared.visitor.state import session


def owner_id(group: str) -> str:
    """Return in whose name this visitor's runs of a group (a key of GROUPS, "" for none) are asked for."""
    return f"{session().visitor}:{GROUPS[group].key}" if group else session().visitor


def names() -> list[str]:
    """Return all names in which this visitor's runs are asked for."""
    return [owner_id(group) for group in ("", *GROUPS)]
