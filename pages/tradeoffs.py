"""Trade-offs: what privacy costs against epsilon, K and the size of the problem, for several models at once."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl import links, metrics, search, studies
from dprl.algorithms import ALGORITHMS
from dprl.figures import tradeoff as figures
from dprl.figures.style import human, quoted
from dprl.links import Curve, View
from dprl.simulation import RunSpec
from dprl.simulation.sweep import Model
from dprl.studies import Study
from pages.parts import data, trade, trade_controls
from pages.parts.browser import copy_link, settings_button
from pages.parts.chart import kept, show
from pages.parts.export import save
from pages.parts.frame import dark, guarded, required
from pages.parts.names import in_common
from pages.parts.reading import words_and_papers
from pages.parts.state import ask, session
from pages.parts.status import act
from pages.parts.text import count, duration, escape, plural, significant
from pages.parts.widgets import complaint, exact

SHOWS = {"price": "Price of privacy", "regret": "Regret", "users": "Users needed", "table": "Table"}
SYMBOLS = {"epsilon": "ε", "episodes": "K"}
LINKED = {"run": st.column_config.LinkColumn("run", display_text="open")}
PACE = 0.5  # seconds between two looks at what is running


def main() -> None:
    trade.trade()
    trade.read_address()
    t = trade.trade()
    with st.sidebar:
        trade_controls.panel()
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key="page_head"
    ):
        st.title("Trade-offs", anchor=False, width="content")
        with st.container(horizontal=True, wrap=False, gap="xsmall", width="content"):
            settings_button()
            corner = st.container(width="content")
    if t.problems:
        told = " ".join(escape(p) for p in t.problems[:3]) + (
            " There was more." if len(t.problems) > 3 else ""
        )
        st.warning(
            f"Not all of this link could be used; the rest is shown. {told}", icon=":material/link_off:"
        )
    st.caption(escape(common(t.study)))
    busy = bool(trade.going(wanted(t.study)).active)
    st.fragment(results, run_every=PACE if busy else None)(busy, corner)
    words_and_papers()


def common(study: Study) -> str:
    """What all points share, in words."""
    base = study.base
    said = in_common([Curve(base.twin())]).split(" · ")
    if study.x == "episodes" or study.show == "users":
        said = [part for part in said if not part.startswith("K = ")]
    if study.x in base.environment_params and study.show != "users":
        said = [re.sub(rf"\b{study.x} = [^,)]*(, )?", "", part) for part in said]
    if base.epsilon is not None and (study.x != "epsilon" or study.show == "users"):
        said.append(f"ε = {base.epsilon:g}")
    if base.delta is not None:
        said.append(f"δ = {human(base.delta)}")
    return " · ".join([ALGORITHMS[base.algorithm].title, *said])


def wanted(study: Study) -> list[RunSpec]:
    """The runs that the chart shown needs now."""
    if study.show != "users":
        return list(study.sweep.specs)
    found: dict[RunSpec, None] = {}
    for way in study.ways:
        search = trade.users(study, way, target(study))
        found |= dict.fromkeys(trade.pending(study, way, search))
    return list(found)


def target(study: Study) -> float:
    """The price per episode that the share of V* allows."""
    return study.share / 100 * data.v_star(study.base)


@guarded
def results(live: bool, corner: DeltaGenerator) -> None:
    """Progress and the chart. While something runs this part redraws itself; its end stops that."""
    t = trade.trade()
    study = t.study
    runs = wanted(study)
    if study.show == "users" and t.asked:
        for spec in runs:
            if data.status(spec, trade.visitor()).state == "unknown":
                ask(data.store().request, spec, trade.visitor())
    state = trade.going(runs)
    if live != bool(state.active):
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="trade_view"):
        key = f"{session().version}:show"
        st.segmented_control(
            "What is drawn",
            list(SHOWS),
            default=study.show,
            format_func=SHOWS.__getitem__,
            required=True,
            key=key,
            on_change=lambda: turn(str(st.session_state[key])),
            label_visibility="collapsed",
        )
    for refusal in trade.refusals(study):
        st.caption(f":material/info: Left out: {escape(refusal)}")
    if study.show == "users":
        needed(study, state)
    else:
        strip(state)
        if study.show == "table":
            table(study)
        else:
            chart(study)
    with corner:
        copy_link(t.query)


def turn(to: str) -> None:
    """Another chart is chosen."""
    t = trade.trade()
    begun = t.asked
    trade.look(show=to)
    if begun:
        trade.start()
    st.rerun()


def strip(state: trade.Going) -> None:
    """How the runs stand, as one."""
    if state.active:
        with st.container(
            key="status_going", horizontal=True, wrap=False, vertical_alignment="center", gap="small"
        ):
            said = (
                f"**{plural(state.runs, 'run')}** · {state.seeds_done} of {plural(state.seeds, 'seed')} finished, "
                f"{duration(state.seconds_left)} left."
            )
            st.progress(min(1.0, state.progress), said, width="stretch")
            act("Cancel", "close", partial(cancel, state.active), "cancel")
    elif state.failed:
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
            _, run = state.failed[0]
            st.markdown(
                f":material/error: {plural(len(state.failed), 'run')} failed. {escape(run.message)}",
                width="stretch",
            )
            act("Try again", "replay", partial(again, [spec for spec, _ in state.failed]), "retry")
    elif state.stopped:
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
            st.markdown(
                f":material/info: {plural(state.stopped, 'run')} of {state.runs} not computed.",
                width="stretch",
            )
            act("Run them", "play_arrow", begin, "begin")


def begin() -> None:
    """Asks for what is missing, also of a search."""
    trade.start()


def cancel(specs: tuple[RunSpec, ...]) -> None:
    """Withdraws from all runs at once; what is finished stays."""
    trade.trade().asked = False
    for spec in specs:
        ask(data.store().cancel, spec, trade.visitor())


def again(specs: list[RunSpec]) -> None:
    """Asks for runs again that failed."""
    for spec in specs:
        ask(data.store().retry, spec, trade.visitor())


def chart(study: Study) -> None:
    """The frontier, and what was pressed of it."""
    curves = trade.frontiers(study)
    if not any(np.isfinite(c.mean).any() for c in curves):
        with st.container(
            border=True, height=300, horizontal_alignment="center", vertical_alignment="center"
        ):
            st.markdown(
                "The first points appear in a moment." if curves else "Without privacy there is no price."
            )
        return
    night = dark()
    symbol = SYMBOLS.get(study.x, study.x)
    title = trade_controls.AXES.get(study.x, study.x)
    parts = tuple(
        (c.label, c.slot, c.mean.tobytes(), c.seeds.tobytes(), np.asarray(c.x).tobytes()) for c in curves
    )
    picture = kept(
        ("frontier", study.show, symbol, night, parts),
        lambda: figures.frontier(
            curves,
            measure="price" if study.show == "price" else "regret",
            axis=f"{title[0].upper()}{title[1:]}",
            symbol=symbol,
            extra=[order(study)],
            dark=night,
        ),
    )
    show(picture, "frontier", picked=pressed)
    opened(study)


def order(study: Study) -> str:
    """The sentence on larger epsilon, for a figure."""
    return trade.order(study)


def pressed() -> None:
    """A point was pressed: it is looked at closely below the chart."""
    points = st.session_state["frontier"]["selection"]["points"]
    t = trade.trade()
    curves = trade.frontiers(t.study)
    for point in points:
        found = point.get("customdata")
        if found is not None and len(found) >= 2:
            models = [m for m in t.study.models if not (t.study.show == "price" and m == "none")]
            model = t.study.models.index(models[int(found[0])])
            t.picked = (model, int(found[1])) if int(found[0]) < len(curves) else None
            return
    t.picked = None


def opened(study: Study) -> None:
    """The run of the point that was pressed, and the way to it."""
    t = trade.trade()
    if t.picked is None:
        st.caption("Press a point to open its run in Explore.")
        return
    model, at = t.picked
    runs = [(x, spec) for x, spec in trade.points(study, study.models[model]) if spec is not None]
    if at >= len(runs):
        return
    x, spec = runs[at]
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small", key="picked"):
        ends = trade.ends(spec)
        mean = significant(float(ends.mean()))
        name = trade.titles(study.models)[model]
        st.markdown(
            f"**{escape(name)}**, {SYMBOLS.get(study.x, escape(study.x))} = {count(x) if x >= 1 else f'{x:g}'}: "
            f"regret {mean} after {count(spec.episodes)} users.",
            width="stretch",
        )
        way_to_explore(spec, "Open this run in Explore")


def with_twin(spec: RunSpec) -> list[Curve]:
    """A run beside the same without privacy."""
    twin = spec.twin()
    return [Curve(spec)] if spec == twin else [Curve(spec), Curve(twin)]


def explore(spec: RunSpec) -> str:
    """The address of a run in Explore."""
    return f"/explore?{links.query(with_twin(spec), View())}"


def way_to_explore(spec: RunSpec, label: str) -> None:
    """A link to a run and its non-private twin."""
    st.page_link(
        "pages/explore.py",
        label=label,
        icon=":material/show_chart:",
        query_params=links.encode(with_twin(spec), View()),
    )


def table(study: Study) -> None:
    """Every point in numbers, each with its run; and the downloads."""
    rows = []
    for model, title in zip(study.models, trade.titles(study.models), strict=True):
        for x, spec in trade.points(study, model):
            if spec is None:
                continue
            ends = trade.ends(spec)
            known = ends[np.isfinite(ends)]
            mean, low, high = (float(v[0]) for v in metrics.regret_band(known.reshape(-1, 1)))
            price = ends - trade.ends(spec.twin())
            price = price[np.isfinite(price)]
            extra, extra_low, extra_high = (float(v[0]) for v in metrics.regret_band(price.reshape(-1, 1)))
            rows.append(
                {
                    "model": title,
                    SYMBOLS.get(study.x, study.x): x,
                    "regret": mean,
                    "regret low": low,
                    "regret high": high,
                    "price": extra,
                    "price low": extra_low,
                    "price high": extra_high,
                    "% of K·V*": 100 * mean / (spec.episodes * data.v_star(spec)),
                    "seeds": len(known),
                    "run": explore(spec),
                }
            )
    st.caption(
        "Low and high are 95% t intervals of the mean over seeds; price is regret beyond the run without privacy."
    )
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width="stretch",
        key="trade_table",
        column_config={
            **LINKED,
            **{
                name: st.column_config.NumberColumn(name, format="%.4g")
                for name in (
                    "regret",
                    "regret low",
                    "regret high",
                    "price",
                    "price low",
                    "price high",
                    "% of K·V*",
                )
            },
        },
    )
    sweep = study.sweep
    final = {spec: trade.ends(spec) for spec in sweep.specs}
    with st.container(horizontal=True, gap="small"):
        save(
            "sweep.csv",
            "CSV, every seed",
            "text/csv",
            lambda: sweep.frame(final).dropna().to_csv(index=False),
        )
        save("sweep.json", "sweep.json", "application/json", lambda: json.dumps(sweep.to_dict(), indent=2))
    st.caption("The same on the command line, from sweep.json; it writes sweep.csv:")
    st.code("python -m dprl sweep --spec sweep.json --out results", language="bash")


def needed(study: Study, state: trade.Going) -> None:
    """How many users each way to be private needs until an episode of it costs little."""
    t = trade.trade()
    with st.columns([2, 3])[0]:
        exact(
            "Privacy may cost an episode this many percent of V*", "share", studies.SHARE, study.share, share
        )
        complaint("share")
    v_star = data.v_star(study.base)
    ways, level = study.ways, target(study)
    found = [trade.users(study, way, level) for way in ways]
    open_ = [way for way, users in zip(ways, found, strict=True) if users.pending is not None]
    if state.active:
        with st.container(
            key="status_going", horizontal=True, wrap=False, vertical_alignment="center", gap="small"
        ):
            st.progress(
                1 - len(open_) / max(len(ways), 1),
                f"Searching over K: {len(ways) - len(open_)} of {len(ways)} found.",
                width="stretch",
            )
            act("Cancel", "close", partial(cancel, state.active), "cancel")
    elif open_ and state.failed:
        strip(state)
    elif open_:
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
            st.markdown(
                f"Each number is found by a search over K, with {study.base.seeds} seeds at each K looked at. "
                f"{len(open_)} of {len(ways)} are still to be found.",
                width="stretch",
            )
            act("Search", "search", begin, "begin")
    if not ways:
        st.info("There is no private model to compare. Add one in the settings.")
        return
    rows = []
    for way, slot, title, users in zip(ways, trade.slots(ways), way_titles(ways), found, strict=True):
        most = studies.USERS_GRID[-1]
        note = "searching" if users.pending is not None else f"more than {human(most)}"
        rows.append(
            figures.Need(title, Model.parse(way).privacy, slot, users.needed, users.low, users.high, note)
        )
    night = dark()
    heading = f"Users until privacy costs below {study.share:g}% of V*"
    picture = kept(
        ("users", night, heading, study.base.to_json(), tuple(repr(row) for row in rows)),
        lambda: figures.users(
            rows,
            title=heading,
            most=float(studies.USERS_GRID[-1]),
            see=compare(study, found),
            dark=night,
        ),
    )
    show(picture, "users")
    st.caption(
        f"At ε = {study.base.epsilon:g}, δ = {human(study.base.delta or 0.0)} (δ = 0 where scaled), replace-one. "
        f"V* is {v_star:.4g}. Bars: 95% bootstrap intervals over seeds. "
        "Each K is a run of its own, with noise set for that K."
    )
    looked_at(study, found)
    t.picked = None


def looked_at(study: Study, found: list[search.Users]) -> None:
    """Every K that the search looked at, each with its run."""
    opened_up = st.expander("The runs behind these numbers", on_change="rerun", key="looked_at")
    if not opened_up.open:
        return
    v_star = data.v_star(study.base)
    rows = [
        {
            "model": title,
            "K": human(float(k)),
            "price, % of V*": 100 * float(price.mean()) / v_star,
            "seeds": len(price),
            "run": explore(study.at(way, int(k))),
        }
        for way, title, users in zip(study.ways, way_titles(study.ways), found, strict=True)
        for k, price in zip(users.at, users.price.T, strict=True)
    ]
    opened_up.dataframe(
        pd.DataFrame(rows), hide_index=True, width="stretch", key="looked_at_table", column_config=LINKED
    )


def way_titles(ways: tuple[str, ...]) -> list[str]:
    """What each way is called: model and mechanism."""
    return [text[0].upper() + text[1:] for text in (Model.parse(way).title for way in ways)]


def compare(study: Study, found: list[search.Users]) -> str:
    """How many times fewer users the best needs than each of the others of its model, with intervals."""
    ways = dict(zip(study.ways, found, strict=True))
    titles = dict(zip(study.ways, way_titles(study.ways), strict=True))
    ends = {way: users for way, users in ways.items() if np.isfinite(users.needed)}
    if len(ends) < 2:
        return "The search is not finished yet." if any(u.pending for u in found) else "Nothing to compare."
    best = min(ends, key=lambda way: ends[way].needed)
    said = []
    for way, users in sorted(ends.items(), key=lambda item: item[1].needed):
        if way == best:
            continue
        low, high = search.quantiles(users.resampled / ends[best].resampled)
        between = f" ({human(low)} to {human(high)})" if np.isfinite(high) else ""
        said.append(f"{quoted(titles[way])} {human(users.needed / ends[best].needed)} times as many{between}")
    return f"{quoted(titles[best])} needs {human(ends[best].needed)} users; " + ", ".join(said) + "."


def share(value: Any) -> None:
    """Another share of V*: what is known is shown, and searched on where a search was begun."""
    trade.look(share=value)


required(__file__)
main()
