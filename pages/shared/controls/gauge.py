"""The gauge above Run: whether the noise is small beside the visits that a run will see, said before it runs."""

from __future__ import annotations

import math

import streamlit as st

from dprl.figures import looks, style
from dprl.figures.picture import Sketch
from dprl.sentences.noise import deviation
from dprl.simulation import Outlook, RunSpec
from dprl.simulation.schedules.episodic import LIMIT as EPISODIC_LIMIT
from dprl.words import count, power, typed
from pages.shared.layout.chart import sketch
from pages.shared.layout.frame import dark
from pages.shared.results import answers

MOST = 15  # decades of users that the scale shows
LATEST = 4  # times the users that are said, by which runs have begun to learn: tests/pages/test_gauge.py
SURE = 10.0  # beyond this factor it says what it says without a may
UNSURE = {  # bonuses of which LATEST does not hold: RiverSwim with DP-UCBVI's as in the paper
    "paper": "Paper constants may need many times as many.",
    "own": "The bonus of this algorithm may need more.",
}
HIDDEN = "Scale of users: noise hides the best policy throughout; K is {K}."
HIDDEN_TO = "Scale of users: noise hides the best policy up to about {users} users; K is {K}."


def gauge(spec: RunSpec) -> str:
    """Picture and numbers for one run; nothing where there is no noise to weigh.

    Returns:
        Whether it will learn, in Markdown.

    Raises:
        SpecError: The noise is too large to be accounted for.
    """
    found = answers.outlook_of_run(spec)
    if isinstance(found, answers.Pending):
        return "Estimating how large the noise is beside the visit counts. *Run* does not wait for it."
    if found is None:
        return ""
    head, icon, rest = gauge_verdict(found, spec)
    sketch(gauge_picture(found.learns_from, spec.episodes, dark()))
    visits = count(float(f"{found.visits:.2g}"))
    noise = deviation(found.noise_std, spec.episodes)
    said = (
        f"Noise in each count: {noise}." if spec.reports == "all" else f"Noise in a count, at most: {noise}."
    )
    st.markdown(
        f"{said} The count itself: about {visits} visits.",
        help="A rule of thumb. In 54 runs in six environments, with the anytime bonus, learning began by "
        f"{LATEST} times as many users at the latest. It may begin far earlier, most of all with no trusted party. "
        "Visits: how often an optimal user's most visited state of a step is seen, the median over steps. The noise "
        "hides the best policy while what the bonus adds for it exceeds half of what an episode can earn.",
    )
    return f":material/{icon}: **{head}** {rest}"


def gauge_verdict(found: Outlook, spec: RunSpec) -> tuple[str, str, str]:
    """A few words, an icon, and a sentence: will it learn by its last user?"""
    if found.learns_from is None:
        most = EPISODIC_LIMIT if spec.schedule == "episodic" else 10**MOST
        return (
            "It will probably not learn.",
            "block",
            f"By a rule of thumb noise hides the best policy from more than {count(most)} users. Try a larger ε.",
        )
    needed = count(float(f"{found.learns_from:.1g}"))
    times = spec.episodes / found.learns_from
    if spec.bonus in UNSURE and times > 1 / SURE:
        return (
            "Noise alone may let it learn:",
            "timelapse",
            f"it hides the best policy up to roughly {needed} simulated users. {UNSURE[spec.bonus]}",
        )
    if times >= SURE:
        return (
            "It will learn:",
            "check_circle",
            f"learning begins by roughly {needed} simulated users, of {count(spec.episodes)}.",
        )
    if times > 1 / SURE:
        return (
            "It may learn by then:",
            "timelapse",
            f"learning begins by roughly {needed} simulated users, of {count(spec.episodes)}.",
        )
    return (
        "It will probably not learn by then:",
        "block",
        f"learning begins by roughly {needed} simulated users, of {count(spec.episodes)}. Try a larger K or ε.",
    )


def gauge_picture(learns_from: int | None, K: int, night: bool) -> Sketch:
    """A scale of users: where noise hides the best policy, where it no longer does, and where K is."""
    colors = style.theme(night)
    hides, learns = colors.difference[3][1], looks.color("shuffle", None, night)
    top = min(MOST, max(6, math.ceil(math.log10(max(K, learns_from or 1)) + 1)))
    begin = 1.0 if learns_from is None else min(1.0, math.log10(max(learns_from, 1)) / top)
    at = min(1.0, math.log10(K) / top)
    soft = math.log10(SURE) / top

    def x(share: float) -> float:
        return round(8 + 284 * share, 1)

    def text(at: float, y: int, words: str, color: str, anchor: str = "middle", size: float = 11) -> str:
        return (
            f'<text x="{at}" y="{y}" text-anchor="{anchor}" font-size="{size}" fill="{color}">{words}</text>'
        )

    stops = ((max(0.0, begin - soft), hides), (begin + soft, learns)) if begin < 1 else ((1.0, hides),)
    inside = (
        '<defs><linearGradient id="g">'
        + "".join(f'<stop offset="{where:.3f}" stop-color="{color}"/>' for where, color in stops)
        + '</linearGradient></defs><rect x="8" y="16" width="284" height="15" rx="3" fill="url(#g)"/>'
    )
    if begin > 0.3:
        inside += text(14, 27, "hidden by noise", style.readable_on(hides), "start")
    if begin + soft < 0.85:
        inside += text(x(begin + soft) + 2, 27, "learns", style.readable_on(learns), "start")
    inside += f'<path d="M{x(at)} 12 l0 22" stroke="{colors.ink}" stroke-width="3"/>'
    inside += text(
        x(min(max(at, 0.03), 0.97)), 10, "<tspan font-weight='bold'>K</tspan>", colors.ink, size=12
    )
    for decade in range(0, top + 1, 3 if top > 6 else 2):
        anchor = "start" if decade == 0 else "end" if decade == top else "middle"
        inside += text(x(decade / top), 45, power(10.0**decade), colors.muted, anchor)
    if learns_from is None:
        return Sketch(inside, 300, 48, HIDDEN.format(K=typed(K)))
    return Sketch(inside, 300, 48, HIDDEN_TO.format(users=typed(learns_from), K=typed(K)))
