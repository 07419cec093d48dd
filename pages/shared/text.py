"""The one place where text is made safe to show."""

from __future__ import annotations

import re

# Everything Markdown, Streamlit's directives (:red[...], :material/...:), LaTeX and HTML start with.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-!|~$:&^@\"'/])")
# What means something where a line begins only: the underline of a heading, the number of a list. Elsewhere they stay
# as they are, for a label that reads Markdown is also what a screen reader says.
_OPENING = re.compile(r"^(\d*)([=.])")
# What becomes a link by itself, even where its signs are escaped: www.x, x://y, x@y.
_AUTOLINK = re.compile(r"www\.|://|@\w", re.IGNORECASE)


def escape(text: str) -> str:
    """Return `text` for a place that reads Markdown: shown as it is written, never interpreted."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return _OPENING.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", unlinked(flat)))


def unlinked(text: str) -> str:
    """Return `text` with an invisible joint wherever Markdown would make a link that nobody marked as one."""
    return _AUTOLINK.sub(lambda match: match.group()[0] + "\u2060" + match.group()[1:], text)
