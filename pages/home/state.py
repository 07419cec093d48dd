"""The state of the Home page for one visitor, its link, its bundled runs, and the story above its chart."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import streamlit as st

from dprl import links
from dprl.assets import module_with_imports
from dprl.figures.looks import color
from dprl.figures.style import DARK, LIGHT, Theme
from dprl.figures.trust import LEARNED, Cost
from dprl.messages import filled, messages
from dprl.metrics import search
from dprl.metrics.curves import regret_band
from dprl.privacy import PRIVATIZERS
from dprl.sentences.price import rough_users
from dprl.simulation.spec import FIELDS
from dprl.words import human, percent, rough
from pages.shared.examples import BASE, HOME_BUDGETS, HOME_EPISODES, trust
from pages.shared.layout.browser import component
from pages.shared.results import answers
from pages.shared.results.data import asset, bundled
from pages.shared.visitor.address import STORY, Query
from pages.shared.visitor.state import PageState, session

EPSILON = replace(FIELDS["epsilon"], optional=False)
LABEL = "Privacy budget (a smaller one hides more)"
STOPS = tuple(f"ε = {epsilon:g}" for epsilon in HOME_BUDGETS)
NEEDED = f"Users needed before an average episode loses less than {LEARNED:.0%} of V*"


@dataclass
class Home(PageState):
    """The state of the Home page for one visitor."""

    epsilon: float = EPSILON.default
    drawn: tuple[float, bool] = (EPSILON.default, False)  # the chart's epsilon, and whether it is dark
    story: bool = False  # whether the story is shown
    begun: bool = False  # the slider itself writes the address

    @property
    def link(self) -> list[tuple[str, str]]:
        return link_to(self.epsilon)

    def follow(self, given: Query, problems: list[str]) -> None:
        """Apply the epsilon given in a link."""
        if (text := links.last(given, "eps")) is not None:
            before, self.epsilon = self.epsilon, nearest(text, problems)
            session().version += before != self.epsilon  # otherwise, the slider wrote this link


def link_to(epsilon: float) -> list[tuple[str, str]]:
    """Return the query parameters of the link that opens this page at an epsilon."""
    return [*links.link_heading(), ("eps", f"{epsilon:g}")]


def nearest(text: str, problems: list[str]) -> float:
    """Return the value of HOME_BUDGETS closest to a link's epsilon; add a sentence to `problems` if they differ."""
    wanted = links.checked(EPSILON, text, EPSILON.default, problems)
    epsilon = min(HOME_BUDGETS, key=lambda e: abs(math.log(e / wanted)))
    if epsilon != wanted:
        here = f"so this page shows ε = {epsilon:g}. The Online page can run any ε."
        problems.append(f"The slider has no position for ε = {wanted:g}, {here}")
    return epsilon


@cache
def known(epsilon: float) -> list[Cost]:
    """Return the cost of each privacy model at an epsilon, from the bundled runs."""
    costs = []
    for curve in trust(epsilon, HOME_EPISODES).curves:
        run, model = bundled("home")[curve.spec], PRIVATIZERS[curve.spec.privacy]
        mean, low, high = regret_band(run.values / run.at)
        needed = search.stays_below(run.at.astype(float), mean, LEARNED * best())
        costs.append(Cost(model.key, model.title, model.words.given, run.at, mean, low, high, needed))
    return costs


def best() -> float:
    """Return the V* of the page's runs."""
    known = answers.v_star(BASE)
    assert known is not None
    return known


ORDER = ("day", "count", "attack", "noise", "learn", "trust")
TRUST_EPSILON = 1.0  # for the scene that compares three ways to add noise
DECADES = {users: human(users) for users in (1.0, 1e3, 1e6)}  # labels of axes that show users or counts
LOST = (0.0, 0.5, 1.0)

Said = dict[str, Any]
_story = component("story", js=module_with_imports("story.js", "story_parts.js", "story_scenes.js"))


def is_told(h: Home) -> bool:
    """Return whether to show the story. Visitors who follow a link or see an embedded page get the chart at once."""
    s = session()
    if s.arrived or not st.query_params:  # otherwise, the slider wrote the address
        h.story = (not st.query_params or STORY in st.query_params) and not st.context.is_embedded
    return h.story


def tell() -> None:
    with st.container(key="story"):
        _story(data=story_content(), key="start")


@cache
def story_content() -> Said:
    """Return the data and texts of all scenes of the story, ready for JSON."""
    run = asset("start")
    return {
        "order": ORDER,
        "own": "data",
        "run": {name: part for name, part in run.items() if name != "spec"},
        "words": _words(run),
        "first": run["noise"]["first"],
        "noise": _racing(run["noise"]),
        "learn": _learning(run["learning"]),
        "colors": {name: (day, _colors(DARK)[name]) for name, day in _colors(LIGHT).items()},
    }


def _words(run: Said) -> Said:
    """Return the texts of all scenes, filled with the numbers of the run."""
    said, paths, learned = messages("start"), run["paths"], run["learning"]
    most = max(max(Counter(at).values()) for at in zip(*paths, strict=True))
    users, others, same = len(paths), len(paths) - 1, paths.count(paths[-1])
    learning = {"first": percent(learned["lost"][0]), "last": percent(learned["lost"][-1])}
    learning |= {"epsilon": f"{learned['epsilon']:g}", "users": human(learned["users"][-1])}
    needed = {cost.model: rough_users(cost.needed) for cost in known(TRUST_EPSILON) if cost.model != "none"}
    given: dict[tuple[str, str], Said] = {
        ("day", "say"): {"steps": run["steps"]},
        ("day", "alt"): {"steps": run["steps"], "places": run["places"]},
        ("count", "alt"): {"users": users, "most": most},
        ("attack", "all"): {"users": users},
        ("attack", "others"): {"others": others},
        ("attack", "only"): {"users": users, "same": same},
        ("attack", "alt"): {"users": users, "others": others, "same": same},
        ("learn", "private"): {"epsilon": learning["epsilon"]},
        ("learn", "alt"): learning,
        ("trust", "say"): {"epsilon": f"{TRUST_EPSILON:g}"},
        ("trust", "alt"): needed,
    }
    words = {name: dict(said[name]) for name in ("bar", "picture", *ORDER)}
    for (scene, name), values in given.items():
        words[scene][name] = filled(said[scene][name], **values)
    words["trust"]["needs"] = [filled(said["trust"]["needs"], users=users) for users in needed.values()]
    return words


def _racing(noise: Said) -> Said:
    said = messages("start")["noise"]
    values, spoken, now, alts = [], [], [], []
    epsilons = [*noise["epsilons"], None]  # the last position of the slider means no noise
    places = (noise[name] for name in ("std", "users", "true", "noisy"))
    for epsilon, std, *counts in zip(epsilons, *places, strict=True):
        moments = [
            {"users": human(users), "true": f"{true:,}", "noisy": f"{noisy:,}".replace("-", "−")}
            for users, true, noisy in zip(*counts, strict=True)
        ]
        now.append([filled(said["now"], **one) for one in moments])
        value = words = said["none"]
        alt = said["bare"]
        if epsilon is not None:
            facts = {"epsilon": f"{epsilon:g}", "std": rough(std)}
            value = filled(said["value"], epsilon=facts["epsilon"])
            words, alt = filled(said["spoken"], **facts), filled(said["alt"], **facts, **moments[-1])
        values.append(value)
        spoken.append(words)
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


def _colors(theme: Theme) -> dict[str, str]:
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
