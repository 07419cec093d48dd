"""The chart of the users needed under each kind of privacy, and the runs behind it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from dprl.figures import needs as figures
from dprl.metrics import search
from dprl.simulation import RunSpec
from dprl.words import human, interval, quoted, some
from pages.shared.controls.widgets import exact
from pages.shared.layout.chart import kept, show
from pages.shared.layout.terms import explained
from pages.shared.names import style_of
from pages.shared.results import answers
from pages.shared.results.runs import Progress
from pages.shared.results.status import line, price, stopped, working_out
from pages.shared.visitor.views import fields_of
from pages.tradeoffs import state as trade
from pages.tradeoffs import study as studies
from pages.tradeoffs.charts import run_address
from pages.tradeoffs.study import SweepView

ONLY = "{way} needs {users} users."
FEWEST = "{way} needs the fewest users, {users}."
FEWEST_LOOKED_AT = "{ways} needs at most {users} users, the fewest that we tried."
MANY_LOOKED_AT = "{ways} need at most {users} users, the fewest that we tried."


def target(study: SweepView) -> float:
    """Return the privacy cost per episode that the share of V* allows; NaN while V* is unknown."""
    v_star = answers.v_star(study.base)
    return np.nan if v_star is None else study.share / 100 * v_star


def wanted(study: SweepView) -> list[RunSpec]:
    """Return the runs that the visible chart needs now."""
    if study.show != "users":
        return list(study.sweep.specs)
    found: dict[RunSpec, None] = {}
    for way in study.searches if target(study) > 0 else ():
        users = trade.users_search(study, way, target(study))
        found |= dict.fromkeys(trade.pending(study, way, users))
    return list(found)


def needed(study: SweepView, state: Progress) -> None:
    """Draw the users needed under each kind of privacy until the privacy cost of an episode is small enough."""
    t = trade.trade()
    with st.columns(2)[0]:
        exact(
            "Privacy cost of an episode, at most % of V*",
            "share",
            fields_of(SweepView)["share"],
            study.share,
            lambda value: trade.change_sweep_view(share=value),
        )
    v_star = answers.v_star(study.base)
    if v_star is None:
        st.info(working_out("reward of an optimal episode"))
        return
    ways, level = tuple(study.searches), target(study)
    if v_star == 0:
        st.info("Every policy earns 0 here, so nothing can be lost.")
        return
    found = [trade.users_search(study, way, level) for way in ways]
    open_ = [way for way, users in zip(ways, found, strict=True) if users.pending is not None]
    if state.active:
        said = f"Searching over K: {len(ways) - len(open_)} of {len(ways)} found."
        line(1 - len(open_) / max(len(ways), 1), said, partial(trade.cancel_sweep, state.active))
    elif open_ and state.of("failed"):
        trade.strip(state)
    elif open_:
        why = (
            f"Each number comes from a search over K, with {study.base.seeds} seeds at each K. {len(open_)} of "
            f"{len(ways)} are not found yet; the next step needs {price([*state.lacking])}."
        )
        stopped(explained(why), "Search", "search", trade.start_sweep, "begin")
    if not ways:
        st.info(
            "None of this can be run: the lines above list the allowed values."
            if study.ways
            else "There is no private model to compare. Add one in the settings."
        )
        return
    times = multiples(study, found)
    rows = []
    for way, title, users in zip(ways, trade.way_titles(ways), found, strict=True):
        most = max(study.searches[way])
        if users.pending is not None:
            note = "searching"
        elif np.isnan(users.needed):
            note = f"more than {human(most)}"
        else:
            note = f"at most {human(users.needed)}" if fewest(study, way, users) else ""
        low, high = (users.low, users.high) if study.base.seeds > 1 else (np.nan, np.nan)
        kind = style_of(study.searches[way][most])
        rows.append(figures.UsersRow(title, kind, users.needed, low, high, note, times[way]))
    heading = f"Users until privacy costs below {study.share:g}% of V*"
    picture = kept(
        ("users", heading, study.base.to_json(), tuple(repr(row) for row in rows)),
        lambda night: figures.users_needed(
            rows,
            title=heading,
            most=float(studies.USERS_GRID[-1]),
            see=fewest_and_most(study, found),
            dark=night,
        ),
    )
    show(picture, "users")
    st.caption(
        explained(
            f"At ε = {study.base.epsilon:g} and δ = {human(study.base.delta or 0.0)} (δ = 0 for one-hot questions and "
            "for scaled noise), if one user is replaced. "
            f"V* is {v_star:.4g}. "
            f"{'Bars: 95% bootstrap intervals over seeds. ' if study.base.seeds > 1 else 'One seed has no interval. '}"
            "Each K has a separate run, with noise set for that K."
        )
    )
    looked_at(study, found, v_star)
    t.picked = None


def looked_at(study: SweepView, found: list[search.UsersFound], v_star: float) -> None:
    """Draw a table of every K that the search tried, with its run."""
    opened_up = st.expander("The runs behind these numbers", on_change="rerun", key="looked_at")
    if not opened_up.open:
        return
    rows = [
        {
            "model": trade.way_titles([way])[0],
            "K": human(float(k)),
            "price, % of V*": 100 * float(price.mean()) / v_star,
            "seeds": len(price),
            "run": run_address(runs[int(k)]),
        }
        for (way, runs), users in zip(study.searches.items(), found, strict=True)
        for k, price in zip(users.at, users.price.T, strict=True)
    ]
    opened_up.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width="stretch",
        key="looked_at_table",
        column_config={"run": st.column_config.LinkColumn("run", display_text="open")},
    )


def fewest(study: SweepView, way: str, users: search.UsersFound) -> bool:
    """Return whether the search ended at the smallest K, so that fewer users may be enough."""
    return users.needed == min(study.searches[way])


def multiples(study: SweepView, found: list[search.UsersFound]) -> dict[str, tuple[float, float, float]]:
    """Return the users that each model needs, as multiples of the fewest, with interval over seeds; NaN if unknown."""
    ways = dict(zip(study.searches, found, strict=True))
    best = min(found, key=lambda users: np.nan_to_num(users.needed, nan=np.inf))
    known = np.isfinite(best.needed) and not any(
        fewest(study, way, users) for way, users in ways.items() if np.isfinite(users.needed)
    )
    times = {}
    for way, users in ways.items():
        times[way] = (np.nan, np.nan, np.nan)
        if known and np.isfinite(users.needed):
            low, high = search.quantiles(users.resampled / best.resampled)
            if users is best or study.base.seeds == 1 or not np.isfinite(high):
                low = high = np.nan
            times[way] = (users.needed / best.needed, low, high)
    return times


def fewest_and_most(study: SweepView, found: list[search.UsersFound]) -> str:
    """Name the privacy model and mechanism that need the fewest users, and those that need the most."""
    titles = dict(zip(study.searches, map(quoted, trade.way_titles(tuple(study.searches))), strict=True))
    ways = dict(zip(study.searches, found, strict=True))
    ends = {way: users for way, users in ways.items() if np.isfinite(users.needed)}
    if len(ends) < 2 and any(users.pending for users in found):
        return "The search is not finished yet."
    if not ends:
        return "No privacy model reaches this, even with the most users that can be run."
    best, *others = sorted(ends, key=lambda way: ends[way].needed)
    few = [way for way in ends if fewest(study, way, ends[way])]
    least, most = human(ends[best].needed), others[-1:]
    if few:  # the smallest number of users is not known exactly, so there are no multiples of it
        template = FEWEST_LOOKED_AT if len(few) == 1 else MANY_LOOKED_AT
        said = [template.format(ways=some([titles[way] for way in few]), users=least)]
        said += [
            f"{titles[way]} needs {human(ends[way].needed)}, the most." for way in most if way not in few
        ]
    else:
        times = multiples(study, found)
        said = [(FEWEST if others else ONLY).format(way=titles[best], users=least)]
        for way in most:
            n, low, high = times[way]
            said.append(f"{titles[way]} needs {interval(f'{human(n)} times as many', low, high)}.")
    return " ".join(said)
