"""Home: its state for one visitor, its link, its bundled runs, and the story of six scenes above its chart.

The story's charts come with the program (`python -m bench.bundled start`), and its text from a file of messages.
assets/web/story.js draws it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import streamlit as st

from dprl import links, metrics
from dprl.assets import module_with_imports
from dprl.fields import SpecError
from dprl.figures.looks import color
from dprl.figures.style import DARK, LIGHT, Theme
from dprl.figures.trust import LEARNED, Cost
from dprl.messages import filled, messages
from dprl.metrics import search
from dprl.privacy import PRIVATIZERS
from dprl.sentences.price import rough_users
from dprl.simulation import RunSpec
from dprl.simulation.spec import FIELDS
from dprl.words import human, percent, rough
from pages.shared.examples import BASE, HOME_BUDGETS, HOME_EPISODES, trust
from pages.shared.layout.browser import component
from pages.shared.results import answers
from pages.shared.results.bundled import asset, bundled
from pages.shared.visitor.address import STORY, Query
from pages.shared.visitor.state import PageState, session

EPSILON = replace(FIELDS["epsilon"], optional=False)
LABEL = "Privacy budget (a smaller one hides more)"  # label of the slider
STOPS = tuple(f"ε = {epsilon:g}" for epsilon in HOME_BUDGETS)
NEEDED = f"Users until an average episode loses less than {LEARNED:.0%} of V*"


@dataclass
class Home(PageState):
    """The page's state for one visitor. drawn: the chart's (epsilon, dark theme); story: whether it shows the story
    above."""

    epsilon: float = EPSILON.default
    drawn: tuple[float, bool] = (EPSILON.default, False)
    story: bool = False
    begun: bool = False  # the slider writes the address itself

    @property
    def link(self) -> list[tuple[str, str]]:
        return link_to(self.epsilon)

    def follow(self, given: Query) -> None:
        """Apply the epsilon of a link."""
        if "eps" not in given:
            return
        problems: list[str] = []
        links.check_version(given, problems)
        epsilon = nearest(given["eps"][-1], problems)
        self.problems = tuple(problems)
        if epsilon != self.epsilon:  # otherwise the slider wrote it
            self.epsilon = epsilon
            session().version += 1


def link_to(epsilon: float) -> list[tuple[str, str]]:
    """Return the query parameters of the link to this page at an epsilon."""
    return [*links.link_heading(), ("eps", f"{epsilon:g}")]


def nearest(text: str, problems: list[str]) -> float:
    """Return the value of HOME_BUDGETS closest to a link's epsilon; add a sentence to `problems` if they differ."""
    epsilon: float = EPSILON.default
    try:
        wanted = EPSILON.parse(text)
        epsilon = min(HOME_BUDGETS, key=lambda e: abs(math.log(e / wanted)))
        if epsilon != wanted:
            problems.append(f"The slider has no ε = {wanted:g}, so it shows the nearest. Online runs any ε.")
    except SpecError as error:
        problems.append(str(error))
    return epsilon


@cache
def known(epsilon: float) -> list[Cost]:
    """Return the cost of each privacy model at an epsilon, from the bundled runs."""
    return [cost_of(curve.spec) for curve in trust(epsilon, HOME_EPISODES).curves]


def cost_of(spec: RunSpec) -> Cost:
    """Return one privacy model's curve, with the users after which it is below LEARNED."""
    run = bundled("home")[spec]
    average = metrics.per_episode(run.at, run.values)
    mean, low, high = metrics.regret_band(average)
    needed = search.stays_below(run.at.astype(float), mean, LEARNED * best())
    model = PRIVATIZERS[spec.privacy]
    return Cost(spec.privacy, model.title, model.words.given, run.at, mean, low, high, needed)


def best() -> float:
    """Return V* of the page's runs, which is known."""
    known = answers.v_star(BASE)
    assert known is not None
    return known


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
