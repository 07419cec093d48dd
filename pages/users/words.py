"""The sentences about a visitor's numbers, as plain text, and the chart of the users needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dprl.figures import users as figures
from dprl.figures.picture import Picture
from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.sentences.promise import FEW
from dprl.simulation import RunSpec
from dprl.simulation.axes import REPORTS
from dprl.users import (
    BUDGETS,
    FIELDS,
    MODELS,
    MOST,
    Asked,
    Need,
    Problem,
    Table,
    beyond,
    curve,
    episodes_needed,
    likely_from,
)
from dprl.words import human, listed, percent, rough
from dprl.words import promise as budget
from pages.users.link import users_table

UNCLEAR = {"too close to call": "neither clearly enough nor clearly too few"}
HEADINGS = {
    "enough": "✓ Enough",
    "too close to call": "? Too close to call",
    "not enough": "✗ Not enough",
    "not known": "– Not known",
}
RETURNS = 10  # m, the maximum number of episodes of one user
NAMES = {"value": "V* as a percentage of H"}
VALUE = (
    "V* is the best policy's expected reward in one episode, as a percentage of H, the most that H steps can pay. A "
    "smaller V* needs more users: half the V* needs two to five times the users. A rough guess is enough to start with."
)
TODAY = (
    "The loss of the best policy that you know today, as a percentage of V*. The algorithm starts without that policy, "
    "which helps only if its loss is at most the loss allowed. If you have no policy to compare with, enter 100."
)


def named(problem: Problem) -> str:
    size = f"S = {problem.S}, A = {problem.A}, H = {problem.H}"
    return f"{problem.title}: {size}, V* = {percent(problem.value / 100)} of H"


def common(table: Table, asked: Asked) -> str:
    """Describe the subject of the chart on one line."""
    size = f"S = {asked.S} states, A = {asked.A} actions, H = {asked.H} steps, V* = {asked.value:g}% of H"
    if asked.problem:
        size = named(table.problems[asked.problem])
    return f"{size} · δ = {human(asked.delta)} · allowed loss {asked.loss:g}% of V*"


def given(model: str) -> str:
    """Describe who is trusted, for the end of a clause, such as "with a trusted curator"."""
    return "without privacy" if model == "none" else f"with {PRIVATIZERS[model].words.given}"


def way(model: str) -> str:
    """Describe the noise and the reports of the measured runs, or return "" without privacy."""
    if model == "none":
        return ""
    spec = RunSpec(privacy=model)
    return ", ".join(filter(None, (MECHANISMS[str(spec.mechanism)].title, REPORTS.get(spec.reports))))


def answer(table: Table, asked: Asked, found: Sequence[Need]) -> str:
    """Explain in a sentence or two whether there are enough users for a trusted curator."""
    if asked.met:
        known = f"a policy that you know today loses {asked.today:g}% of V*"
        return f"No learning is needed: {known}, and you allow a loss of {asked.loss:g}%."
    verdicts = {need.model: need.verdict for need in found}
    least, most = likely_from(table, asked, "central"), FIELDS["epsilon"].high or 0.0
    many, here = human(asked.users), f"at ε = {asked.epsilon:g}"
    if np.isnan(least):
        return f"With {many} users, there is no verdict: we measured no environment as small or as large as yours."
    if verdicts["central"] == "enough":
        lower = f" The smallest ε that is probably enough is {least:g}." if least < asked.epsilon else ""
        if least <= (FIELDS["epsilon"].low or 0.0):
            lower = f" They are also probably enough at every smaller ε on the chart, down to {least:g}."
        return f"With a trusted curator, {many} users are probably enough {here}.{lower}"
    if np.isfinite(least):
        verdict = UNCLEAR.get(verdicts["central"], verdicts["central"])
        now = f"With a trusted curator, {many} users are {verdict} {here}"
        return f"{now}, but probably enough at ε = {least:g}."
    free = UNCLEAR.get(verdicts["none"], verdicts["none"])
    also = "" if verdicts["none"] == "enough" else f" Without privacy, they are {free}."
    return f"With {many} users and a trusted curator, even ε = {most:g} is probably not enough.{also}"


def change(asked: Asked, way: Asked) -> str:
    """Write the label of a button for changes with which there would be enough users."""
    parts = []
    if way.users != asked.users:
        parts.append(f"{human(way.users)} users ({rough(way.users / asked.users)} times as many)")
    if (way.users, way.epsilon) != (asked.users, asked.epsilon):
        parts.append(f"ε = {way.epsilon:g}")
    if way.loss != asked.loss:
        parts.append(f"a loss of {way.loss:g}%")
    return listed(parts)


def card(asked: Asked, need: Need) -> tuple[str, str]:
    """Return the two texts of a card: the budgets that are probably enough, and the users needed at the current one."""
    many = f"Needs {users(need.needed)} users"
    if need.model == "none" or need.met or need.verdict == "not known":
        return HEADINGS[need.verdict], many
    least, most = likely_from(users_table(), asked, need.model), FIELDS["epsilon"].high or 0.0
    largest = f"ε ≥ {least:g}" if np.isfinite(least) else f"Not even ε = {most:g}"
    at = f"At ε\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{asked.epsilon:g} the best guess is {users(need.needed)} users"
    return largest, f"is probably enough. {at}, and {users(need.high)} are probably enough."


def users(value: float) -> str:
    """Write a number of users with two significant digits."""
    return rough(value) if value <= MOST else f"more than {human(MOST)}"


def needs(need: Need) -> str:
    """Write the number of users that a privacy model needs, with its interval, as a sentence."""
    many = f"{users(need.needed)} users"
    if need.needed <= MOST and np.isfinite(need.factor):
        many = f"{many} ({users(need.low)} to {users(need.high)})"
    return f"Learning without that policy needs {many}." if need.met else f"Needs {many}."


def returning(table: Table, asked: Asked) -> str:
    """Describe how many more episodes are needed if one user may have several."""
    first, last = (episodes_needed(table, asked, "central", m) for m in (1, RETURNS))
    said = "Each user has one episode. If one user may have up to m episodes, the noise has to hide all m episodes."
    if np.isfinite(first) and np.isfinite(last):
        more = f"{times(last / first)} times as many episodes as m = 1, {users(last)} in all"
        said += f" With a trusted curator, m = {RETURNS} needs {more}."
    return said


def times(factor: float) -> str:
    """Write an error factor, with two digits after a leading 1."""
    return f"{factor:.3g}" if factor < 2 else f"{factor:.2g}"


def how(table: Table, asked: Asked, found: Sequence[Need]) -> list[str]:
    """List how the numbers were obtained: the source, an item for each model, the assumptions, and the checks."""
    each = [f"{PRIVATIZERS[n.model].title}: {needs(n)} {kind(n)} {way(n.model)}".strip() for n in found]
    return [source(table, asked), *each, returning(table, asked), *assumptions(asked), checks_said(table)]


def kind(need: Need) -> str:
    """State whether a number was measured or extrapolated, and give its error factor."""
    if need.kind == "beyond":
        return "Extrapolated beyond all measurements."
    return f"{need.kind.capitalize()}, within a factor of {times(need.factor)}."


def source(table: Table, asked: Asked) -> str:
    """Describe the sources and the errors of the numbers on the page."""
    if asked.problem:
        return (
            "We measured this environment itself. Between the budgets and losses that we ran, we interpolate "
            f"linearly on logarithmic axes. {_factors(table.between)}"
        )
    if outside := beyond(table, asked):
        ranges = [(NAMES.get(name, name), *ends) for name, ends in table.ranges.items() if name in outside]
        ends = [f"{name} from {low:.2g} to {high:.3g}" for name, low, high in ranges]
        return (
            f"We extrapolated beyond all measurements, which had {listed(ends)}. The numbers show only a direction. "
            "We do not know how far off they may be, so there is no verdict."
        )
    learned = [*table.problems.values(), *table.drawn.values()]
    number, kinds = len(learned), len({problem.environment for problem in learned})
    return (
        f"We extrapolated with a formula. It was fitted to runs of {number} environments of {kinds} kinds, and tested "
        f"on kinds left out of the fit. {_factors(table.held_out)}"
    )


def _factors(errors: Mapping[str, float]) -> str:
    """List the error factors of the numbers by privacy model."""
    said = listed([f"{times(errors[m])} {given(m)}" for m in MODELS])
    return f"Nine numbers in ten are within these factors: {said}."


def assumptions(asked: Asked) -> list[str]:
    """List the assumptions behind the numbers, with a sentence or two for each."""
    d = budget(asked.epsilon, asked.delta)
    said = [
        VALUE,
        f"Averaged over all your users' episodes, learning included, the loss is at most {asked.loss:g}% of V*.",
        TODAY,
        "The states, actions and steps are known, and a step earns between 0 and 1.",
        f"We prove {d} when one user's episode is replaced by another. Noise is calibrated: it is the smallest for "
        "which our accountant proves this.",
        "The guarantee is joint DP with a trusted curator, shuffle DP with a trusted shuffler, and local DP with no "
        "trusted party.",
        "The algorithm is DP-UCBVI with its default settings (anytime bonus, adaptive schedule). Without privacy it is "
        "DP-UCBVI without noise. An algorithm that knows more about the environment needs fewer users.",
        "Each privacy model has its default mechanism. With no trusted party, users answer one-hot questions, and "
        "each count contains only users who were told to take that action. With a shuffler, it contains all users.",
        "Noise was measured at δ = 10⁻⁶. For another δ, we use the ε at which Gaussian noise has the same size. With "
        "no trusted party, the noise needs no δ.",
    ]
    if asked.delta * asked.users >= FEW:
        said.append(
            f"δ K is {human(asked.delta * asked.users)}: a guarantee with such a δ allows giving away the data of "
            "about that many users. A δ far below 1/K rules that out."
        )
    return said


def see(asked: Asked, found: Sequence[Need]) -> str:
    """Describe where the chart's lines cross the visitor's number of users."""
    if asked.met:
        return "The lines show the users needed to learn a policy. The policy you already know needs none."
    places: dict[str, list[str]] = {}
    for need in (need for need in found if need.model != "none"):
        place = "more users are needed at every ε shown"
        if np.isfinite(need.least):
            everywhere = need.least <= (FIELDS["epsilon"].low or 0.0)
            where = "at every ε shown" if everywhere else f"above ε = {float(f'{need.least:.2g}'):g}"
            place = f"fewer users are needed {where}"
        places.setdefault(place, []).append(given(need.model))
    said = [f"{listed(models).capitalize()}, {place}." for place, models in places.items()]
    return (
        f"The horizontal line marks your {human(asked.users)} users. {' '.join(said)} Your users are probably enough "
        "wherever the horizontal line lies above a whole band."
    )


def checks_said(table: Table) -> str:
    """Describe how well the stated errors hold in environments that were not used for the fit."""
    worst = max(MODELS, key=lambda model: table.held_out[model])
    crossed = listed([f"{percent(share)} {given(model)}" for model, share in table.inside.items()])
    new = listed([f"{percent(check.within)} {given(check.model)}" for check in table.checks if check.new])
    return (
        "We left out each kind of environment once, and fitted the formula to the other kinds. The factors allow for "
        f"one further kind, with larger errors than all of these. {_factors(table.held_out)} The formula fits worst "
        f"{given(worst)}. To test the factors, we compared each kind with a formula and factors from the other kinds "
        f"alone. On average, the factors then held for these shares of the numbers: {crossed}. We also ran kinds that "
        f"had played no part in the fit. For them, the factors held for these shares of the numbers: {new}. The stated "
        "factors were not corrected for this."
    )


def picture(asked: Asked, found: Sequence[Need], night: bool) -> Picture:
    """Draw the chart, with the visitor's own users and budget."""
    curves = []
    for need in found:
        name, measured = PRIVATIZERS[need.model].title, need.kind == "measured"
        needed = curve(users_table(), asked, need.model, BUDGETS)
        curves.append(figures.UsersCurve(need.model, name, measured, BUDGETS, needed, need.factor))
    own = (float(asked.users), asked.epsilon)
    return figures.users_by_trust(curves, own, see=see(asked, found), dark=night)
