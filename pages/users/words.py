"""The sentences about a visitor's numbers, as plain text, and the chart of the users needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dprl.figures import users as figures
from dprl.figures.picture import Picture
from dprl.messages import filled, messages
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
from dprl.words import human, listed, percent, rough, upward
from dprl.words import promise as budget
from pages.users.link import users_table

SAID = messages("users")
LOWEST, HIGHEST = FIELDS["epsilon"].low or 0.0, FIELDS["epsilon"].high or 0.0  # of epsilon
RETURNS = 10  # m, the maximum number of episodes of one user
NAMES = {"value": "V* as a percentage of H"}


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
    said = SAID["answer"]
    if asked.met:
        return filled(said["met"], today=f"{asked.today:g}", loss=f"{asked.loss:g}")
    least, many = likely_from(table, asked, "central"), human(asked.users)
    here = {"users": many, "epsilon": f"{asked.epsilon:g}"}
    verdicts = {need.model: need.verdict for need in found}
    if np.isnan(least):
        return filled(said["unknown"], users=many)
    if verdicts["central"] == "enough":
        smaller = "everywhere" if least <= LOWEST else "smallest" if least < asked.epsilon else ""
        also = filled(said[smaller], least=f"{least:g}") if smaller else ""
        return f"{filled(said['enough'], **here)} {also}".strip()
    if np.isfinite(least):
        verdict = SAID["verdicts"][verdicts["central"]]
        return filled(said["later"], **here, verdict=verdict, least=f"{least:g}")
    never = filled(said["never"], users=many, most=f"{HIGHEST:g}")
    if verdicts["none"] == "enough":
        return never
    return f"{never} {filled(said['free'], verdict=SAID['verdicts'][verdicts['none']])}"


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
    said, many = SAID["card"], users(need.needed)
    if need.model == "none" or need.met or need.verdict == "not known":
        return SAID["headings"][need.verdict], needs(need)
    least = likely_from(users_table(), asked, need.model)
    now = filled(said["guess"], epsilon=f"{asked.epsilon:g}", users=many, high=users(upward(need.high, 2)))
    key = "least" if np.isfinite(least) else "perhaps" if np.isfinite(need.least) else "never"
    at = {"least": least, "perhaps": need.least, "never": HIGHEST}[key]
    return filled(said[key], least=f"{upward(at, 2):g}"), now


def users(value: float) -> str:
    """Write a number of users with two significant digits."""
    return rough(value) if value <= MOST else f"more than {human(MOST)}"


def needs(need: Need) -> str:
    """Write the number of users that a privacy model needs, with its interval, as a sentence."""
    many = f"{users(need.needed)} users"
    if need.needed <= MOST and np.isfinite(need.factor):
        many = f"{many} ({users(need.low)} to {users(upward(need.high, 2))})"
    return filled(SAID["how"]["needs_met" if need.met else "needs"], users=many)


def returning(table: Table, asked: Asked) -> str:
    """Describe how many more episodes are needed if one user may have several."""
    first, last = (episodes_needed(table, asked, "central", m) for m in (1, RETURNS))
    said = str(SAID["how"]["returning"])
    if np.isfinite(first) and np.isfinite(last):
        more = {"m": RETURNS, "times": times(last / first), "users": users(last)}
        said += f" {filled(SAID['how']['returning_more'], **more)}"
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
    factor = {} if need.kind == "beyond" else {"factor": times(need.factor)}
    return filled(SAID["how"][need.kind], **factor)


def source(table: Table, asked: Asked) -> str:
    """Describe the sources and the errors of the numbers on the page."""
    said = SAID["how"]
    if asked.problem:
        return filled(said["source_known"], within=within(table.between))
    if outside := beyond(table, asked):
        ranges = [(NAMES.get(name, name), *ends) for name, ends in table.ranges.items() if name in outside]
        ends = [f"{name} from {low:.2g} to {high:.3g}" for name, low, high in ranges]
        return filled(said["source_beyond"], ranges=listed(ends))
    learned = [*table.problems.values(), *table.drawn.values()]
    number, kinds = len(learned), len({problem.environment for problem in learned})
    return filled(said["source_fitted"], number=number, kinds=kinds, within=within(table.held_out))


def within(errors: Mapping[str, float]) -> str:
    """List the error factors of the numbers by privacy model."""
    factors = listed([f"{times(errors[m])} {given(m)}" for m in MODELS])
    return filled(SAID["how"]["within"], factors=factors)


def assumptions(asked: Asked) -> list[str]:
    """List the assumptions behind the numbers, with a sentence or two for each."""
    said, d, expected = SAID["how"], budget(asked.epsilon, asked.delta), asked.delta * asked.users
    large = [filled(said["large_delta"], expected=human(expected))] if expected >= FEW else []
    return [*filled(said["assumed"], loss=f"{asked.loss:g}", budget=d).splitlines(), *large]


def see(asked: Asked, found: Sequence[Need]) -> str:
    """Describe where the chart's lines cross the visitor's number of users."""
    said = SAID["see"]
    if asked.met:
        return str(said["met"])
    places: dict[tuple[str, str], list[str]] = {}
    for need in (need for need in found if need.model != "none"):
        key = "more" if not np.isfinite(need.least) else "fewer" if need.least <= LOWEST else "fewer_above"
        least = f"{float(f'{need.least:.2g}'):g}" if key == "fewer_above" else ""
        places.setdefault((key, least), []).append(given(need.model))
    lines = [
        filled(said[key], models=listed(models).capitalize(), **({"least": least} if least else {}))
        for (key, least), models in places.items()
    ]
    return filled(said["line"], users=human(asked.users), places=" ".join(lines))


def checks_said(table: Table) -> str:
    """Describe how well the stated errors hold in environments that were not used for the fit."""
    worst = max(MODELS, key=lambda model: table.held_out[model])
    crossed = listed([f"{percent(share)} {given(model)}" for model, share in table.inside.items()])
    new = listed([f"{percent(check.within)} {given(check.model)}" for check in table.checks if check.new])
    shares = {"crossed": crossed, "new": new}
    return filled(SAID["how"]["checks"], within=within(table.held_out), worst=given(worst), **shares)


def picture(asked: Asked, found: Sequence[Need], night: bool) -> Picture:
    """Draw the chart, with the visitor's own users and budget."""
    curves = []
    for need in found:
        name, measured = PRIVATIZERS[need.model].title, need.kind == "measured"
        needed = curve(users_table(), asked, need.model, BUDGETS)
        curves.append(figures.UsersCurve(need.model, name, measured, BUDGETS, needed, need.factor))
    own = (float(asked.users), asked.epsilon)
    return figures.users_by_trust(curves, own, see=see(asked, found), dark=night)
