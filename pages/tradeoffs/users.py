"""How many users each way to be private needs, and the runs behind the answer."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dprl import search, studies
from dprl.figures import tradeoff as figures
from dprl.figures.style import human, quoted
from dprl.simulation.sweep import Model
from dprl.studies import Study
from pages.shared import data
from pages.shared.chart import kept, show
from pages.shared.controls.widgets import complaint, exact
from pages.shared.frame import dark
from pages.shared.status import act
from pages.tradeoffs import state as trade
from pages.tradeoffs.points import LINKED, explore
from pages.tradeoffs.status import begin, cancel, strip


def target(study: Study) -> float:
    """The price per episode that the share of V* allows."""
    return study.share / 100 * data.v_star(study.base)


def needed(study: Study, state: trade.Going) -> None:
    """How many users each way to be private needs until an episode of it costs little."""
    t = trade.trade()
    with st.columns(2)[0]:
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
