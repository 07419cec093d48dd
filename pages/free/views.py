"""The charts of "When is privacy free?"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from dprl.figures import growth, long_run, proved
from dprl.figures.growth import Decades
from dprl.figures.picture import Picture
from dprl.figures.proved import Proved
from dprl.privacy import PRIVATIZERS
from dprl.sentences import price as sentences
from dprl.theory import BOUNDS
from pages.free.link import DRAWABLE, MOST_BOUNDS, four_models
from pages.free.state import FIRST, PricedRun, free, run_status
from pages.free.theory import calculator_setting
from pages.shared.layout.chart import empty, kept, show
from pages.shared.layout.frame import dark
from pages.shared.layout.terms import explained
from pages.shared.names import style_of
from pages.shared.results.status import awaited
from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.state import session

SHOWN = {
    "price": "Privacy cost",
    "regret": "Regret",
    "growth": "Growth",
    "theory": "Bounds",
    "calculator": "Calculator",
}


def chart(runs: Sequence[PricedRun]) -> None:
    """The chart that the view asks for."""
    f = free()
    night, each = dark(), f.view.each == "on"
    tokens = tuple(run.regret.token for run in runs)
    if f.view.show == "theory":
        bounds_and_runs(runs, tokens, night)
    elif f.view.show == "growth":
        ready = [decades(run) for run in runs if run.decades]
        if ready:
            see = sentences.about_growth(ready)
            picture = kept(
                ("free-growth", night, tokens), lambda: growth.growth_exponents(ready, see=see, dark=night)
            )
            show(picture, "free_growth")
        else:
            no_runs_yet()
    else:
        drawn = [run for run in runs if f.view.show == "regret" or run.price is not None]
        if not drawn:
            no_runs_yet()
            return
        view: long_run.Measure = "regret" if f.view.show == "regret" else "price"
        picture = kept(
            ("free", view, each, night, tokens),
            lambda: over_episodes(drawn, view, each, night),
        )
        show(picture, f"free_{view}")


def over_episodes(runs: Sequence[PricedRun], view: long_run.Measure, each: bool, night: bool) -> Picture:
    """Regret, or its price, with what there is to see in it."""
    curves = [run.drawn(view) for run in runs]
    flat = [run.flat if view == "price" else None for run in runs]
    see = sentences.about_episodes(curves, view, flat)
    return long_run.long_run(curves, view=view, flat=flat, show_seeds=each, see=see, dark=night)


def bounds_and_runs(runs: Sequence[PricedRun], tokens: tuple[str, ...], night: bool) -> None:
    """Simulated regret with the chosen bounds beside it."""
    f = free()
    at = calculator_setting(f.view)
    S, A, H = at.S, at.A, at.H
    values = [f"S = {S:g}", f"A = {A:g}", f"H = {H:g}", f"ε = {at.epsilon:g}"]
    if any(BOUNDS[key].world != "tabular" for key in f.view.bounds):
        values.append(f"d = {at.d:g}")
    st.caption(
        explained(
            f"The bounds are at the calculator's values: {', '.join(values)}. "
            "**Constants and logarithms are set to 1: only slopes and ratios mean something.**"
        )
    )
    K = np.geomspace(FIRST, max(float(f.base.episodes), 10.0 * FIRST), 100)
    bounds = [
        Proved(
            f"{bound.title}, {PRIVATIZERS[bound.model].title}",
            short(bound.paper),
            bound.model,
            at.epsilon,
            K,
            bound.value(at.at(K)),
        )
        for bound in (BOUNDS[key] for key in f.view.bounds)
    ]
    picture = kept(
        ("free-theory", night, tokens, f.view.bounds, S, A, H, at.epsilon, at.d, f.base.episodes),
        lambda: proved.regret_beside_bounds(
            [run.drawn("regret") for run in runs], bounds, see=sentences.about_bounds(bounds), dark=night
        ),
    )
    show(picture, "free_theory")


def bounds_menu() -> None:
    """Which bounds are drawn."""
    with st.popover("Bounds to draw", icon=":material/tune:"):
        key = f"{session().version}:free:bounds"
        st.multiselect(
            f"Bounds, at most {MOST_BOUNDS}",
            DRAWABLE,
            list(free().view.bounds),
            format_func=bound_name,
            max_selections=MOST_BOUNDS,
            key=key,
            on_change=on_value(key, lambda chosen: free().change(bounds=tuple(chosen))),
            placeholder="Choose bounds",
        )


def short(paper: str) -> str:
    """A source for a legend: the paper itself, not the table it is quoted in."""
    return paper.partition(", in ")[0].partition(";")[0].replace("Theorem", "Thm.")


def bound_name(key: str) -> str:
    """A bound in a menu."""
    bound = BOUNDS[key]
    return f"{bound.title}, {PRIVATIZERS[bound.model].title}, {bound.paper}"


def decades(run: PricedRun) -> Decades:
    """The growth of one price as the figure wants it."""
    assert run.price is not None
    from_k, to_k, mean, low, high = np.array(
        [(d.from_k, d.to_k, d.mean, d.low, d.high) for d in run.decades]
    ).T
    seeds = np.array([d.seeds for d in run.decades])
    return Decades(
        run.label,
        style_of(run.curve.spec),
        from_k,
        to_k,
        mean,
        low,
        high,
        seeds,
        len(run.price.values),
        run.flat,
    )


def no_runs_yet() -> None:
    """What stands where the chart will be."""
    specs = [curve.spec for curve in four_models(free().base)[0]]
    empty(awaited(map(run_status, specs), specs))
