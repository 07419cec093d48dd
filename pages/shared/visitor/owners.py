"""In whose names a visitor's runs are asked for: the visitor's own, and one for each page that asks for many at once.

A page's own name keeps runs in Explore from waiting behind its many. The page Runs lists all that OWNERS holds.
"""

from __future__ import annotations

from dataclasses import dataclass

from pages.shared.visitor.state import session


@dataclass(frozen=True)
class Owner:
    """Runs that are listed as one.

    Attributes:
        key: what is added to the visitor's name.
        title: what the runs are called, before how many there are.
        page, label, icon: the way to where they are shown.
    """

    key: str
    title: str
    page: str
    label: str
    icon: str

    def __call__(self) -> str:
        """In whose name this visitor's are asked for."""
        return f"{session().visitor}:{self.key}"


OWNERS: list[Owner] = []


def _owner(key: str, title: str, page: str, label: str, icon: str) -> Owner:
    found = Owner(key, title, f"pages/{page}/page.py", f"Go to {label}", f":material/{icon}:")
    OWNERS.append(found)
    return found


SWEEPS = _owner("sweep", "Sweeps of Trade-offs", "tradeoffs", "Trade-offs", "balance")
OFFLINE = _owner("offline", "Data sets of Offline", "offline", "Offline", "inventory_2")
UPLOADS = _owner("upload", "Runs on your own data", "offline", "Offline", "upload_file")
CLAIMS = _owner("claims", "Runs of Claims", "claims", "Claims", "gavel")
ATTACKS = _owner("attack", "Attacks", "attack", "Attack", "security")
LINEAR = _owner("linear", "Comparisons of Linear", "linear", "Linear", "linear_scale")
EXPLORATION = _owner(
    "exploration", "Runs of exploration noise", "free", "When is privacy free?", "graphic_eq"
)
