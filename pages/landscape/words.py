"""What the page says: plain text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.landscape import BUDGET, PROBLEMS, SEEDS, TARGET, Row
from dprl.landscape.rows import TRUSTS, size_words
from dprl.privacy import PRIVATIZERS
from dprl.sentences import landscape as sentences
from dprl.words import percent, promise
from pages.landscape.state import Seen, bundled_landscape

CONSTANTS = {"default": "As by default", "paper": "Paper constants"}
HOW = (
    f"Every run proves {promise(*BUDGET)} by calibrated noise when one user's episode is replaced: joint DP with a "
    "trusted curator, shuffle DP with a trusted shuffler, local DP with no trusted party.",
    "Each K is a run of its own, planned for that K: noise, constants and policy updates know it. So a curve is no "
    "single run, and regret at K is never read off a longer one.",
    f"{SEEDS} seeds; the median with its 95% interval, which with so few lies between the least and the largest.",
    f"Users needed: from how many on an average episode has lost at most {percent(TARGET)} of V*, the learning "
    "included. It goes by the mean over seeds, and is searched for with eight runs a decade.",
    "Problems are environments as they are by default, but for a tiny random one, on which a list of all policies "
    "fits. Nothing was tuned on them; RiverSwim, to which old constants were fitted, is not among them.",
    "Everything else is as an algorithm has it by default. With the anytime bonus PUCB and Private-UCB-VI are one "
    "algorithm; paper constants tell them apart.",
)
MEANING = (
    "**Proved**: what our accountant proves of the noise that was used. Of the regret nothing is proved by a run.",
    "**Claimed**: the bound that the paper states, of its own algorithm with its own noise and constants, mostly for "
    "pure ε; logarithms and constants are not in it. And what noise as in the paper promises, beside what it proves.",
    "**Measured**: what these runs lost. On one problem, which has a gap, regret may grow far less than a bound that "
    "holds for all problems.",
)


def shared_words(seen: Seen) -> str:
    """What all panels have in common, in a line."""
    problem = PROBLEMS[seen.problem]
    constants = CONSTANTS[seen.constants].lower()
    noise = f"{promise(*BUDGET)} proved, calibrated noise"
    return f"{problem.title} ({size_words(problem)}) · {noise} · constants {constants} · {SEEDS} seeds"


def given(trust: str) -> str:
    """Who is trusted, as the beginning of a clause."""
    return f"with {PRIVATIZERS[trust].words.given}"


def who_needs_fewest(found: Sequence[Row]) -> tuple[str, str]:
    """Who needs the fewest users, in a sentence, and how many, in another."""
    by_trust = {
        given(trust): [(row.learner, *row.cell.needed) for row in found if row.entry.privacy == trust]
        for trust in TRUSTS
    }
    return sentences.about_fewest(by_trust, bundled_landscape().users[-1]), sentences.how_many(by_trust)


def see(found: Sequence[Row], K: int) -> str:
    """What there is to see in the panels, from the runs of K users."""
    lost = {
        given(trust): [row.regret for row in found if row.entry.privacy == trust and np.isfinite(row.regret)]
        for trust in TRUSTS
    }
    return sentences.about_spread(lost, K)
