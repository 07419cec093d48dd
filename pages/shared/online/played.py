"""A comparison as a page that plays its runs: for *Share* on Online, and for the site."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args

from dprl.papers.report import version
from dprl.player import PlayedCurve, PlayedMeasure, Shown, player_page, sizes_of
from dprl.simulation import RunSpec
from pages.shared.names import in_common, kinds, titles
from pages.shared.visitor.links import Curve, View


def played_page(
    title: str,
    curves: Sequence[Curve],
    view: View,
    replay: Callable[[RunSpec], dict[str, Any]],
    nav: str = "",
    sentence: str = "",
) -> str:
    """Return the page as HTML.

    Args:
        title, nav: as for `player_page`.
        curves: whose runs can be played.
        view: how they are drawn at first.
        sentence: a message from the person who shares it, "" for none.
        replay: of a run at one of its numbers of users, what `wasm.replayed` found.
    """
    unnamed = [replace(curve, name="") for curve in curves]
    rows = zip(curves, titles(curves), titles(unnamed), kinds(curves), strict=True)
    played = [
        PlayedCurve(
            spec,
            title,
            label,
            look,
            {n: replay(spec.replace(episodes=n)) for n in sizes_of(spec)},
            curve.name,
        )
        for curve, title, label, look in rows
        for spec in (curve.spec,)
    ]
    shown = Shown(drawn_there(view.measure), view.x, view.y, sentence)
    return player_page(
        title, in_common(curves, moving=True), played, shown, footer=f"dprl {version()['dprl']}", nav=nav
    )


def drawn_there(measure: str) -> PlayedMeasure:
    """Return the measure that such a page draws for a measure of Online: the same, or the first if it lacks that."""
    found: tuple[PlayedMeasure, ...] = get_args(PlayedMeasure)
    return next((one for one in found if one == measure), found[0])
