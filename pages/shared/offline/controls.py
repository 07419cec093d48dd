"""The controls of runs on data sets: who the data come from, learners, their budget and their noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dprl.learners import OFFLINE as OFFLINE_LEARNERS
from dprl.privacy.curator import PROMISES
from dprl.simulation.cost import COUNTERS, limit
from dprl.simulation.datasets import BEHAVIOURS
from dprl.simulation.offline_spec import FIELDS
from dprl.words import count
from pages.offline.view import BIGGEST
from pages.shared.controls.noise import CALIBRATION, CALIBRATION_HELP
from pages.shared.controls.panel import parameters
from pages.shared.controls.several import choose_several
from pages.shared.controls.widgets import complaint, exact, fold, into, locked, log_slider, select, stops
from pages.shared.offline import settings as offline_settings
from pages.shared.offline.settings import OfflineSettings
from pages.shared.text import escape
from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.state import Session, session

SPLITS = {"halves": "two halves, as in the paper", "whole": "whole, used twice"}
SPLIT_HELP = (
    "Halves: one half for the variance of values, the other half for the values. Whole: all trajectories for both, as "
    "in the paper's simulations. Less is then proved for noise as in the paper, and the tab Guarantee says what."
)


def redrawing(settings: OfflineSettings, name: str) -> Any:
    """Store one of the settings, on which other controls depend."""

    def store(value: Any) -> None:
        setattr(settings, name, value)
        session().version += 1

    return store


def behaviour(settings: OfflineSettings) -> None:
    """Draw the control of the policy behind the trajectories."""
    chosen = BEHAVIOURS[settings.behaviour]
    titles = {key: behaviour.title for key, behaviour in BEHAVIOURS.items()}
    select(
        "Behaviour policy",
        tuple(BEHAVIOURS),
        settings.behaviour,
        redrawing(settings, "behaviour"),
        titles,
        chosen.summary,
        "behaviour",
    )
    if (field := chosen.argument) is not None:

        def store(value: float) -> None:
            settings.arguments[chosen.key] = value

        now = settings.arguments.get(chosen.key, field.default)
        label = f"{field.name} {field.help}"
        exact(label[0].upper() + label[1:], f"behaviour.{chosen.key}", field, now, store)
        complaint(f"behaviour.{chosen.key}")
    if chosen.takes_policy:
        policy(settings)


def people(settings: OfflineSettings, help: str) -> None:
    """Draw the control of the number of trajectories."""
    log_slider(
        "Trajectories n",
        "n",
        FIELDS["n"],
        settings.n,
        into(settings, "n"),
        marks=[int(m) for m in stops(100, BIGGEST)],
        show=count,
        ends=("a few trajectories", "a trillion"),
        help=help,
    )


def policy(settings: OfflineSettings) -> None:
    """Draw the field of the policy that some of the users follow: a text, from Online or written here."""
    key = f"{session().version}:behaviour_policy"
    st.text_area(
        "Policy that these users follow",
        settings.policy,
        key=key,
        height="content",
        max_chars=int(limit(COUNTERS)),
        placeholder="011X12.001X8",
        on_change=on_value(key, into(settings, "policy")),
        help="Write a row for each step, with a digit for the action in each state. Join the rows by dots. X12 after a "
        "row repeats it for 12 steps. The tab Policy of Online writes such a text.",
        disabled=locked("behaviour"),
    )
    if not settings.policy:
        st.caption("The tab Policy of Online has a link to this page that fills in the policy shown there.")


def learners_menu(settings: OfflineSettings, options: list[str]) -> None:
    """Draw the menu of the offered learners."""
    settings.learners = [option for option in settings.learners if option in options] or options[:2]
    choose_several(
        "Algorithms",
        "learners",
        options,
        settings.learners,
        into(settings, "learners"),
        offline_settings.title,
        locked("compare"),
        help=" ".join(
            f"**{OFFLINE_LEARNERS[option].title}:** {escape(OFFLINE_LEARNERS[option].summary)}"
            for option in options
            if option in OFFLINE_LEARNERS
        ),
    )


def promise_menu(settings: OfflineSettings) -> None:
    """Draw the menu of guarantees."""
    offered = offline_settings.promises(settings.private)
    if settings.privacy not in offered:
        settings.privacy = offered[0]
    select(
        "Privacy budget",
        offered,
        settings.privacy,
        redrawing(settings, "privacy"),
        {key: PROMISES[key].title for key in offered},
        escape(PROMISES[settings.privacy].summary),
        "privacy",
    )


def deltas(settings: OfflineSettings) -> None:
    """Draw the field of the budget delta, if the guarantee has one."""
    if "delta" in PROMISES[settings.privacy].fields:
        exact("Privacy budget δ", "delta", FIELDS["delta"], settings.delta, into(settings, "delta"))
        complaint("delta")


def noise(settings: OfflineSettings) -> None:
    """Draw the controls of the noise's size, and of the split of the data."""
    offered = offline_settings.noise_sizes(settings)
    if settings.calibration not in offered:
        settings.calibration = offered[0]
    select(
        "Noise",
        offered,
        settings.calibration,
        into(settings, "calibration"),
        CALIBRATION,
        CALIBRATION_HELP,
        "calibration",
    )
    if any(offline_settings.knows(option) for option in settings.learners):
        select(
            "Mean rewards",
            tuple(offline_settings.REWARDS),
            settings.rewards,
            redrawing(settings, "rewards"),
            offline_settings.REWARDS,
            "Known: everybody may know the mean reward of each state and action. Learned: noise also hides each user's "
            "rewards, so the policy needs more data. Leave it at known if rewards are no secret.",
            "rewards",
        )
    if any(offline_settings.splits(option) for option in settings.learners):
        select(
            "Use of the data set",
            tuple(SPLITS),
            settings.split,
            into(settings, "split"),
            SPLITS,
            SPLIT_HELP,
            "calibration.split",
        )


def more(s: Session, settings: OfflineSettings, learners: Sequence[str], along: str = "") -> None:
    """Draw the settings that most visitors leave unchanged. learners: their constants are among the settings; along: a
    field that has several values elsewhere."""

    def settled() -> None:
        fields = {
            "seeds": "Data sets of each size",
            "root_seed": "Root seed",
            "beta": "Failure probability β",
        }
        if settings.private and along != "contribution":
            fields["contribution"] = "Most episodes of one user"
        for name, label in fields.items():
            exact(label, name, FIELDS[name], getattr(settings, name), into(settings, name))
            complaint(name)
        for key, constants in offline_settings.constants_by_family(learners).items():
            st.caption(f"Constants of {escape(OFFLINE_LEARNERS[key].title)}, with and without privacy")
            parameters(s, "algorithm", key, constants)

    fold("Expert settings", "more", settled)
