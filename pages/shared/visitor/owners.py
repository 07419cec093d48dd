"""In whose names a visitor's runs are asked for: the visitor's own, and one for each group in the table of pages."""

from __future__ import annotations

from dprl.sitemap import GROUPS
from pages.shared.visitor.state import session


def owner_id(group: str) -> str:
    """In whose name this visitor's runs of a group are asked for, by its key in GROUPS."""
    return f"{session().visitor}:{GROUPS[group].key}"
