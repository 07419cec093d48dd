"""Online, the main page, where visitors change a setting and compare what privacy costs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.figures import looks
from dprl.learners import ALGORITHMS
from dprl.links import MAX_CURVES
from dprl.messages import filled, messages
from dprl.player import sizes_of
from dprl.runs.status import RunStatus
from dprl.simulation import RunSpec, answered
from dprl.simulation.replay import unplayable
from dprl.sitemap import PAGES
from dprl.words import percent
from pages.explore import look, tabs
from pages.explore.look import SAID, identity
from pages.explore.tabs import comparison_picture, drawn_there, played_page
from pages.shared.controls.launch import curve_box, run_curve
from pages.shared.controls.noise import noise, structure
from pages.shared.controls.panel import more, run_settings, sidebar
from pages.shared.controls.widgets import menu
from pages.shared.examples import EXAMPLES, ExploreExample
from pages.shared.layout.chart import files, make_again, save, tidy
from pages.shared.layout.frame import dark, redrawn
from pages.shared.layout.head import common, head, share, tab_bar
from pages.shared.layout.terms import escape, explained
from pages.shared.names import in_common, kinds, titles
from pages.shared.results import answers, data, status
from pages.shared.results.data import comes_along
from pages.shared.results.status import ACTIVE, ONLINE, cancel, words
from pages.shared.visitor.callbacks import button, into, keyed
from pages.shared.visitor.draft import draft_of
from pages.shared.visitor.links import AT_FIRST, MAX_NAME, Curve, View, clean_name, most_private
from pages.shared.visitor.state import add, ask, begin, read_address, session, write_address

PLAYER = messages("pages")["player"]


def chips(titles: list[str]) -> None:
    """Draw a chip with a legend symbol for each curve, buttons to keep drafts, and ready-made comparisons."""
    s = session()
    curves = s.explore.shown
    rules = []
    for i, (curve, kind) in enumerate(zip(curves, kinds(curves), strict=True)):
        button_of = f".st-key-chip_{i} button"
        rules.append(f"{button_of}::before {{ background-image: url({looks.swatch(kind, dark()).uri}); }}")
        if curve.hidden:
            rules.append(f"{button_of} {{ opacity: 0.5; text-decoration: line-through; }}")
    st.html(f"<style>{' '.join(rules)}</style>")
    # Use a new place at every other version; otherwise, the open menu of a removed curve would become the next curve's.
    place_of_chips = st.container() if s.version % 2 else nullcontext()
    with place_of_chips, st.container(horizontal=True, gap="xsmall", key="chips"):
        for i, (curve, title) in enumerate(zip(curves, titles, strict=True)):
            with st.container(key=f"chip_{i}", width="content"):
                if curve.draft:
                    name, about = f"{escape(title)}: **keep it**", SAID["keep"]
                    button(name, run_curve, curve.spec, key=f"keep{i}", help=about)
                else:
                    own = identity(s.explore.curves, i)
                    if opened := menu(escape(title), own):
                        with opened:
                            actions(curve, own)
        if (removed := s.explore.removed) and len(s.explore.curves) < MAX_CURVES:
            key = f"undo:{identity([removed[1]], 0)}"
            button("Restore the removed curve", bring_back, *removed, icon="undo", type="tertiary", key=key)
        if examples := menu("Examples", "examples", ":material/lightbulb:"):
            with examples:
                for example in EXAMPLES:
                    about, key = escape(example.say), f"example_{example.title}"
                    button(example.title, show_example, example, key=key, help=about, width="stretch")


def show_example(example: ExploreExample) -> None:
    """Show an example as the comparison and start its missing runs."""
    s = session()
    e = s.explore
    e.curves, e.view, e.removed, e.drafts, s.paused = list(example.curves), AT_FIRST, None, [], False
    s.draft = draft_of(e.curves[most_private(e.curves)].spec)
    s.version += 1
    ask(ONLINE.missing([curve.spec for curve in e.curves]), s.visitor)
    write_address(e)


def actions(curve: Curve, own: str) -> None:
    """Draw the actions for one curve. Widget keys contain `own`, as the index may change before a click."""
    s, spec, run = session(), curve.spec, ONLINE.status(curve.spec)
    st.caption("  \n".join(filter(None, [escape(in_common([curve])), escape(words(run))])))
    renamed = keyed(f"{own}:name", lambda text: change(spec, name=clean_name(text)))
    st.text_input("Name", curve.name, max_chars=MAX_NAME, placeholder="Type a name", **renamed)
    shown = ("Show", "visibility") if curve.hidden else ("Hide", "visibility_off")
    offered: list[tuple[str, str, Callable[[], object], str | None]] = [
        (*shown, partial(change, spec, hidden=not curve.hidden), None),
        ("Copy settings", "content_copy", partial(duplicate, spec), SAID["copy"]),
        ("Remove", "delete", partial(remove, spec), None),
    ]
    if run.state in ACTIVE:
        offered.append(("Cancel", "close", partial(cancel, [spec], s.visitor), None))
    baseline = spec.baseline()
    if spec != baseline and len(s.explore.curves) < MAX_CURVES and place(baseline) is None:
        offered.append(("Add this run without privacy", "add", partial(add_run, baseline), SAID["baseline"]))
    with st.container(horizontal=True, gap="xsmall"):
        for label, icon, action, help in offered:
            button(label, action, icon=icon, key=f"{label}:{own}", help=help)


def place(spec: RunSpec) -> int | None:
    """Return the index of a run's curve in the comparison, or None if it has been removed."""
    return next((i for i, curve in enumerate(session().explore.curves) if curve.spec == spec), None)


def change(spec: RunSpec, **changes: Any) -> None:
    """Change a run's curve, unless it has been removed in the meantime."""
    e = session().explore
    if (at := place(spec)) is not None:
        e.curves[at] = replace(e.curves[at], **changes)
        write_address(e)


def remove(spec: RunSpec) -> None:
    e, at = session().explore, place(spec)
    if at is not None:
        e.removed = at, e.curves.pop(at)
        seen = e.view.curve
        session().version += 1
        e.change(curve=View.curve if seen == at else seen - (seen > at))


def bring_back(at: int, curve: Curve) -> None:
    """Put the last removed curve back in its place."""
    e = session().explore
    if e.removed != (at, curve):  # the first click of a double click has already put it back
        return
    e.curves.insert(at, curve)
    e.removed = None
    session().version += 1
    e.change(curve=e.view.curve + (e.view.curve >= at))


def duplicate(spec: RunSpec) -> None:
    """Copy a curve's settings to the controls."""
    s = session()
    s.draft = draft_of(spec)
    s.version += 1
    s.said = SAID["copied"]


def add_run(spec: RunSpec) -> None:
    s = session()
    s.said = add(spec)
    write_address(s.explore)


def offer_page() -> None:
    """Offer a page for download once workers have prepared its runs, or explain why there is none."""
    s = session()
    curves = s.explore.visible
    st.markdown("**One page without a server**")
    if not curves:
        st.caption(PLAYER["hidden"])
        return
    reasons = list(filter(None, (unplayable(curve.spec) for curve in curves)))
    if reasons:
        st.caption(escape(f"{reasons[0]} {PLAYER['fixed']}"))
        return
    wanted = tuple(curve.spec for curve in curves)
    if s.taken != wanted:
        st.caption(PLAYER["about"])
        button("Prepare the page", into(s, "taken"), wanted, icon="play_circle", key="prepare_page")
        return
    try:
        sizes = [spec.replace(episodes=size) for spec in wanted for size in sizes_of(spec)]
        found = {spec: answers.replay(spec) for spec in sizes}
    except SpecError as error:
        st.caption(escape(f"{error} {PLAYER['fixed']}"))
        return
    ready = {spec: text for spec, text in found.items() if text is not None}
    if len(ready) < len(found):
        st.caption(filled(PLAYER["going"], done=percent(len(ready) / len(found))))
        return
    heading, view = PAGES["explore"].heading, s.explore.view
    other = drawn_there(view.measure) != view.measure
    means = view.statistic != "mean" or view.each != "off"
    true = {"opens": True, "other": other, "means": means}
    st.caption(" ".join(PLAYER[key] for key in true if true[key]))
    sentence = s.explore.sentence
    made = partial(played_page, heading, curves, view, lambda spec: answered(ready[spec]), sentence=sentence)
    save(file_name(wanted), "Download the page", made)


def file_name(specs: Sequence[RunSpec]) -> str:
    """Return a file name that shows how the runs of a page differ, such as riverswim-central-vs-local.html."""
    worlds = list(dict.fromkeys(ENVIRONMENTS[s.environment].called(s.environment_params) for s in specs))
    for field in ("privacy", "epsilon", "algorithm"):
        values = list(dict.fromkeys(f"{getattr(spec, field)}" for spec in specs))
        if len(values) > 1:
            break
    ways = [f"no-{field}" if value in ("none", "None") else value for value in values]
    name = "-".join(["-".join(worlds), "-vs-".join(ways[:4])])
    return f"{re.sub(r'[^a-z0-9.]+', '-', name.lower()).strip('-')}.html"


def data_tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Draw the downloads for the whole comparison, then the spec, code and command for one curve."""
    e = session().explore
    places = look.offered("download the data")
    if not places:
        return
    rows = list(zip(e.shown, kinds(e.shown), titles, runs, strict=True))
    shown = [rows[i] for i in places]
    specs = [curve.spec for curve, *_ in shown]
    # only their curves are bundled, and they have not been computed here yet
    lacking = [spec for spec in specs if comes_along(spec) and data.store().status(spec).state == "unknown"]
    if lacking:
        begin(lacking, session().visitor)
    known = [data.curves(spec) for spec in specs]
    drawn = [row for row, one in zip(shown, known, strict=True) if one.begun]
    best = [answers.v_star(curve.spec) for curve, *_ in drawn]
    draw = partial(comparison_picture, drawn, best, "cumulative", e.view.statistic)
    fixed = any(map(unplayable, specs))  # otherwise, *Share* offers the page without a server
    table = tidy([title for *_, title, _ in shown], known, "episode", "regret")
    files("regret", SAID["table"], table, specs, "Regret so far, compared", draw if fixed else None)
    st.markdown("## Reproduce it without this page", anchors=False)
    chosen = look.curve_menu("Curve", places, titles)
    make_again(e.shown[chosen].spec)


TABS = {
    "regret": ("Regret", tabs.regret_tab),
    "counts": ("Counts", look.counts_tab),
    "policy": ("Policy", look.policy_tab),
    "ellipsoid": ("Confidence set", look.ellipsoid_tab),  # for algorithms that use features
    "guarantee": ("Guarantee", tabs.guarantee_tab),
    "data": ("Data", data_tab),
}


def main() -> None:
    s = session()
    read_address(s.explore)
    with st.sidebar:
        sidebar(partial(run_settings, partial(more, first=(noise, structure))), curve_box)
    corner = head(s.explore)
    chips(titles(s.explore.shown))
    if not s.explore.shown:
        return
    with st.container():  # keeps its place when it is empty
        for example in EXAMPLES:
            if tuple(s.explore.shown) == example.curves:
                st.markdown(explained(example.say))
    common(in_common(s.explore.shown))
    redrawn(partial(draw_tab, corner), status.pace(look.going(look.statuses())))


def draw_tab(corner: DeltaGenerator, live: bool) -> None:
    """Draw the progress, the open tab, and its link in the corner; redraw until the last run has ended."""
    s = session()
    names, runs = titles(s.explore.shown), look.statuses()
    if live and (s.paused or not look.going(runs)):
        st.rerun()
    ONLINE.strip(look.progress(runs))
    featured = any(ALGORITHMS[curve.spec.algorithm].needs for curve in s.explore.visible)
    offered = {name: title for name, (title, _) in TABS.items() if name != "ellipsoid" or featured}
    shown = s.explore.view.tab if s.explore.view.tab in offered else "regret"
    with tab_bar(f"tab_{len(offered)}", offered, shown, lambda name: s.explore.change(tab=name)):
        _, draw = TABS[shown]
        draw(names, runs)
    with corner:
        share(s.explore, offer_page)


main()
