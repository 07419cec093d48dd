"""The controls of Explore: made from RunSpec's table and the registries, never from a list of their own."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dprl.algorithms import ALGORITHMS
from dprl.environments import ENVIRONMENTS
from dprl.fields import Field, SpecError, check_params
from dprl.figures import policy, style
from dprl.figures.style import Picture
from dprl.links import MAX_CURVES
from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.simulation import FIELDS, RunSpec, estimate
from dprl.simulation.schedule import EPISODIC_LIMIT, ETA
from pages.parts.data import status, workers
from pages.parts.frame import dark, guarded
from pages.parts.state import Session, add, draft_of, session, write_address
from pages.parts.text import count, duration, escape, plural
from pages.parts.widgets import complaint, exact, log_slider, parameter, select, stops

GEOMETRIC = "geometric"
BONUS = {"practical": "practical (tuned)", "paper": "paper (as printed)"}
BONUS_HELP = (
    "As the paper prints them, or smaller ones that learn sooner, without the paper's promise on regret."
)
CALIBRATION = {"paper": "paper (as printed)"}


@st.cache_resource(show_spinner=False, max_entries=200)
def picture(environment: str, params: tuple[tuple[str, Any], ...], night: bool) -> Picture:
    """The drawing of an environment."""
    mdp = ENVIRONMENTS[environment].make(**dict(params))
    return policy.environment(
        mdp.P,
        mdp.R,
        drawing=mdp.drawing,
        state_labels=mdp.state_labels,
        action_labels=mdp.action_labels,
        dark=night,
    )


@st.fragment
@guarded
def controls() -> None:
    """All controls, the estimate and the Run button. Moving one redraws the controls only."""
    s = session()
    s.wrong.clear()
    with st.container(key="controls", gap="small"):
        environment(s)
        learner(s)
        privacy(s)
        size(s)
        more(s)
    with st.container(key="run_box", gap="xsmall"):
        run_box(s)


def environment(s: Session) -> None:
    """Which MDP, with its picture and its parameters."""
    key = s.draft["environment"]
    world = ENVIRONMENTS[key]
    select(
        "Environment", tuple(ENVIRONMENTS), key, setter("environment"), titles(ENVIRONMENTS), world.summary
    )
    params = params_of(s, "environment", key, world.fields)
    try:
        checked = check_params("environment_params", key, world.fields, params)
        drawn = picture(key, tuple(checked.items()), dark())
        config = style.CONFIG | {"displayModeBar": False}
        st.plotly_chart(drawn.figure, key="environment_drawing", theme=None, config=config, alt=drawn.alt)
    except SpecError as error:
        st.caption(f":red[{escape(str(error))}]")
    parameters(s, "environment", key, world.fields)


def learner(s: Session) -> None:
    """Which algorithm."""
    key = s.draft["algorithm"]
    select(
        "Algorithm", tuple(ALGORITHMS), key, setter("algorithm"), titles(ALGORITHMS), ALGORITHMS[key].summary
    )


def privacy(s: Session) -> None:
    """The privacy model in words, and its budget; only what the algorithm takes is offered."""
    algorithm = ALGORITHMS[s.draft["algorithm"]]
    model = effective(s.draft["privacy"], algorithm.privacies)
    select(
        "Privacy model",
        algorithm.privacies,
        model,
        setter("privacy"),
        titles(PRIVATIZERS),
        PRIVATIZERS[model].summary,
    )
    st.caption(escape(PRIVATIZERS[model].trust))
    if algorithm.privacies == ("none",):
        others = [a.title for a in ALGORITHMS.values() if a.privacies != ("none",)]
        st.caption(
            f"{escape(algorithm.title)} sees raw counts only. For privacy choose {escape(' or '.join(others))}."
        )
    if model == "none":
        return
    log_slider(
        "Privacy budget ε",
        "epsilon",
        FIELDS["epsilon"],
        s.draft["epsilon"],
        setter("epsilon"),
        marks=stops(0.01, 100, (1, 1.5, 2, 3, 5, 7)),
        show=lambda value: f"{value:g}",
        ends=("more private", "less noise"),
        help="How much one user's episode may change what is released: the smaller, the more private.",
    )


def size(s: Session) -> None:
    """How many users, and how many repetitions."""
    episodic = s.draft["schedule"] == "episodic"
    most = EPISODIC_LIMIT if episodic else 10**15
    log_slider(
        "Episodes K",
        "episodes",
        FIELDS["episodes"],
        s.draft["episodes"],
        setter("episodes"),
        marks=[int(m) for m in stops(100, most)],
        show=count,
        ends=("a few users", "a million users" if episodic else "10¹⁵ users"),
        help="One user after the other, an episode each; K·H steps in all.",
    )


def more(s: Session) -> None:
    """What most visitors leave alone."""
    algorithm = ALGORITHMS[s.draft["algorithm"]]
    model = effective(s.draft["privacy"], algorithm.privacies)
    with st.expander("More settings"):
        if model != "none":
            privatizer = PRIVATIZERS[model]
            mechanism = effective(s.draft["mechanism"], privatizer.mechanisms)
            select(
                "Mechanism",
                privatizer.mechanisms,
                mechanism,
                setter("mechanism"),
                titles(MECHANISMS),
                MECHANISMS[mechanism].summary,
            )
            calibration = effective(s.draft["calibration"], privatizer.calibrations)
            select(
                "Calibration",
                privatizer.calibrations,
                calibration,
                setter("calibration"),
                CALIBRATION,
                FIELDS["calibration"].help,
            )
            number(s, "delta", "Privacy budget δ")
        bonus = effective(s.draft["bonus"], algorithm.bonuses)
        select(
            "Bonus constants",
            algorithm.bonuses,
            bonus,
            setter("bonus"),
            BONUS,
            BONUS_HELP,
        )
        schedule(s)
        number(s, "seeds", "Seeds")
        number(s, "root_seed", "Root seed")
        if model != "none" or bonus == "paper":
            number(s, "beta", "Failure probability β")
        parameters(s, "algorithm", algorithm.key, algorithm.fields)


def schedule(s: Session) -> None:
    """When the learner plans anew: after every user, or after blocks that grow."""
    kind, _, eta = s.draft["schedule"].partition(":")

    def chosen(word: str) -> None:
        s.draft["schedule"] = word if word == "episodic" else f"{GEOMETRIC}:{ETA.default:g}"
        if word == "episodic":
            s.draft["episodes"] = min(s.draft["episodes"], EPISODIC_LIMIT)
        s.version += 1

    select(
        "Learner plans anew",
        (GEOMETRIC, "episodic"),
        kind,
        chosen,
        {GEOMETRIC: "after blocks that grow", "episodic": "after every user (K ≤ 10⁶)"},
        "Times are fixed before the run, so that choosing them leaks nothing.",
    )
    if kind == GEOMETRIC:
        exact(
            "Growth η of a block",
            "schedule",
            ETA,
            float(eta),
            lambda value: s.draft.update(schedule=f"{GEOMETRIC}:{value:g}"),
        )
        complaint("schedule")


def number(s: Session, name: str, label: str) -> None:
    """An exact field for one number of the spec."""
    exact(label, name, FIELDS[name], s.draft[name], setter(name))
    complaint(name)


def run_box(s: Session) -> None:
    """What pressing Run will do, and the button."""
    spec, refusal = spec_of(s)
    known = status(spec).state if spec else "unknown"
    if refusal:
        st.caption(f":red[{escape(refusal)}]")
    elif len(s.curves) >= MAX_CURVES:
        st.caption(f"{MAX_CURVES} curves are the most. Remove one to run another.")
    elif spec and known == "done":
        st.caption("Computed before: it appears at once.")
    elif spec:
        cost = estimate(spec)
        parallel = min(workers(), spec.seeds)
        seconds = duration(cost.seconds * spec.seeds / parallel)
        st.caption(
            f"{plural(spec.seeds, 'seed')}, {count(cost.releases)} plans each: {seconds} once started."
        )
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Run" if known != "done" else "Show",
            type="primary",
            icon=":material/play_arrow:",
            width="stretch",
            disabled=spec is None or len(s.curves) >= MAX_CURVES,
            on_click=run,
            args=(spec,),
            shortcut="Mod+Enter",
            key="run",
        )
        st.button(
            "Reset", on_click=reset, help="All settings back to their defaults; the curves stay.", key="reset"
        )


def run(spec: RunSpec) -> None:
    """The Run button: adds a curve to the comparison and starts it."""
    s = session()
    s.said = add(spec)
    s.runs += 1
    write_address()
    st.rerun()


def reset() -> None:
    """The Reset button."""
    s = session()
    s.draft = draft_of(RunSpec())
    s.version += 1


def spec_of(s: Session) -> tuple[RunSpec | None, str]:
    """The run that the controls describe, or the sentence that says why there is none."""
    if s.wrong:
        return None, next(iter(s.wrong.values()))
    draft = dict(s.draft)
    for owner in ("environment", "algorithm"):
        draft[f"{owner}_params"] = draft[f"{owner}_params"].get(draft[owner], {})
    algorithm = ALGORITHMS[draft["algorithm"]]
    draft["privacy"] = effective(draft["privacy"], algorithm.privacies)
    draft["bonus"] = effective(draft["bonus"], algorithm.bonuses)
    privatizer = PRIVATIZERS[draft["privacy"]]
    if privatizer.mechanisms:
        draft["mechanism"] = effective(draft["mechanism"], privatizer.mechanisms)
        draft["calibration"] = effective(draft["calibration"], privatizer.calibrations)
    try:
        return RunSpec.from_dict(draft), ""
    except SpecError as error:
        return None, str(error)


def effective(wish: str | None, allowed: tuple[str, ...]) -> str:
    """What the visitor chose last where it is allowed, else the first that is."""
    return wish if wish in allowed else allowed[0]


def setter(name: str) -> Any:
    """Stores a value of the draft."""

    def store(value: Any) -> None:
        session().draft[name] = value

    return store


def titles(registry: dict[str, Any]) -> dict[str, str]:
    """Key to title, for a menu."""
    return {key: record.title for key, record in registry.items()}


def params_of(s: Session, owner: str, key: str, fields: tuple[Field, ...]) -> dict[str, Any]:
    """The parameters of an environment or algorithm as the controls show them."""
    given: dict[str, Any] = s.draft[f"{owner}_params"].setdefault(key, {})
    return {f.name: given.get(f.name, f.default) for f in fields}


def parameters(s: Session, owner: str, key: str, fields: tuple[Field, ...]) -> None:
    """A widget for each parameter, short ones beside each other."""
    values = params_of(s, owner, key, fields)
    numbers = [f for f in fields if f.kind in ("int", "float")]
    for group in (numbers[i : i + 3] for i in range(0, len(numbers), 3)):
        for column, f in zip(st.columns(len(group), wrap=False), group, strict=True):
            with column:
                put(s, owner, key, f, values[f.name])
    for f in (f for f in fields if f not in numbers):
        put(s, owner, key, f, values[f.name])


def put(s: Session, owner: str, key: str, f: Field, value: Any) -> None:
    """The widget for one parameter."""

    def store(chosen: Any) -> None:
        s.draft[f"{owner}_params"].setdefault(key, {})[f.name] = chosen

    parameter(f, f"{owner}_params.{key}.{f.name}", value, store)
