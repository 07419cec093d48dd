"""How links are written and read, as JSON: a page without a server does it by assets/web/player_link.js."""

from __future__ import annotations

from typing import Any

from dprl.links import BEFORE, NEWEST, OWNERS, TABLES, VERSION


def codec() -> dict[str, Any]:
    """The tables by which `links.differences` writes online runs, and `links.decode_curves` reads them."""
    tables = {
        name: {"always": t.always, "env": t.by_environment, "alg": t.by_learner, "priv": t.by_privacy}
        for name, t in TABLES.items()
    }
    return {"version": VERSION, "table": NEWEST, "tables": tables, "later": BEFORE, "owners": OWNERS}
