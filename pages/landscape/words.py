"""What the page says: plain text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.landscape import BUDGET, PROBLEMS, SEEDS, TARGET, Row
from dprl.landscape.rows import TRUSTS, size_words
from dprl.privacy import PRIVATIZERS
from dprl.sentences import landscape as sentences
from dprl.words import human, percent, promise
from pages.landscape.state import Seen, bundled_landscape

CONSTANTS = {"default": "As by default", "paper": "Paper constants"}
HOW = (
    f"Every run with a privacy model has calibrated noise. For that noise {promise(*BUDGET)} is proved when one user's "
    "episode is replaced.",
    "The guarantee is joint DP with a trusted curator, shuffle DP with a trusted shuffler, and local DP with no "
    "trusted party.",
    "Each K is a run of its own, planned for that K: noise, constants and policy updates know K. So a curve joins "
    "several runs, and regret at K is never read off a longer run.",
    f"Numbers are medians of {SEEDS} seeds. A 95% interval lies between the smallest and the largest seed.",
    f"Users needed: the number from which an average episode has lost at most {percent(TARGET)} of V*, learning "
    "included. The loss is the mean over seeds. The search tries eight numbers in each decade of K.",
    "Environments have their default settings. A tiny random environment is added, for which a list of all policies "
    "fits. Nothing was tuned on these. RiverSwim is left out, as old constants were fitted to RiverSwim.",
    "All other settings are an algorithm's defaults. With the anytime bonus, PUCB and Private-UCB-VI are one "
    "algorithm. Paper constants tell them apart.",
    "Each algorithm has its default mechanism, which the table names. With no trusted party that is one-hot questions "
    "for algorithms on counts, and Gaussian noise for algorithms with features.",
)
LOWER = (
    "The lower bound holds for the worse of the two environments. In one of them alone, an algorithm can lose less.",
    "The search takes another neighbour for each K and privacy model. The proof is in the notes of the documentation.",
    "A trusted shuffler has the lower bound of a trusted curator. We know of no better one for two environments.",
    f"At {promise(*BUDGET)}, privacy does not raise this bound with a trusted curator. The bound is that of any "
    "algorithm.",
)
MEANING = (
    "**Proved**: what our accountant proves of the noise that was used. About regret, runs prove nothing.",
    "**Claimed**: the bound that the paper states for its own algorithm, noise and constants, mostly for pure ε. "
    "Logarithms and constants are left out. What is claimed of noise as in the paper stands beside what is proved of "
    "it.",
    "**Measured**: what these runs lost. In one environment, regret may grow far less than a bound that holds for all "
    "environments.",
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


def lower_words(found: Sequence[Row], seen: Seen) -> str:
    """How far above the lower bound the best algorithms are, in a sentence; "" where no lower bound is known."""
    best = {
        given(trust): min(
            (row.above for row in found if row.entry.privacy == trust and row.above > 0), default=np.nan
        )
        for trust in TRUSTS
    }
    return sentences.about_lower(best, seen.K)


def about_lower(seen: Seen) -> list[str]:
    """What the lower bound of each panel says, and of which two environments."""
    title = PROBLEMS[seen.problem].title
    known = bundled_landscape().lower
    bounds = {
        trust: known[seen.problem, trust, seen.K]
        for trust in TRUSTS
        if (seen.problem, trust, seen.K) in known
    }
    if not bounds:
        return [
            f"{title} has public features. A neighbour would not keep these features, so no lower bound is drawn."
        ]
    said = []
    for trust, bound in bounds.items():
        (h, _, _), (state, action), (here, there) = bound.place, bound.named, bound.worth
        said += [
            f"{PRIVATIZERS[trust].title}: after {human(seen.K)} users, no algorithm loses less than "
            f"{human(bound.regret)} on both {title} and one neighbour.",
            f"In that neighbour, {action} in {state} at step {h + 1} is worth {human(there)} reward. Here this action "
            f"is worth {human(here)}. The rest is the same.",
        ]
    return [*said, *LOWER]
