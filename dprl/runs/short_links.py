"""Short links: eight letters for a page and its query, for as long as this store exists.

The letters are random, so that nobody can go through all links, but they are not secret. They stand for an ordinary
link and are read like one. At most DPRL_SHORT_LINKS are stored, each of at most MOST_LETTERS, and their number per
period is limited: nobody can fill the store with them, or soon use up the links of others.
"""

from __future__ import annotations

from dprl.fields import shown
from dprl.runs.database import Database, StoreError, setting
from dprl.runs.limits import Lease, RateLimiter
from dprl.runs.rooms import draw_code, read_code

CODE_LENGTH = 8  # 26 billion
MOST_LETTERS = 4000  # of a link
_KNOWN = "SELECT code FROM short_link WHERE page = ? AND query = ?"

ODD = "s: {} is not allowed; give the {} letters of a short link."
UNKNOWN = "s: {} is no short link of this server: ask for the whole link."
LONG = f"This link has {{:,}} characters, and only one of at most {MOST_LETTERS:,} is made short: copy the whole link."
FULL = "This server keeps {:,} short links, which is the most (DPRL_SHORT_LINKS): copy the whole link."


class LinkError(StoreError):
    """The error for a link that cannot be shortened, or for unknown letters, in one sentence."""


class ShortLinks:
    """The table of short links."""

    def __init__(self, file: Database) -> None:
        self._file = file
        self._most_links = setting("DPRL_SHORT_LINKS", 10_000, 0, 1_000_000)
        self._limits = RateLimiter()

    def shorten(self, page: str, query: str, who: Lease) -> str:
        """Return the letters for a link, the same each time. page: its path, "" for Home; query: without the question
        mark. Raises StoreError: the link is too long, there are too many links, or too many were made from here."""
        if len(query) > MOST_LETTERS:
            raise LinkError(LONG.format(len(query)))
        if known := self._file.rows(_KNOWN, page, query):
            return str(known[0]["code"])
        self._limits.check("link", who)
        self._limits.note("link", who)
        with self._file.writing() as db:
            if row := db.execute(_KNOWN, (page, query)).fetchone():  # by somebody else meanwhile
                return str(row["code"])
            if db.execute("SELECT count(*) FROM short_link").fetchone()[0] >= self._most_links:
                raise LinkError(FULL.format(self._most_links))
            while True:
                code = draw_code(CODE_LENGTH)
                values = (code, page, query)
                if db.execute("INSERT OR IGNORE INTO short_link VALUES (?, ?, ?)", values).rowcount:
                    return code

    def lengthen(self, text: str) -> tuple[str, str]:
        """Return the page and the query that letters stand for, see `read_code`. Raises LinkError."""
        code = read_code(text, CODE_LENGTH)
        if not code:
            raise LinkError(ODD.format(shown(text) or "nothing", CODE_LENGTH))
        for page, query in self._file.rows("SELECT page, query FROM short_link WHERE code = ?", code):
            return page, query
        raise LinkError(UNKNOWN.format(code))
