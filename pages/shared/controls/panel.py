"""The controls of the Online page, built from RunSpec's table of fields and the registries."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from dprl import links
from dprl.environments import ENVIRONMENTS, Environment
from dprl.environments.custom import EXAMPLE, parsed
from dprl.fields import Field, SpecError, check_params, decode
from dprl.figures import policy
from dprl.figures.picture import Picture, for_page
from dprl.figures.style import config
from dprl.learners import ALGORITHMS
from dprl.learners.tabular.planner import OWN
from dprl.links import MAX_MODEL
from dprl.mdp import Size
from dprl.messages import filled
from dprl.privacy import PRIVATIZERS
from dprl.simulation import FIELDS, RunSpec
from dprl.simulation.cost import COUNTERS, limit
from dprl.simulation.pairs import runs_in
from dprl.simulation.schedules import adaptive, geometric
from dprl.simulation.schedules.episodic import LIMIT as EPISODIC_LIMIT
from dprl.words import count, listed, size
from pages.shared.controls.launch import described
from pages.shared.controls.noise import HELP, NOTE, SAID, SMALL, epsilon_slider
from pages.shared.controls.widgets import (
    complaint,
    exact,
    fold,
    locked,
    log_slider,
    menu_titles,
    select,
    setter,
    stops,
)
from pages.shared.layout.chart import kept, save
from pages.shared.layout.frame import guarded
from pages.shared.layout.terms import escape, meanings
from pages.shared.visitor.callbacks import button, keyed
from pages.shared.visitor.draft import Owner, effective, spec_from
from pages.shared.visitor.state import Session, session

T = TypeVar("T")
CUSTOM = ENVIRONMENTS["custom"]
MOST_BYTES = 2_000_000  # maximum bytes of a file with a visitor's own environment
MOST_USERS = int(FIELDS["episodes"].high or 0)


def environment_picture(environment: str, params: tuple[tuple[str, Any], ...], night: bool) -> Picture:
    mdp = ENVIRONMENTS[environment].make(**dict(params))
    labels = {"state_labels": mdp.state_labels, "action_labels": mdp.action_labels}
    return policy.environment_drawing(mdp.P, mdp.R, drawing=mdp.drawing, **labels, dark=night)


def draw_environment(environment: str, params: Mapping[str, Any], key: str) -> None:
    """Draw a small picture of an environment."""
    asked = environment, tuple(params.items())
    picture = kept(("environment", *asked), partial(environment_picture, *asked))
    bare = config() | {"displayModeBar": False}
    st.plotly_chart(for_page(picture), key=key, theme=None, config=bare, alt=picture.alt)


@st.fragment
@guarded
def sidebar(draw: Callable[[], T], run_box: Callable[[T], object]) -> None:
    """Draw a page's settings and the box with Run, which receives their values. A change redraws only this part."""
    session().wrong.clear()
    with st.container(key="controls", gap="small"):
        found = draw()
    with st.container(key="run_box", gap="xsmall"):
        run_box(found)


def run_settings(expert: Callable[[Session], object]) -> tuple[RunSpec | None, str]:
    """Draw all settings of a run, with the page's `expert` ones last. Return the run, or None and the reason."""
    s = session()
    for draw in (environment, learner, privacy, size_controls, environment_parameters, expert):
        draw(s)
    return described(lambda: spec_from(s.draft))


def environment(s: Session) -> None:
    """Draw the menu of environments, which lists each member of a collection under its own name."""
    named: dict[str, str] = {}
    for key, one in ENVIRONMENTS.items():
        ids = next((f.choices for f in one.fields if f.name == "id"), ())
        named |= {f"{key}/{id}": one.called({"id": id}) for id in ids} or {key: one.title}
    world = ENVIRONMENTS[s.draft.environment]
    id = params_of(s, "environment", world.key, world.fields).get("id")

    def chosen(word: str) -> None:
        s.draft.environment, _, one = word.partition("/")
        if one:
            s.draft.params("environment", s.draft.environment)["id"] = one

    help = f"{meanings('Environment')}  \n**Selected:** {escape(world.summary)}"
    select("Environment", named, f"{world.key}/{id}" if id else world.key, chosen, help, "environment")
    if world is CUSTOM:
        own_environment(s)


def own_environment(s: Session) -> None:
    model = str(s.draft.params("environment", CUSTOM.key).get("model", CUSTOM.fields[0].default))
    how: dict[str, Any] = {"max_upload_size": MOST_BYTES // 10**6, "disabled": locked("environment")}
    how |= keyed("upload", partial(received, s))
    st.file_uploader("Your environment (JSON)", type=["json"], help=HELP["upload"], **how)
    if s.upload_problem:
        st.caption(f":red[{escape(s.upload_problem)}]")
    with st.container(horizontal=True, gap="small"):
        save("example.json", "Example", lambda: json.dumps(EXAMPLE, indent=1))
        save("environment.json", "This environment", lambda: model)
    if len(model) > MAX_MODEL:
        st.caption(filled(NOTE["long"], size=size(len(model))))


def received(s: Session, file: Any) -> None:
    """Use the environment in an uploaded file, or explain what is wrong. A table with a row for each step sets H."""
    s.upload_problem = ""
    if file is None:
        return
    if file.size > MOST_BYTES:
        s.upload_problem = f"The file has {size(file.size)}; give at most {size(MOST_BYTES)}."
        return
    before = deepcopy(s.draft)
    try:
        text = decode("model", file.getvalue())
        _, P, R, *_ = parsed(text)
        H = next((len(array) for array, steps in ((P, 4), (R, 3)) if array.ndim == steps), None)
        H = H or s.draft.environment_params.get(CUSTOM.key, {}).get("H", CUSTOM.fields[1].default)
        CUSTOM.size(model=text, H=H)
    except SpecError as error:
        where = error.field.removeprefix("environment_params.").removeprefix("model").lstrip(".")
        s.upload_problem = f"The environment cannot be used; {where and where + ': '}{error.sentence}"
        return
    model = compact(text)
    s.files[links.text_digest(model)] = model
    s.draft.environment = CUSTOM.key
    s.draft.environment_params[CUSTOM.key] = {"model": model, "H": H}
    s.remember(before)
    st.rerun()  # all of the page, because a link may have waited for this file


def compact(text: str) -> str:
    """Return the same JSON without unnecessary spaces."""
    return json.dumps(json.loads(text), separators=(",", ":"))


def environment_parameters(s: Session) -> None:
    """Draw a collapsible section with the picture and the parameters of the chosen environment."""
    part = fold("The environment", "environment")
    if part is None:
        return
    world = ENVIRONMENTS[s.draft.environment]
    with part:
        st.caption(escape(world.summary))
        fields = [f for f in world.fields if f.name not in ("model", "id")]
        parameters(s, "environment", world.key, fields)
        try:
            checked = checked_params(s, world)
            S, A, H = world.size(**checked)[:3]
            if H * S * A * (S + 2) <= limit(COUNTERS):  # otherwise, the box below shows the limit
                draw_environment(world.key, checked, "environment_drawing")
        except SpecError as error:
            st.caption(f":red[{escape(str(error))}]")


def learner(s: Session) -> None:
    """Draw the menu of algorithms that run in the environment. The help explains why the others cannot."""
    offered = tuple(key for key in ALGORITHMS if runs_in(key, s.draft.environment))
    if s.draft.algorithm not in offered:
        s.draft.algorithm = offered[0]
    key = s.draft.algorithm
    algorithm = ALGORITHMS[key]
    others = [a.title for a in ALGORITHMS.values() if a.key not in offered]
    about = escape(f"{algorithm.summary} {algorithm.note}".strip())
    if others:
        about += f"  \n{filled(NOTE['features'], algorithms=escape(listed(others)))}"
    titles = menu_titles(ALGORITHMS, offered)
    select("Algorithm", titles, key, setter("algorithm"), about, "algorithm")
    with suppress(SpecError):  # shown in the fold with the parameters
        world = ENVIRONMENTS[s.draft.environment]
        refusal = algorithm.refusal(Size(*world.size(**checked_params(s, world))), MOST_USERS)
        if refusal is not None:
            st.caption(f"This algorithm needs a small environment. {escape(refusal.sentence)}")

            def take_small() -> None:  # with enough users for algorithms that list all policies
                s.draft.environment_params["random"] = dict(SMALL)
                s.redraft(environment="random", episodes=max(s.draft.episodes, 10**13))

            off = locked("environment")
            button("Switch to a small environment", take_small, icon="compress", key="small", disabled=off)


def checked_params(s: Session, world: Environment) -> dict[str, Any]:
    """Return the environment's parameters in the controls after checking them. Raises SpecError."""
    given = params_of(s, "environment", world.key, world.fields)
    return check_params("environment_params", world.key, world.fields, given)


def privacy(s: Session) -> None:
    """Draw the menu of privacy models that the algorithm supports, and the budget."""
    algorithm = ALGORITHMS[s.draft.algorithm]
    model = effective(s.draft.privacy, algorithm.privacies)

    def chosen(word: str) -> None:
        s.redraft(privacy=word, mechanism=None, calibration=None, delta=None)

    titles = menu_titles(PRIVATIZERS, algorithm.privacies)
    select("Privacy model", titles, model, chosen, PRIVATIZERS[model].summary, "privacy")
    st.caption(escape(PRIVATIZERS[model].trust))
    if algorithm.privacies == ("none",):
        other = next(a.title for a in ALGORITHMS.values() if a.privacies != ("none",))
        st.caption(filled(NOTE["raw"], algorithm=escape(algorithm.title), other=escape(other)))
    if model != "none":
        epsilon_slider(s, HELP["epsilon"])


def size_controls(s: Session) -> None:
    episodic = s.draft.schedule == "episodic"
    most = EPISODIC_LIMIT if episodic else MOST_USERS
    log_slider(
        "Episodes K",
        "episodes",
        FIELDS["episodes"],
        s.draft.episodes,
        setter("episodes"),
        marks=[int(m) for m in stops(100, most)],
        show=count,
        ends=("a few users", "a million users" if episodic else "10¹⁵ users"),
        help=HELP["episodes"],
    )


def more(s: Session, first: Sequence[Callable[[Session], None]] = (), along: str = "") -> None:
    """Draw the expert settings, first those in `first`. `along` names a field that is set elsewhere on the page."""
    part = fold("Expert settings", "more")
    if part is None:
        return
    with part:
        algorithm = ALGORITHMS[s.draft.algorithm]
        model = effective(s.draft.privacy, algorithm.privacies)
        for setting in first:
            setting(s)
        bonus = effective(s.draft.bonus, algorithm.bonuses)
        titles = {key: SAID["bonus"][key] for key in algorithm.bonuses}
        about = HELP["bonus_own" if bonus == OWN else "bonus"]
        select("Bonus constants", titles, bonus, setter("bonus"), about, "bonus")
        if algorithm.schedule:
            st.caption(escape(f"{algorithm.title} {algorithm.pace(model != 'none')}."))
        else:
            schedule(s)
        number_field(s, "seeds", "Seeds")
        number_field(s, "root_seed", "Root seed")
        if model != "none" and along != "contribution":
            number_field(s, "contribution", "Most episodes of one user")
        if model != "none" or bonus != "practical":
            number_field(s, "beta", "Failure probability β")
        used = [f for f in algorithm.fields if f.used(bonus)]
        parameters(s, "algorithm", algorithm.key, used)


def number_field(s: Session, name: str, label: str) -> None:
    exact(label, name, FIELDS[name], getattr(s.draft, name), setter(name))


def params_of(s: Session, owner: Owner, key: str, fields: Sequence[Field]) -> dict[str, Any]:
    """Return the parameters of an environment or algorithm as the controls show them."""
    given = s.draft.params(owner, key)
    return {f.name: given.get(f.name, f.default) for f in fields}


def parameters(s: Session, owner: Owner, key: str, fields: Sequence[Field]) -> None:
    """Draw a widget that suits the Field of each parameter. Fields for numbers are next to each other."""
    values = params_of(s, owner, key, fields)
    numbers = [f for f in fields if f.kind in ("int", "float")]

    def put(f: Field) -> None:
        name, value = f"{owner}_params.{key}.{f.name}", values[f.name]

        def store(to: Any) -> None:
            s.draft.params(owner, key).update({f.name: to})

        def rows_changed(text: str) -> None:
            store("/".join(line.strip() for line in text.upper().splitlines() if line.strip()))

        if f.kind == "choice":
            select(f.name, {one: one for one in f.choices}, value, store, f.help, name)
        elif f.rows:  # a text of rows joined by /
            st.text_area(
                f"{f.name}: {f.rows}",
                value=value.replace("/", "\n"),
                height="content",
                max_chars=2000,
                help=HELP["rows"],
                disabled=locked(name),
                **keyed(f"{name}:rows", rows_changed),
            )
        else:
            exact(f.name, name, f, value, store, in_row=f in numbers)

    for group in (numbers[i : i + 3] for i in range(0, len(numbers), 3)):
        with st.container(horizontal=True, wrap=False):
            for f in group:
                put(f)
        for f in group:
            complaint(f"{owner}_params.{key}.{f.name}")
    for f in (f for f in fields if f not in numbers):
        put(f)


def schedule(s: Session) -> None:
    """Draw the control for the algorithm's policy updates: after every user, or after blocks of users."""
    kind, _, argument = s.draft.schedule.partition(":")
    growth = {"adaptive": adaptive.ETA, "geometric": geometric.ETA}

    def chosen(word: str) -> None:
        text = f"{word}:{growth[word].default:g}" if word in growth else word
        most = EPISODIC_LIMIT if word == "episodic" else MOST_USERS
        s.redraft(schedule=text, episodes=min(s.draft.episodes, most))

    select("Policy updates", SAID["schedule"], kind, chosen, HELP["schedule"], "schedule")
    if kind in growth:
        eta, _, most = argument.partition(":")
        exact(
            "Growth η of a block",
            "schedule",
            growth[kind],
            float(eta),
            lambda value: setter("schedule")(":".join([kind, f"{value:g}", *filter(None, [most])])),
        )
