"""Runs that tests of pages ask for, the link that compares them, and how to cancel what is left."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from dprl.jobs.store import Store
from dprl.simulation import RunSpec
from pages.shared.results.status import ACTIVE
from pages.shared.visitor import links
from pages.shared.visitor.address import query_of
from tests.browser.server import App

SHORT = RunSpec(environment_params={"S": 3, "H": 3}, epsilon=50.0, episodes=20_000, seeds=2)  # a moment
LONG = RunSpec(  # minutes
    environment_params={"S": 50, "H": 40}, privacy="none", episodes=10**6, schedule="episodic", seeds=1
)


def compared(*specs: RunSpec) -> str:
    """The link to Explore with these runs."""
    return f"explore?{query_of(links.encode([links.Curve(spec) for spec in specs], links.View()))}"


def withdraw(app: App) -> None:
    """Cancel whatever anybody has left running."""
    store = Store(app.home / "runs.sqlite")
    with closing(sqlite3.connect(app.home / "runs.sqlite")) as file:
        waiting = [name for (name,) in file.execute("SELECT DISTINCT visitor FROM request WHERE waiting")]
    for visitor in waiting:
        for row in store.status.runs(visitor):
            if row.state in ACTIVE:
                store.requests.cancel(row.spec, visitor)
    store.close()
