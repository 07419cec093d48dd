"""The tab Your data: what was released, and what was learned from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dprl import links
from dprl.figures import offline as figures
from dprl.figures import released as policies
from dprl.figures.picture import Picture
from dprl.mdp import counts
from dprl.research.sheet import sheet
from dprl.sentences import offline as sentences
from dprl.sentences import uploads as said
from dprl.sentences import verdict
from dprl.simulation import RunSpec, UploadSpec, UploadTrace, fitted_model
from dprl.simulation.uploads.ledger import Budget
from dprl.simulation.uploads.policy import SOMEBODY
from dprl.users import Asked
from dprl.words import human
from pages.data.own import BUDGET, Own, spent
from pages.data.purse import account
from pages.data.state import lacking, start
from pages.shared.layout.chart import kept, show
from pages.shared.layout.download import save
from pages.shared.layout.frame import dark
from pages.shared.layout.menu import page_link
from pages.shared.layout.terms import explained
from pages.shared.offline.guarantee import promised
from pages.shared.offline.names import promise_words
from pages.shared.results import answers, data, together
from pages.shared.results.again import save_citations
from pages.shared.text import escape
from pages.shared.visitor.callbacks import callback, on_value
from pages.shared.visitor.draft import draft_of
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import add, session
from pages.users.link import encode

ABOUT = ("About", "95% interval")


def show_release(own: Own) -> None:
    """The bound at every budget, then one release closely."""
    if not own.specs:
        return
    st.markdown("## What was released", anchors=False)
    state = together.progress(own.specs, lacking(own), owner_id("upload"))
    together.strip(state, owner_id("upload"), start)
    done = [(spec, trace) for spec in own.specs if (trace := data.trace(spec, 0)) is not None]
    if not done:
        return
    if data.store().public or not Budget.known(own.purse):
        so_far = said.about_spending(escape(spent([spec for spec, _ in done])))
    else:
        so_far = f"{said.budget_so_far(*account(own))} {said.ADDS_UP}"
    st.markdown(explained(f":material/payments: {so_far}"))
    closely(own, done)
    bounds(own, done)
    if own.data is not None:
        explore(own)
    size, n = own.specs[-1].public.size, own.specs[-1].n
    page_link(
        "users",
        "Users needed to learn online at these sizes",
        encode(Asked(users=n, S=size.S, A=size.A, H=size.H)),
    )


def bounds(own: Own, done: list[tuple[UploadSpec, UploadTrace]]) -> None:
    """V~ against the budget, for the promise and the learner that were asked for last."""
    last = own.specs[-1]
    rows = {
        float(getattr(spec, BUDGET[last.privacy])): (float(trace.curve.values[0]), spec)
        for spec, trace in done
        if (spec.data, spec.privacy, spec.algorithm) == (last.data, last.privacy, last.algorithm)
    }
    if not rows:
        return
    public, night, learner = last.public, dark(), last.learner
    of, needs = (
        said.people(last.learned_from, public.episodes),
        said.needs(public.episodes, public.stationary),
    )
    least, most = (public.size.H * reward for reward in public.reward_range)
    unproved = learner.unproved(last.algorithm_params)
    name = "ρ" if BUDGET[last.privacy] == "rho" else "ε"
    why = said.nothing(_bound_reach(rows[max(rows)][1]))
    lower = [(given, value) for given, (value, _) in sorted(rows.items())]
    see = sentences.about_lower_bounds(
        lower, name, of, least, last.beta, unproved, why, learner.proved, needs
    )
    st.markdown("### The bound", anchors=False)
    largest = rows[max(rows)][1]
    starts = next(trace.lower for spec, trace in done if spec == largest)
    if not unproved:
        see += f" {sentences.bounds_by_start(public.states, starts.tolist())}"
    if len(lower) == 1:  # one point is no picture
        st.markdown(explained(see))
        return
    picture = kept(
        ("own-bounds", night, last.data, learner.key, name, see, *lower),
        lambda: figures.lower_bounds_over_budgets(
            lower,
            name=name,
            least=least,
            most=most,
            see=see,
            dark=night,
        ),
    )
    show(picture, "own_bounds")


def _bound_reach(spec: UploadSpec) -> dict[str, Any] | None:
    """What its bound could come to, once that is known."""
    found = answers.reach_of_release(spec)
    return found if isinstance(found, dict) else None


def closely(own: Own, done: list[tuple[UploadSpec, UploadTrace]]) -> None:
    """One release: its policy, its card, its files."""
    several = len({spec.algorithm for spec, _ in done}) > 1
    reads = list(dict.fromkeys(spec.data for spec, _ in done))

    def title(spec: UploadSpec) -> str:
        parts = [spec.learner.title] * several + [promise_words(spec)]
        return ", ".join(parts + [f"reading {reads.index(spec.data) + 1}"] * (len(reads) > 1))

    titles = {title(spec): (spec, trace) for spec, trace in done}
    key = f"{own.turn}:own:close:{len(titles)}"
    chosen = next(iter(titles))
    if len(titles) > 1:
        chosen = str(
            st.selectbox("Release to look at", list(titles), index=len(titles) - 1, key=key, filter_mode=None)
        )
    spec, trace = titles[chosen]
    public, night = spec.public, dark()
    picture = kept(("own-policy", night, spec.to_json()), lambda: beside_usual(spec, trace, night))
    today(spec, trace, len(done))
    st.markdown("### What the policy does", anchors=False)
    show(picture, "own_policy")
    st.markdown(explained(said.BEFORE_USE))
    with st.container(horizontal=True, gap="small"):
        save("policy.json", "Policy (JSON)", "application/json", trace.policy_file)
        save("policy.csv", "Policy (CSV)", "text/csv", trace.steps)
        save("release.json", "Release (JSON)", "application/json", trace.release)
        save("sheet.html", "Sheet to print (HTML)", "text/html", lambda: sheet(trace.portable))
        save_citations([spec])
    st.caption(said.TO_USE_IT)
    st.code(
        f'dprl.Policy.load("policy.json").act({json.dumps(public.states[0])}, step={spec.first_step})',
        language="python",
    )
    with st.expander("Privacy guarantee and assumptions"):
        promised(spec, 99)


def beside_usual(spec: UploadSpec, trace: UploadTrace, night: bool) -> Picture:
    """The policy, and what users got most often as the release has it."""
    public, file, E = spec.public, trace.portable, float(next(iter(trace.errors.values())))
    enough = np.array(file.enough)
    visits = counts.visits(trace.released)
    labels = file.met
    met = [public.states.index(state) for state in labels]
    policy, enough, visits = trace.policy[:, met], enough[:, met], visits[:, met]
    found = policies.changed(policy, enough, visits, E)
    see = said.changes(
        found.most and named(labels, public.actions, *found.most),
        found.changed,
        found.places,
        found.lacking,
        SOMEBODY,
        float(trace.checked["follows"]) if trace.checked else None,
        spec.first_step,
    )
    return policies.policy_beside_usual(
        policy,
        enough,
        visits,
        E,
        state_labels=labels,
        action_labels=public.actions,
        somebody=SOMEBODY,
        first_step=spec.first_step,
        when=f"from {said.people(spec.learned_from, public.episodes)}",
        see=see,
        dark=night,
    )


def named(
    states: Sequence[str], actions: Sequence[str], h: int, s: int, a: int, usual: int
) -> tuple[str, int, str, str]:
    """A state at a step and two actions there, in the visitor's words."""
    return states[s], h, actions[a], actions[usual]


def today(spec: UploadSpec, trace: UploadTrace, releases: int) -> None:
    """Show whether the policy is better than what was done, by people held out. releases: to choose from."""
    if not trace.verdict:
        return
    st.markdown("### Better than today?", anchors=False)
    head, covered, *blind = verdict.said(trace, releases)
    {"better": st.success, "worse": st.warning}.get(trace.verdict, st.info)(head)
    bound, proved, unit = float(trace.curve.values[0]), bool(spec.learner.proved), spec.public.unit
    frame = pd.DataFrame(
        verdict.checked_rows(trace.today, bound, proved), columns=["Reward of an episode", *ABOUT]
    )
    if unit:
        for name, i in zip(ABOUT, (1, 2), strict=True):
            of_unit = verdict.checked_rows(trace.today, bound, proved, unit[0])
            frame[f"{name}, in {unit[1]}"] = [row[i] for row in of_unit]
    st.table(frame.set_index(frame.columns[0]))  # which breaks lines where a telephone is narrow
    st.markdown(covered)
    least = spec.problem_size.H * spec.public.reward_range[0]
    if proved and least < bound < (got := float(trace.today["behaviour"][1])):
        st.markdown(explained(said.below(got, _bound_reach(spec))))
    with st.expander("What no statistic here can see", expanded=True):
        st.markdown("\n".join(f"- {sentence}" for sentence in blind))


def explore(own: Own) -> None:
    """What online learning would cost there, in Explore."""
    with st.popover("Simulate online learning", icon=":material/show_chart:"):
        st.markdown(explained(f"{said.NOT_PRIVATE} {said.ESTIMATE}"))
        key = f"{own.turn}:own:may"
        may = st.checkbox(
            "I may publish these frequencies", key=key, on_change=on_value(key, lambda value: None)
        )
        st.button(
            "Add the model to Online",
            key="own_explore",
            disabled=not may,
            on_click=callback(leave),
            args=(own,),
        )


def leave(own: Own) -> None:
    """Puts the fitted model into Explore's comparison; the page is left when it is drawn next."""
    if own.data is None:
        return
    s = session()
    model = fitted_model(own.data)
    s.files[links.text_digest(model)] = model
    H = own.data.problem_size.H
    spec = RunSpec(environment="custom", environment_params={"model": model, "H": H})
    s.drafts["explore"] = draft_of(spec)
    s.version += 1
    s.said = add(spec) or f"A run of {human(spec.episodes)} users on the fitted model was added."
    own.leaving = True
