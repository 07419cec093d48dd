"""Widgets of the view: they show the session's view and write it back, so that a link can carry all of it."""

from __future__ import annotations

from collections.abc import Sequence

from pages.shared.controls.view import Widgets
from pages.shared.visitor.links import View, most_private
from pages.shared.visitor.state import session
from pages.shared.visitor.views import fields_of

_widgets = Widgets(lambda: session().explore, fields_of(View))
segments, switch, menu = _widgets.segments, _widgets.switch, _widgets.menu
steps, put = _widgets.steps, _widgets.put


def curve_menu(label: str, offered: Sequence[int], titles: Sequence[str]) -> int:
    """The curve looked at, by its place among all curves; the most private of those offered until one is chosen.

    titles: of all curves.
    """
    all_curves = session().explore.curves
    first = offered[most_private([all_curves[i] for i in offered])]
    return menu(label, "curve", offered, [titles[i] for i in offered], otherwise=first)
