"""Attack: how much an attacker really finds out about one user, beside what is proved."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.privacy import PRIVATIZERS
from pages.attack import collusion, game, promise
from pages.attack.controls import attack_box, controls
from pages.attack.state import attack, attack_status, widgets
from pages.shared.controls.panel import sidebar
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common, head
from pages.shared.layout.share import share
from pages.shared.names import in_common
from pages.shared.results.again import save_citations
from pages.shared.results.status import ACTIVE, pace
from pages.shared.visitor.links import Curve
from pages.shared.visitor.state import read_address

PARTS = {
    "attack": ("Attack a release", game.game_part),
    "collusion": ("Two users collude", collusion.collusion_part),
    "promise": ("What a guarantee means", promise.part),
}


def main() -> None:
    a = attack()
    read_address(a)
    with st.sidebar:
        sidebar(controls, lambda found: attack_box(*found))
    corner = head(a)
    run = attack_status(a.spec)
    redrawn(partial(draw_part, corner), pace([run] if run.state in ACTIVE else []))


def draw_part(corner: DeltaGenerator, live: bool) -> None:
    """The part that is looked at, and in the corner the link to it. It redraws itself while an attack goes on."""
    a = attack()
    if live and attack_status(a.spec).state not in ACTIVE:
        st.rerun()
    run = a.spec.run
    known = [part for part in in_common([Curve(run)]).split(" · ") if not part.endswith(" seed")]
    declared = ["structure declared"] if run.structure else []
    common(" · ".join([*known, PRIVATIZERS[run.privacy].title, f"ε = {run.epsilon:g}", *declared]))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="attack_view"):
        shown = widgets.segments("Part", "show", {key: title for key, (title, _) in PARTS.items()})
    PARTS[shown][1]()
    save_citations([a.spec])
    with corner:
        share(a)


main()
