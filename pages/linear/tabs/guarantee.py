"""The tab Guarantee: what each run promises to its users, and what its noise proves."""

from __future__ import annotations

from collections.abc import Sequence

from pages.linear.record import LINEAR
from pages.shared.names import titles
from pages.shared.online.guarantee import guarantee_cards
from pages.shared.visitor.links import most_private


def tab() -> None:
    """The promises of all runs, and the card of one."""
    curves = LINEAR.state.curves
    named = titles(curves)

    def choose(offered: Sequence[int]) -> int:
        first = offered[most_private([curves[i] for i in offered])]
        return LINEAR.widgets.menu(
            "Look closely at", "curve", offered, [named[i] for i in offered], otherwise=first
        )

    guarantee_cards(curves, named, choose)
