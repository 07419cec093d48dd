"""The replication bundle of a view whose runs come with the program, so that nothing is computed there but for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from dprl.simulation import Spec
from pages.shared.layout.frame import redrawn
from pages.shared.results import data, together
from pages.shared.results.again import named, offer_bundle


def redrawn_bundle(specs: Sequence[Spec], owner: str) -> None:
    """The bundle of runs, as a part that redraws itself while they are computed. owner: in whose name they are."""
    redrawn(lambda live: bundle_part(specs, owner, live), bundle_pace(specs, owner), "bundle")


def bundle_part(specs: Sequence[Spec], owner: str, live: bool) -> None:
    """The bundle, and how its runs stand. live: whether the part around it redraws itself."""
    state = _progress(specs, owner)
    if live != bool(state.active):
        st.rerun()
    if state.active or state.failed:
        together.strip(state, owner, lambda: None)
    offer_bundle(named(specs), owner)


def bundle_pace(specs: Sequence[Spec], owner: str) -> float | None:
    """Seconds between two looks at them; None where none of them goes on."""
    return together.PACE if _progress(specs, owner).active else None


def _progress(specs: Sequence[Spec], owner: str) -> together.Progress:
    lacking = [spec for spec in specs if not np.isfinite(data.ends(spec)).all()]
    return together.progress(specs, lacking, owner)
