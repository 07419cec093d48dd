"""How the runs of a study stand, as one, and what can be done about it."""

from __future__ import annotations

from dprl.simulation import Spec
from pages.shared.results import together
from pages.shared.visitor.owners import owner_id
from pages.tradeoffs import state as trade


def sweep_strip(state: together.Progress) -> None:
    """How the runs stand, as one."""
    together.strip(state, owner_id("sweep"), trade.start_sweep, stop_asking)


def stop_asking() -> None:
    """Nothing is asked for any more, not by a search either."""
    trade.trade().asked = False


def cancel_sweep(specs: tuple[Spec, ...]) -> None:
    """Withdraws from all runs at once; what is finished stays."""
    stop_asking()
    together.withdraw(specs, owner_id("sweep"))
