"""The curves of the comparison as chips with their actions, ready-made comparisons, and one HTML page that simulates
the runs live: behind *Share* on Online, and for the website."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import streamlit as st

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.figures import looks
from dprl.links import MAX_CURVES, text_digest
from dprl.papers.report import version
from dprl.player import PlayedCurve, PlayedMeasure, Shown, player_page, sizes_of
from dprl.simulation import RunSpec
from dprl.simulation.replay import unplayable
from dprl.sitemap import PAGES
from dprl.words import percent
from pages.shared.controls.launch import run_curve
from pages.shared.examples import EXAMPLES, ExploreExample
from pages.shared.layout.chart import save
from pages.shared.layout.frame import dark
from pages.shared.layout.terms import escape
from pages.shared.names import in_common, kinds, titles
from pages.shared.results import answers
from pages.shared.results.status import ACTIVE, ONLINE, cancel, words
from pages.shared.visitor.callbacks import button, into, keyed
from pages.shared.visitor.draft import draft_of
from pages.shared.visitor.links import AT_FIRST, MAX_NAME, Curve, View, clean_name, most_private
from pages.shared.visitor.state import add, ask, change_view, session, write_address


def chips(titles: list[str]) -> None:
    """Draw a chip for each curve with its legend symbol, the draft's button to keep it, and ready-made comparisons."""
    s = session()
    curves = s.explore.shown
    signs = [looks.swatch(kind, dark()) for kind in kinds(curves)]
    rules = [
        f".st-key-chip_{i} button::before {{ background-image: url({sign.uri}); }}"
        + (
            f".st-key-chip_{i} button {{ opacity: 0.5; text-decoration: line-through; }}"
            if curves[i].hidden
            else ""
        )
        for i, sign in enumerate(signs)
    ]
    st.html(f"<style>{' '.join(rules)}</style>")
    # A place of its own at every other version, or the open menu of a removed curve would become that of the next.
    place_of_chips = st.container() if s.version % 2 else nullcontext()
    with place_of_chips, st.container(horizontal=True, gap="xsmall", key="chips"):
        for i, (curve, title) in enumerate(zip(curves, titles, strict=True)):
            with st.container(key=f"chip_{i}", width="content"):
                if curve.draft:
                    button(
                        f"{escape(title)}: **keep it**",
                        run_curve,
                        curve.spec,
                        key="keep",
                        help="Keeps this curve in the comparison. Otherwise it disappears when you change a setting.",
                    )
                    continue
                with st.popover(escape(title)):
                    actions(curve, identity(s.explore.curves, i))
        offer_undo()
        examples()


def examples() -> None:
    """Draw a menu of ready-made comparisons."""
    with st.popover("Examples", icon=":material/lightbulb:", key="examples"):
        for example in EXAMPLES:
            button(
                example.title,
                show_example,
                example,
                key=f"example_{example.title}",
                help=escape(example.say),
                width="stretch",
            )


def show_example(example: ExploreExample) -> None:
    """Show an example as the comparison, and start its missing runs."""
    s = session()
    e = s.explore
    e.curves, e.view, e.removed, e.draft, s.paused = list(example.curves), AT_FIRST, None, None, False
    s.draft = draft_of(e.curves[most_private(e.curves)].spec)
    s.version += 1
    ask(ONLINE.missing([curve.spec for curve in e.curves]), s.visitor)
    write_address(e)


def actions(curve: Curve, own: str) -> None:
    """Draw the actions of one chip. Its widgets are keyed by the curve, because its place may change while one is
    clicked.

    own: the curve's name from `identity`.
    """
    e, run = session().explore, ONLINE.status(curve.spec)
    st.caption("  \n".join(filter(None, [escape(in_common([curve])), escape(words(run))])))
    st.text_input(
        "Name",
        curve.name,
        max_chars=MAX_NAME,
        placeholder="Type a name",
        **keyed(f"{own}:name", partial(on_curve, curve.spec, rename)),
    )
    about = "Copies the settings of this curve into the controls. Change one and press Run."
    offered: list[tuple[str, str, Callable[[int], None], str | None]] = [
        ("Show", "visibility", hide, None) if curve.hidden else ("Hide", "visibility_off", hide, None),
        ("Copy settings", "content_copy", duplicate, about),
        ("Remove", "delete", remove, None),
    ]
    if run.state in ACTIVE:
        offered.append(("Cancel", "close", cancel_run, None))
    if curve.spec.privacy != "none" and len(e.curves) < MAX_CURVES and place(curve.spec.baseline()) is None:
        about = "The same algorithm on the same seeds, without noise."
        offered.append(("Add this run without privacy", "add", add_baseline, about))
    with st.container(horizontal=True, gap="xsmall"):
        for label, icon, action, help in offered:
            button(label, on_curve, curve.spec, action, icon=icon, key=f"{label}:{own}", help=help)


def identity(curves: Sequence[Curve], i: int) -> str:
    """Return a short name of the i-th curve for the keys of its widgets. A link may contain the same run twice."""
    specs = [curve.spec for curve in curves]
    return f"{text_digest(specs[i].to_json())}:{specs[:i].count(specs[i])}"


def place(spec: RunSpec) -> int | None:
    """Return the place of a curve in the comparison, None if it has been removed."""
    return next((i for i, curve in enumerate(session().explore.curves) if curve.spec == spec), None)


def on_curve(spec: RunSpec, action: Callable[..., None], *more: str) -> None:
    """Apply an action to the curve with this spec, unless it was removed meanwhile."""
    at = place(spec)
    if at is not None:
        action(at, *more)


def rename(at: int, text: str) -> None:
    """Name a curve; an empty name restores the label."""
    _put(at, name=clean_name(text))


def hide(at: int) -> None:
    """Hide a curve, or show it again."""
    _put(at, hidden=not session().explore.curves[at].hidden)


def remove(at: int) -> None:
    """Remove a curve from the comparison."""
    e = session().explore
    e.removed = at, e.curves.pop(at)
    seen = e.view.curve
    change_view(curve=View.curve if seen == at else seen - (seen > at))
    write_address(e)


def offer_undo() -> None:
    """Draw a button that restores the last removed curve, as long as the comparison has not changed otherwise."""
    e = session().explore
    if e.removed is None or len(e.curves) >= MAX_CURVES:
        return
    curve = e.removed[1]
    button(
        "Undo remove",
        bring_back,
        curve.spec,
        icon="undo",
        type="tertiary",
        key=f"undo:{identity([curve], 0)}",
    )


def bring_back(spec: RunSpec) -> None:
    """Restore the curve that was removed last to its place."""
    e = session().explore
    if e.removed is None or e.removed[1].spec != spec:  # the first of two clicks has already restored it
        return
    at, curve = e.removed
    e.curves.insert(at, curve)
    seen = e.view.curve
    change_view(curve=seen + (seen >= at))
    e.removed = None
    write_address(e)


def duplicate(at: int) -> None:
    """Copy a curve's settings to the controls."""
    s = session()
    s.draft = draft_of(s.explore.curves[at].spec)
    s.version += 1
    s.said = "The controls now show the settings of this curve. Change one and press Run."


def cancel_run(at: int) -> None:
    """Withdraw from a run; the curve stays, with the points computed so far."""
    s = session()
    cancel([s.explore.curves[at].spec], s.visitor)


def add_baseline(at: int) -> None:
    """Add the same run without privacy."""
    s = session()
    s.said = add(s.explore.curves[at].spec.baseline())
    write_address(s.explore)


def _put(at: int, **changes: Any) -> None:
    e = session().explore
    e.curves[at] = replace(e.curves[at], **changes)
    write_address(e)


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
