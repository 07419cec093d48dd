"""Two users collude: one draw of noise for a whole counter hides nobody, and the tree mends it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dprl.figures import attack as figures
from dprl.sentences import attack as sentences
from pages.attack.state import attack, widgets
from pages.shared.layout.chart import empty, kept, show
from pages.shared.layout.frame import dark
from pages.shared.layout.terms import explained
from pages.shared.results import answers
from pages.shared.results.status import working_out

STEPS = {"one": "1. One noise for all", "subtract": "2. Two users subtract", "tree": "3. A tree"}
CHARTS = {
    "one": ("What each user is told", ("visits so far", "told")),
    "subtract": ("What two users read of the one between them", ("its visit", "read")),
    "tree": ("The same, where releases come from a tree", ("its visit", "read")),
}


def collusion_part() -> None:
    """One step of the story, and its chart."""
    a = attack()
    widgets.segments("Step", "step", STEPS)
    st.markdown(explained(sentences.STEPS[a.view.step]))
    found = answers.collusion(a.spec)
    if found is None:
        empty(working_out("what users give away who collude"))
        return
    step, night = a.view.step, dark()
    visits = np.array(found["visits"], float)
    users = np.arange(1, len(visits) + 1)
    told = np.cumsum(visits) + (np.array(found["tree"]) if step == "tree" else found["one"])
    if step == "one":
        who, true, seen = users, np.cumsum(visits), told
    else:
        # release t + 1, less release t - 1, less user t + 1's own visit
        who, true, seen = users[1:-1], visits[1:-1], told[2:] - told[:-2] - visits[2:]
    wrong = np.abs(seen - true)
    title, words = CHARTS[step]
    see = sentences.about_collusion(step, int((wrong < 1e-9).sum()), len(who), float(wrong.max()))
    names = [str(user) for user in who]
    key = ("collusion", step, night, a.spec.run.epsilon)
    show(
        kept(
            key,
            lambda: figures.collusion_bars(title, names, true, np.round(seen, 9), words, see=see, dark=night),
        ),
        "collusion",
    )
    st.caption(
        explained(
            f"One counter, {len(visits)} users, ε = {a.spec.run.epsilon:g} for this counter alone. After Vietri et al. "
            "(2020), section 2.2."
        )
    )
