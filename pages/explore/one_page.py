"""A comparison as one HTML page that simulates its runs live: behind *Share* on Online, and for the website."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import streamlit as st

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.papers.report import version
from dprl.player import PlayedCurve, PlayedMeasure, Shown, player_page, sizes_of
from dprl.simulation import RunSpec
from dprl.simulation.replay import unplayable
from dprl.sitemap import PAGES
from dprl.words import percent
from pages.shared.layout.download import save
from pages.shared.names import in_common, kinds, titles
from pages.shared.results import answers
from pages.shared.text import escape
from pages.shared.visitor.callbacks import button, into
from pages.shared.visitor.links import Curve, View
from pages.shared.visitor.state import session

OTHER = "The page opens with the share of V\\* lost instead of the measure drawn here."
MEANS = "The page draws the mean of all seeds, without a line for each seed."
FIXED = "You can download an interactive chart of these curves from the tab Data."


def offer_page() -> None:
    """Offer a page to download once workers have prepared its runs, or explain why there is none."""
    s = session()
    curves = s.explore.visible
    st.markdown("**One page without a server**")
    if not curves:
        st.caption("All curves are hidden. Show one to download it.")
        return
    reasons = list(filter(None, (unplayable(curve.spec) for curve in curves)))
    if reasons:
        st.caption(escape(f"{reasons[0]} {FIXED}"))
        return
    wanted = tuple(curve.spec for curve in curves)
    if s.taken != wanted:
        st.caption("An HTML file that plays these runs live in any browser, with a slider for ε.")
        button("Prepare the page", into(s, "taken"), wanted, icon="play_circle", key="prepare_page")
        return
    try:
        found = {
            spec.replace(episodes=size): answers.replay(spec.replace(episodes=size))
            for spec in wanted
            for size in sizes_of(spec)
        }
    except SpecError as error:
        st.caption(escape(f"{error} {FIXED}"))
        return
    ready = {spec: packed for spec, packed in found.items() if packed is not None}
    if len(ready) < len(found):
        done = percent(len(ready) / len(found))
        st.caption(f"Calibrating the noise for each position of the slider: {done} done.")
        return
    heading, view = PAGES["explore"].heading, s.explore.view
    same = drawn_there(view.measure) == view.measure
    plain = view.statistic == "mean" and view.each == "off"
    lacks = "".join(f" {text}" for text, there in ((OTHER, same), (MEANS, plain)) if not there)
    st.caption(f"The page opens from disk and sends no requests.{lacks}")

    def replay(spec: RunSpec) -> dict[str, Any]:
        return answers.unpacked(ready[spec])

    made = partial(played_page, heading, curves, view, replay, sentence=s.explore.sentence)
    save(file_name(wanted), "Download the page", "text/html", made)


def file_name(specs: Sequence[RunSpec]) -> str:
    """Return the file name of a page: what differs between its runs, such as riverswim-central-vs-local.html."""
    worlds = list(dict.fromkeys(ENVIRONMENTS[s.environment].called(s.environment_params) for s in specs))
    for field in ("privacy", "epsilon", "algorithm"):
        values = list(dict.fromkeys(f"{getattr(spec, field)}" for spec in specs))
        if len(values) > 1:
            break
    ways = [f"no-{field}" if value in ("none", "None") else value for value in values]
    name = "-".join(["-".join(worlds), "-vs-".join(ways[:4])])
    return f"{re.sub(r'[^a-z0-9.]+', '-', name.lower()).strip('-')}.html"


def played_page(
    title: str,
    curves: Sequence[Curve],
    view: View,
    replay: Callable[[RunSpec], dict[str, Any]],
    nav: str = "",
    sentence: str = "",
) -> str:
    """Return the page as HTML. replay: returns the output of `wasm.replayed` for a run with one of its numbers of
    users. sentence: a message from the person who shares it. title, nav: see `player_page`."""
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
    """Return the measure that the page draws for a measure of Online: the same if it has it, else the first."""
    found: tuple[PlayedMeasure, ...] = get_args(PlayedMeasure)
    return next((one for one in found if one == measure), found[0])
