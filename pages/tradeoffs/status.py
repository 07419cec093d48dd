"""How the runs of a study stand, as one, and what can be done about it."""

from __future__ import annotations

from dprl.simulation import Spec
from pages.shared.results import together
from pages.shared.visitor.owners import owner_id
from pages.tradeoffs import state as trade


def strip(state: together.Progress) -> None:
    """How the runs stand, as one."""
    together.strip(state, owner_id("sweep"), trade.start, forget)


def forget() -> None:
    """Nothing is asked for any more, not by a search either."""
    trade.trade().asked = False


def cancel(specs: tuple[Spec, ...]) -> None:
    """Withdraws from all runs at once; what is finished stays."""
    forget()
    together.withdraw(specs, owner_id("sweep"))
