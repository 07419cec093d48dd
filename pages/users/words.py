"""What the page says of somebody's numbers: plain text, for the page and for the one to print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.sentences.promise import FEW
from dprl.simulation import RunSpec
from dprl.simulation.axes import REPORTS
from dprl.users import FIELDS, MODELS, MOST, Asked, Need, Problem, Table, beyond, episodes_needed
from dprl.words import human, listed, percent, rough
from dprl.words import promise as budget
from pages.users.link import LOGS, TREATING

HOW = {
    "affordable": "enough",
    "too close to call": "too close to call",
    "not affordable": "not enough",
    "not known": "not known",
}
HEADINGS = {
    "affordable": "✓ Enough",
    "too close to call": "? Too close to call",
    "not affordable": "✗ Not enough",
    "not known": "– Not known",
}


QUESTION = "Do you have records, or will you learn as users come?"
ANSWERS = {TREATING: "Learn as users come", LOGS: "I have records"}
WITH_LOGS = (
    "Then nobody is treated in order to learn. The policy is learned from your file, with a privacy guarantee for each "
    "user. A forecast says beforehand whether your users are enough."
)
RETURNS = (1, 3, 10)  # m, the most episodes of one user
NAMES = {"value": "V* in percent of H"}
VALUE = (
    "V* is what the best policy earns in an episode, in percent of H. H steps of at most 1 could pay H. A rough guess "
    "of V* will do to begin with: half as much V* takes two to five times as many users."
)
TODAY = (
    "Nothing is known at first. A policy that you know today helps only where it loses no more than that. Enter 100% "
    "where you know of no policy."
)
SIGNS = (
    "Solid lines are measured, dashed lines extrapolated. A band holds the true line in nine cases of ten."
)


def named(problem: Problem) -> str:
    """An environment in a menu."""
    size = f"S = {problem.S}, A = {problem.A}, H = {problem.H}"
    return f"{problem.title}: {size}, V* = {percent(problem.value / 100)} of H"


def size(table: Table, asked: Asked) -> str:
    """The environment that is asked about."""
    if asked.problem:
        return named(table.problems[asked.problem])
    return f"S = {asked.S} states, A = {asked.A} actions, H = {asked.H} steps, V* = {asked.value:g}% of H"


def common(table: Table, asked: Asked) -> str:
    """What the chart is about, in a line."""
    return f"{size(table, asked)} · δ = {human(asked.delta)} · {asked.loss:g}% of V* may be lost"


def wanted(asked: Asked) -> str:
    """What somebody has and wants."""
    return (
        f"We have {human(asked.users)} users, and an average episode may lose {asked.loss:g}% of what the best policy "
        f"earns. Privacy budget: {budget(asked.epsilon, asked.delta)}."
    )


def given(model: str) -> str:
    """Who is trusted, as the end of a clause."""
    return "without privacy" if model == "none" else f"with {PRIVATIZERS[model].words.given}"


def way(model: str) -> str:
    """How the noise of the measured runs is drawn, and whose reports a row counts; "" without privacy."""
    if model == "none":
        return ""
    spec = RunSpec(privacy=model)
    return ", ".join(filter(None, (MECHANISMS[str(spec.mechanism)].title, REPORTS.get(spec.reports))))


def whom_to_trust(asked: Asked, found: Sequence[Need]) -> str:
    """Who has to be trusted, in a sentence."""
    if asked.met:
        return (
            f"No learning is needed: a policy that you know today loses {asked.today:g}% of V*, at most the "
            f"{asked.loss:g}% that may be lost."
        )
    promised = budget(asked.epsilon, asked.delta)
    have = (
        f"With {human(asked.users)} users at {promised}, an average episode may lose {asked.loss:g}% of V*."
    )
    groups = {how: [given(need.model) for need in found if need.verdict == how] for how in HOW}
    said = [f"{HOW[how].capitalize()} {listed(names)}." for how, names in groups.items() if names]
    return " ".join([have, *said])


def users(value: float) -> str:
    """A number of users, which is known to two digits at most."""
    return rough(value) if value <= MOST else f"more than {human(MOST)}"


def needs(need: Need) -> str:
    """How many a model takes."""
    many = f"{users(need.needed)} users"
    if need.needed <= MOST and np.isfinite(need.factor):
        many = f"{many} ({users(need.low)} to {users(need.high)})"
    return f"Learning from nothing needs {many}." if need.met else f"Needs {many}."


def smallest(need: Need) -> str:
    """The smallest epsilon that the users at hand pay for; "" without privacy."""
    low, high = FIELDS["epsilon"].low or 0.0, FIELDS["epsilon"].high or 0.0
    if need.model == "none":
        return ""
    if need.met:
        return "any"

    def one(epsilon: float) -> str:
        if epsilon <= low:
            return f"{low:g} or less"
        return f"{float(f'{epsilon:.2g}'):g}" if np.isfinite(epsilon) else f"more than {high:g}"

    said, ends = one(need.least), (one(need.least_low), one(need.least_high))
    return said if np.isnan(need.least_low) or ends[0] == ends[1] else f"{said} ({ends[0]} to {ends[1]})"


def episodes(table: Table, asked: Asked, model: str, most: int) -> str:
    """How many episodes a model takes where one user has up to so many."""
    needed = episodes_needed(table, asked, model, most)
    return users(needed) if np.isfinite(needed) or needed > MOST else "not measured"


def returning(table: Table, asked: Asked) -> str:
    """What users who return cost, in sentences."""
    one, most = RETURNS[0], RETURNS[-1]
    first, last = (episodes_needed(table, asked, "central", m) for m in (one, most))
    said = (
        "The numbers above are for users with one episode each. Let one user have up to m episodes, and noise hides "
        "all m. The table counts the episodes that you then need, with all users together. Its numbers may be off by "
        "the same factors as those above."
    )
    if np.isfinite(first) and np.isfinite(last):
        said += f" With a trusted curator, m = {most} takes {times(last / first)} times as many episodes as m = {one}."
    return said


def times(factor: float) -> str:
    """A factor by which something may be off, to two digits of what is beyond 1."""
    return f"{factor:.3g}" if factor < 2 else f"{factor:.2g}"


def kind(need: Need) -> str:
    """Where the number comes from."""
    if need.kind == "beyond":
        return "Extrapolated beyond all that was measured."
    return f"{need.kind.capitalize()}, within a factor of {times(need.factor)}."


def source(table: Table, asked: Asked) -> str:
    """Where the numbers on the page come from, and how far they may be off."""
    if asked.problem:
        return (
            "Measured: runs of this very environment. Between the budgets and losses that were run, numbers are read "
            f"off straight lines on logarithmic axes. {_factors(table.between)}"
        )
    outside = beyond(table, asked)
    if outside:
        ends = [
            f"{NAMES.get(name, name)} from {low:.2g} to {high:.3g}"
            for name, (low, high) in table.ranges.items()
            if name in outside
        ]
        return (
            f"Extrapolated beyond all that was measured, which had {listed(ends)}. Numbers show a direction. How far "
            "off they may be is not known, so there is no verdict."
        )
    learned = [*table.problems.values(), *table.drawn.values()]
    number, kinds = len(learned), len({problem.environment for problem in learned})
    return (
        f"Extrapolated by a law that was fitted to runs of {number} environments of {kinds} kinds, and tested on kinds "
        f"that were left out. {_factors(table.held_out)}"
    )


def _factors(errors: Mapping[str, float]) -> str:
    """How far off the numbers of each model are, in words."""
    said = listed([f"{times(errors[m])} {given(m)}" for m in MODELS])
    return f"Nine numbers in ten are within these factors: {said}."


def assumptions(asked: Asked) -> list[str]:
    """What the numbers rest on, a sentence or two each."""
    d = budget(asked.epsilon, asked.delta)
    said = [
        VALUE,
        f"An average episode of your users, learning included, loses at most {asked.loss:g}% of V*.",
        TODAY,
        "Each user contributes one episode. The states, actions and steps are known, and a step earns between 0 and 1.",
        f"Proved is {d} when one user's episode is replaced by another. Noise is calibrated: as little as our "
        "accountant can prove that of.",
        "The guarantee is joint DP with a trusted curator, shuffle DP with a trusted shuffler, and local DP with no "
        "trusted party.",
        "The algorithm is DP-UCBVI with its default settings (anytime bonus, adaptive schedule). Without privacy it is "
        "DP-UCBVI without noise. An algorithm that knows more of the environment needs fewer users.",
        "Each privacy model has its default mechanism. With no trusted party, users answer one-hot questions, and rows "
        "count only users who were told to play them. With a shuffler, everybody's reports count.",
        "Noise was measured at δ = 10⁻⁶. Another δ counts as the ε at which Gaussian noise has the same size. With no "
        "trusted party the noise needs no δ.",
    ]
    if asked.delta * asked.users >= FEW:
        said.append(
            f"δ K is {human(asked.delta * asked.users)}: a guarantee with such a δ allows giving away the data of "
            "about as many users. A δ far below 1/K rules that out."
        )
    return said


def see(asked: Asked, found: Sequence[Need]) -> str:
    """What there is to see in the chart."""
    if asked.met:
        return "Lines say what learning from nothing takes. The policy that you know today makes that unnecessary."
    met = [f"{given(need.model).capitalize()}: {smallest(need)}." for need in found if need.model != "none"]
    return (
        f"Find your {human(asked.users)} users on the left. A line meets them at the smallest ε for which they are "
        f"enough. {' '.join(met)}"
    )


def law() -> str:
    """What the table of exponents says."""
    return (
        "With v = V*/H, the law without privacy is users = C S^s A^a H^h / (v^w loss^b). With privacy, a second "
        "product of the same form is added and divided by a power of µ. Here µ says how far one user's data move "
        "noise that is just enough for (ε, δ). For a small ε, µ is about ε/√(2 ln(1/δ)) with Gaussian noise, and ε/2 "
        "with no trusted party. The table has the exponents, with 95% intervals from environments drawn again."
    )


def checks_said(table: Table) -> str:
    """What the table of checks says."""
    worst = max(MODELS, key=lambda model: table.held_out[model])
    crossed = listed([f"{percent(share)} {given(model)}" for model, share in table.inside.items()])
    new = listed([f"{percent(check.within)} {given(check.model)}" for check in table.checks if check.new])
    return (
        "Each kind of environment was left out of the law once. The error allows for one more kind that is farther off "
        f"than all of them. {_factors(table.held_out)} The law fits worst {given(worst)}. To test that, each kind was "
        "compared with a law and factors from the other kinds alone. Of its numbers these were within, on average: "
        f"{crossed}. Then kinds were run that had no part in anything. Of their numbers these were within: {new}. "
        "The stated factors take no notice of that. The table has all runs that were compared."
    )
