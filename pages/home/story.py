"""Home: the story of six scenes above the chart, and whether it is shown.

Its charts come with the program (`python -m bench.bundled start`), and its text from a file of messages.
assets/web/story.js draws it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import streamlit as st

from dprl.assets import module_with_imports
from dprl.figures.looks import color
from dprl.figures.style import DARK, LIGHT, Theme
from dprl.messages import filled, messages
from dprl.sentences.price import rough_users
from dprl.words import human, percent, rough
from pages.home.state import Home, known
from pages.shared.layout.browser import component
from pages.shared.results.bundled import asset
from pages.shared.visitor.address import STORY
from pages.shared.visitor.state import session

ORDER = ("day", "count", "attack", "noise", "learn", "trust")
TRUST_EPSILON = 1.0  # for the scene that compares three ways to add noise
DECADES = {users: human(users) for users in (1.0, 1e3, 1e6)}  # labels of axes of users and of counts
LOST = (0.0, 0.5, 1.0)

Said = dict[str, Any]
_story = component("story", js=module_with_imports("story.js", "story_parts.js", "story_scenes.js"))


def is_told(h: Home) -> bool:
    """Return whether to show the story: not to visitors who follow a link or see an embedded page, who want the chart.
    After a reload, the address shows whether the slider was used below the story."""
    s = session()
    if s.arrived or not st.query_params:  # otherwise the slider wrote the address
        h.story = (not st.query_params or STORY in st.query_params) and not st.context.is_embedded
    return h.story


def tell() -> None:
    """Draw the six scenes of the story."""
    with st.container(key="story"):
        _story(data=story_content(), key="start")


@cache
def story_content() -> Said:
    """Return all data and texts of the scenes."""
    run, said = asset("start"), messages("start")
    words = {name: said[name] for name in ("bar", "picture")}
    words |= dict(
        zip(ORDER, (_day(run), _count(run), _attack(run), said["noise"], _learn(run), _trust()), strict=True)
    )
    return {
        "order": ORDER,
        "own": "data",
        "run": {name: part for name, part in run.items() if name != "spec"},
        "words": words,
        "first": run["noise"]["first"],
        "noise": _racing(run["noise"]),
        "learn": _learning(run["learning"]),
        "colors": _colors(),
    }


def _scene_with(scene: str, fields: dict[str, dict[str, str]]) -> Said:
    """Return the texts of a scene. fields: values for the placeholders in its messages."""
    said: Said = messages("start")[scene]
    return said | {name: filled(said[name], **given) for name, given in fields.items()}


def _day(run: Said) -> Said:
    steps, places = str(run["steps"]), str(run["places"])
    return _scene_with("day", {"say": {"steps": steps}, "alt": {"steps": steps, "places": places}})


def _count(run: Said) -> Said:
    paths: Sequence[str] = run["paths"]
    most = max(max(Counter(at).values()) for at in zip(*paths, strict=True))
    return _scene_with("count", {"alt": {"users": str(len(paths)), "most": str(most)}})


def _attack(run: Said) -> Said:
    paths: Sequence[str] = run["paths"]
    users, others, same = str(len(paths)), str(len(paths) - 1), str(paths.count(paths[-1]))
    return _scene_with(
        "attack",
        {
            "all": {"users": users},
            "others": {"others": others},
            "only": {"users": users, "same": same},
            "alt": {"users": users, "others": others, "same": same},
        },
    )


def _learn(run: Said) -> Said:
    learned = run["learning"]
    epsilon, users = f"{learned['epsilon']:g}", human(learned["users"][-1])
    first, last = percent(learned["lost"][0]), percent(learned["lost"][-1])
    told = {"epsilon": epsilon, "first": first, "last": last, "users": users}
    return _scene_with("learn", {"private": {"epsilon": epsilon}, "alt": told})


def _trust() -> Said:
    needed = {cost.model: rough_users(cost.needed) for cost in known(TRUST_EPSILON) if cost.model != "none"}
    said = _scene_with("trust", {"say": {"epsilon": f"{TRUST_EPSILON:g}"}, "alt": needed})
    return said | {"needs": [filled(said["needs"], users=users) for users in needed.values()]}


def _racing(noise: Said) -> Said:
    """Return the texts of the noise scene for each epsilon."""
    said = messages("start")["noise"]
    values, spoken, now, alts = [], [], [], []
    for i, std in enumerate(noise["std"]):
        private = i < len(noise["epsilons"])
        epsilon = f"{noise['epsilons'][i]:g}" if private else ""
        values.append(filled(said["value"], epsilon=epsilon) if private else said["none"])
        spoken.append(filled(said["spoken"], epsilon=epsilon, std=rough(std)) if private else said["none"])
        counts = [
            {"users": human(users), "true": f"{true:,}", "noisy": f"{noisy:,}".replace("-", "−")}
            for users, true, noisy in zip(noise["users"][i], noise["true"][i], noise["noisy"][i], strict=True)
        ]
        now.append([filled(said["now"], **one) for one in counts])
        alt = filled(said["alt"], epsilon=epsilon, std=rough(std), **counts[-1]) if private else said["bare"]
        alts.append(alt)
    return {
        "slider": {"label": said["slider"], "ends": said["ends"], "words": values, "spoken": spoken},
        "now": now,
        "alts": alts,
        "deviations": [filled(said["deviation"], std=rough(std)) for std in noise["std"]],
        "users": [*DECADES.items()],
        "counts": [(value, said["below"] if value == 1 else words) for value, words in DECADES.items()],
    }


def _learning(learned: Said) -> Said:
    """Return the texts of the learning scene for each number of users."""
    said = messages("start")["learn"]
    moments = [
        {"users": human(users), "lost": percent(lost), "baseline": percent(baseline)}
        for users, lost, baseline in zip(learned["users"], learned["lost"], learned["baseline"], strict=True)
    ]
    return {
        "slider": {
            "label": said["slider"],
            "words": [one["users"] for one in moments],
            "spoken": [filled(said["spoken"], users=one["users"], lost=one["lost"]) for one in moments],
        },
        "now": [filled(said["now"], **one) for one in moments],
        "users": [*DECADES.items()],
        "lost": [(share, f"{share:.0%}") for share in LOST],
    }


def _colors() -> dict[str, tuple[str, str]]:
    """Return the colours of the scenes as pairs for the light and the dark theme."""
    day, night = map(_colors_of, (LIGHT, DARK))
    return {name: (day[name], night[name]) for name in day}


def _colors_of(theme: Theme) -> dict[str, str]:
    amount = [shade for _, shade in theme.amount]
    return {
        "count": amount[-2],  # the last shade is nearly black, like the true count
        "ground": amount[0],
        "scale": amount[1],
        "less": theme.counts[0][1],
        "reward": theme.roles["optimal"],
        "true": theme.roles["true"],
        "noisy": theme.roles["noisy"],
        "private": color("central", 1.0, theme is DARK),
        "bare": theme.none,
        "action0": theme.actions[0],
        "action1": theme.actions[1],
        "muted": theme.muted,
    }
