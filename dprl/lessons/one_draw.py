"""One draw of noise for a whole counter: two users collude, and a tree mends it."""

from __future__ import annotations

import numpy as np

from dprl.lessons import regret
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.prediction import Marker, Order
from dprl.messages import filled, messages
from dprl.metrics.curves import Array, Evidence
from dprl.papers import SpecSeries
from dprl.papers.experiments import COLLUSIONS
from dprl.papers.privacy import read
from dprl.sentences.price import rough_users
from dprl.simulation import RunSpec
from dprl.words import human, percent, rough

SAID = messages("questions")["one-draw"]
COSTS = SAID["costs"]
NOISES = {noise: SAID[noise]["title"] for noise in ("one", "tree")}
FARTHEST = 20.0  # visits
EXACT = 1e-9
BASE = RunSpec(episodes=10**9)
TREE = BASE.replace(mechanism="laplace-tree")
LOOKS = {"one": TREE.baseline(), "tree": TREE}  # one draw hides nobody
MECHANISMS = {TREE: COSTS["tree"], BASE.baseline(): COSTS["none"], BASE: COSTS["optimal"]}
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
            SAID["chart"],
            SAID["off"],
            SAID["read"],
            (-0.5, FARTHEST),
            (0.0, 1.05),
            drawn=tuple(drawn),
            log_x=False,
            percent=True,
            level=(0.5, SAID["half"]),
        )

    def found(evidence: Evidence) -> str:
        off = _errors(evidence, noise)
        exact = float((off < EXACT).mean())
        if exact == 1:
            return filled(SAID["all"], users=len(off))
        half = rough(float(np.median(off)))
        if not exact:
            return filled(SAID["nobody"], users=len(off), half=half)
        return filled(SAID["some"], share=percent(exact), users=len(off), half=half)

    return Step(
        NOISES[noise],
        Marker(
            SAID[noise]["ask"],
            0.0,
            FARTHEST,
            SAID["unit"],
            log=False,
            steps=20,
            ends=(SAID["exactly"], SAID["far"]),
            waits=FARTHEST / 2,
            unit_one=SAID["unit_one"],
        ),
        (),
        plot,
        lambda evidence: float(np.median(_errors(evidence, noise))),
        found,
        SAID[noise]["why"],
        Attempt(
            SAID[noise]["try"],
            "attack",
            (COLLUSIONS[0],),
            {"step": noise},
        ),
        ASKED,
    )


def _costs(evidence: Evidence) -> str:
    tree, best = (evidence.runs[spec].noise_std or 0.0 for spec in (TREE, BASE))
    tree_users, best_users = (rough_users(regret.users_needed(evidence, spec)) for spec in (TREE, BASE))
    return filled(
        COSTS["found"],
        users=human(BASE.episodes),
        tree=rough(tree),
        best=rough(best),
        tree_users=tree_users,
        best_users=best_users,
    )


ONE_DRAW = Lesson(
    "one-draw",
    SAID["title"],
    SAID["say"],
    SAID["needs"],
    (
        _read_within("one"),
        _read_within("tree"),
        Step(
            COSTS["title"],
            Order(COSTS["ask"], tuple(MECHANISMS.values())),
            tuple(MECHANISMS),
            regret.losses([(spec, name, np.inf) for spec, name in MECHANISMS.items()], (10.0, 1e9)),
            lambda evidence: regret.places_by_regret(evidence, tuple(MECHANISMS)),
            _costs,
            COSTS["why"],
            Attempt(
                COSTS["try"],
                "tradeoffs",
                (BASE.replace(episodes=10**10, seeds=10),),
                {"show": "users"},
            ),
        ),
    ),
)
