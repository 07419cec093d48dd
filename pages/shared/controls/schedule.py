"""The control of a learner's policy updates."""

from __future__ import annotations

from dprl.simulation.schedules import adaptive, geometric
from dprl.simulation.schedules.episodic import LIMIT as EPISODIC_LIMIT
from pages.shared.controls.widgets import complaint, exact, select, setter
from pages.shared.visitor.state import Session

GEOMETRIC, ADAPTIVE = "geometric", "adaptive"


def schedule(s: Session) -> None:
    """Draw the control of the learner's policy updates: after every user, or after blocks that grow."""
    kind, _, argument = s.draft.schedule.partition(":")
    growth = {GEOMETRIC: geometric.ETA, ADAPTIVE: adaptive.ETA}

    def chosen(word: str) -> None:
        s.draft.schedule = f"{word}:{growth[word].default:g}" if word in growth else word
        if word == "episodic":
            s.draft.episodes = min(s.draft.episodes, EPISODIC_LIMIT)
        s.version += 1

    select(
        "Policy updates",
        (ADAPTIVE, GEOMETRIC, "episodic"),
        kind,
        chosen,
        {
            ADAPTIVE: "after blocks that adapt",
            GEOMETRIC: "after blocks that grow",
            "episodic": "after every user (K ≤ 10⁶)",
        },
        "Blocks grow as was fixed before the run, or adapt to the releases: choosing them leaks nothing.",
        "schedule",
    )
    if kind in growth:
        eta, _, most = argument.partition(":")
        exact(
            "Growth η of a block",
            "schedule",
            growth[kind],
            float(eta),
            lambda value: setter("schedule")(":".join([kind, f"{value:g}", *filter(None, [most])])),
        )
        complaint("schedule")
