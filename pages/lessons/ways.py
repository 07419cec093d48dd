"""The way from a lesson to a view of another page."""

from __future__ import annotations

from dataclasses import replace

from dprl.lessons import Attempt
from dprl.users import Asked
from pages.attack import link as attack
from pages.offline.view import OfflineView
from pages.shared.visitor import links, multi_run_link
from pages.shared.visitor.links import Curve, View
from pages.tradeoffs import study
from pages.users import link as users

Query = list[tuple[str, str]]


def way(attempt: Attempt) -> Query:
    """The query that opens the very view on the page."""
    specs, view = attempt.specs, attempt.view
    return {
        "explore": lambda: links.encode([Curve(spec) for spec in specs], View(**view)),
        "offline": lambda: multi_run_link.encode(specs, OfflineView(**view)),
        "attack": lambda: attack.encode(specs[0], attack.AttackView(**view)),
        "users": lambda: users.encode(Asked(**view)),
        "tradeoffs": lambda: study.encode(
            replace(study.of(specs[0], study.usual_models(specs[0]), view.get("x", "epsilon")), **view)
        ),
    }[attempt.page]()
