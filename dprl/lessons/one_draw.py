"""One draw of noise for a whole counter: two users collude, and a tree mends it."""

from __future__ import annotations

import numpy as np

from dprl.claims import SpecSeries
from dprl.claims.collusion import read
from dprl.claims.experiments import COLLUSIONS
from dprl.curves import Array, Evidence
from dprl.lessons import regret
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.prediction import Marker, Order
from dprl.sentences.price import rough_users
from dprl.simulation import RunSpec
from dprl.words import human, percent, rough

NOISES = {"one": "One draw for all releases", "tree": "A tree"}
FARTHEST = 20.0  # visits
EXACT = 1e-9
BASE = RunSpec(episodes=10**9)
TREE = BASE.replace(mechanism="laplace-tree")
LOOKS = {"one": TREE.twin(), "tree": TREE}  # one draw hides nobody
MECHANISMS = {TREE: "Laplace tree", BASE.twin(): "No privacy", BASE: "Optimal factorisation"}
ASKED = tuple(("collusion", spec) for spec in COLLUSIONS)


def _errors(evidence: Evidence, noise: str) -> Array:
    """[users] how far off the two are, over all repetitions."""
    return np.concatenate([read(evidence.answers[asked], noise) for asked in ASKED])


def _read_within(noise: str) -> Step:
    """Within how many visits the two read half of the others."""
    names = [name for name in NOISES if name == noise or name == "one"]

    def plot(evidence: Evidence) -> Plot:
        x = np.linspace(0.0, FARTHEST, 201)
        drawn = []
        for name in names:
            off = _errors(evidence, name)
            share = (off[None, :] <= x[:, None] + EXACT).mean(axis=1)
            # from the axis, so that a curve that is at its height at once is seen to rise
            points, shares = np.concatenate([[0.0], x]), np.concatenate([[0.0], share])
            drawn.append(
                DrawnSeries(
                    SpecSeries(LOOKS[name], NOISES[name], points, shares[None]),
                    -1.0 if name == noise else np.inf,
                )
            )
        return Plot(
            "How precisely two users read a third",
            "How far off they are (visits)",
            "Users read within that",
            (-0.5, FARTHEST),
            (0.0, 1.05),
            drawn=tuple(drawn),
            log_x=False,
            percent=True,
            level=(0.5, "half of the users"),
        )

    def found(evidence: Evidence) -> str:
        off = _errors(evidence, noise)
        exact = float((off < EXACT).mean())
        if exact == 1:
            return f"All {len(off)} users are found out exactly."
        half = rough(float(np.median(off)))
        some = f"{percent(exact)} of" if exact else "None of"
        said = f"{some} {len(off)} users are found out exactly."
        return f"{said} For half of them the guess is at most {half} visits off."

    first = noise == "one"
    return Step(
        NOISES[noise],
        Marker(
            "Each user is told a visit count after their turn. One draw of noise is in all of these releases. Users "
            "t − 1 and t + 1 compare. For half of the users t, within how many visits do they learn what t did?"
            if first
            else "Now each release has a sum of noise from a tree. No two releases share all of their draws. For half "
            "of the users t, within how many visits do users t − 1 and t + 1 learn what t did?",
            0.0,
            FARTHEST,
            "{} visits",
            log=False,
            steps=20,
            ends=("exactly", "far off"),
            waits=FARTHEST / 2,
        ),
        (),
        plot,
        lambda evidence: float(np.median(_errors(evidence, noise))),
        found,
        "The one draw is in both releases, so their difference has no noise. What is left is the visit itself, "
        "however large the noise."
        if first
        else "Each of two releases has draws of its own. After subtracting, the noise of those draws is left, too.",
        Attempt(
            "Subtract the releases yourself, step by step" if first else "See what two users still find out",
            "attack",
            (COLLUSIONS[0],),
            {"show": "collusion", "step": noise},
        ),
        ASKED,
    )


def _costs(evidence: Evidence) -> str:
    tree, best = (evidence.runs[spec].noise_std or 0.0 for spec in (TREE, BASE))
    return (
        f"After {human(BASE.episodes)} users the noise in a visit count has standard deviation {rough(tree)} with the "
        f"tree and {rough(best)} with the factorisation. The guarantee is the same. The tree needs "
        f"{rough_users(regret.needed(evidence, TREE))} users, the factorisation "
        f"{rough_users(regret.needed(evidence, BASE))}."
    )


ONE_DRAW = Lesson(
    "one-draw",
    "One noise, drawn once",
    "Why a counter that is released again and again needs fresh noise, and what that costs.",
    "That noise is added to counts.",
    (
        _read_within("one"),
        _read_within("tree"),
        Step(
            "What it costs",
            Order(
                "Two ways to draw fresh noise, both proved (1, 10⁻⁶)-private, beside no privacy. Which curve is which?",
                tuple(MECHANISMS.values()),
            ),
            tuple(MECHANISMS),
            regret.losses([(spec, name, np.inf) for spec, name in MECHANISMS.items()], (10.0, 1e9)),
            lambda evidence: regret.places_by_regret(evidence, tuple(MECHANISMS)),
            _costs,
            "A factorisation shares draws between releases, as the tree does. It weighs them so that the worst release "
            "has as little noise as possible.",
            Attempt(
                "Compare all mechanisms",
                "tradeoffs",
                (BASE.replace(episodes=10**6, seeds=10),),
                {"show": "users"},
            ),
        ),
    ),
)
