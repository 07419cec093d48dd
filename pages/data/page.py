"""The Your data page, which learns a policy from a visitor's own private data set."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.figures import steps
from dprl.figures.picture import Picture
from dprl.mdp import counts
from dprl.messages import filled
from dprl.research.sheet import sheet
from dprl.sentences import uploads as said
from dprl.sentences import verdict
from dprl.simulation import UploadSpec, UploadTrace
from dprl.simulation.uploads.ledger import Budget
from dprl.simulation.uploads.ledger import together as together_of
from dprl.simulation.uploads.policy import SOMEBODY
from dprl.simulation.uploads.run import draws_of
from dprl.simulation.uploads.trace import registry_entry
from dprl.uploads import readings
from dprl.words import human
from pages.data.file import before_release, collect, form, stop
from pages.data.own import RUNS, Own, example_trace, going, own_data
from pages.shared.layout.chart import kept, save, save_citations, show
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import head, share
from pages.shared.layout.terms import escape, explained
from pages.shared.results import data
from pages.shared.results.guarantee import promised
from pages.shared.results.status import PACE
from pages.shared.visitor.callbacks import button
from pages.shared.visitor.state import read_address


def main() -> None:
    own = own_data()
    read_address(own)
    corner = head(own)
    redrawn(partial(draw, own, corner), PACE if going(own) else None)


def draw(own: Own, corner: DeltaGenerator, live: bool) -> None:
    """Draw an example and the visitor's own file, and redraw while a file is read or a release is computed."""
    if live != going(own):
        st.rerun()
    with corner:
        share(own)
    collect(own)
    if not own.specs and own.data is None and own.reading is None:
        trace = example_trace()
        st.markdown(f"## An example: {human(trace.spec.n)} simulated patients", anchors=False)
        st.markdown(explained(filled(said.PAGE["example"], rho=f"{trace.spec.rho:g}")))
        on_one_screen(trace, 1, "own_example")
    st.markdown(f"## {'Your release' if own.specs else 'Use your own file'}", anchors=False)
    if not readings.allowed():
        st.info(said.PAGE["off"], icon=":material/lock:")
        return
    if (reading := own.reading) is not None:
        st.progress(reading.share, said.reading(reading.share, reading.ahead))
        button("Stop reading", stop, own, icon="cancel", key="own_stop")
        return
    show_release(own)
    if own.data is not None:
        before_release(own)
    form(own)
    st.caption(explained(said.PAGE["commands"]))
    st.code(said.PAGE["command_lines"], language="sh", wrap_lines=True)


BOXES = {"better": st.success, "worse": st.warning}


def show_release(own: Own) -> None:
    """Draw the last release from the visitor's file and the budget spent so far."""
    if not own.specs:
        return
    RUNS.strip(RUNS.progress(own.specs))
    done = [(spec, trace) for spec in own.specs if (trace := data.trace(spec, 0)) is not None]
    if not done:
        return
    spec, trace = done[-1]
    budget = None if data.store().public else Budget(own.budget)
    releases = len(done) if budget is None else len(budget.releases)
    on_one_screen(trace, releases, "own_policy")
    with st.expander("Proved guarantee"):
        st.markdown(explained(verdict.proved(trace)))
    if budget is None:
        total = together_of(draw for each, _ in done for draw in draws_of(each)).text
        spent = f"Since this file was read, your releases have cost **{escape(total)}** in total."
    else:
        spent = said.budget_so_far(budget, escape)
    st.markdown(explained(f":material/payments: {spent} {said.PAGE['adds_up']}"))
    with st.container(horizontal=True, gap="small"):
        save("policy.json", "Policy (JSON)", lambda: trace.portable.to_json())
        save("policy.csv", "Policy (CSV)", lambda: trace.portable.csv_text())
        save("sheet.html", "Sheet to print (HTML)", lambda: sheet(trace.portable, releases))
        save("release.json", "Release (JSON)", trace.release)
        save("registry.yaml", "Registry entry (YAML)", lambda: registry_entry(trace))
        save_citations([spec])
    st.caption(explained(f"{said.PAGE['save_them']} {said.PAGE['to_use_it']}"))
    act = f'dprl.Policy.load("policy.json").act({json.dumps(spec.public.states[0])}, step={spec.first_step})'
    st.code(act, language="python")
    with st.expander("Privacy guarantee and assumptions"):
        promised(spec, 99)


def on_one_screen(trace: UploadTrace, releases: int, key: str) -> None:
    """Draw the verdict, the policy next to the usual one, and the limits of the numbers."""
    spec = trace.spec
    picture = kept((key, spec.to_json()), partial(beside_usual, spec, trace))
    head, covered, *blind = verdict.said(trace, releases) or [said.PAGE["nobody"], ""]
    BOXES.get(trace.verdict, st.info)(head)
    held = trace.held_out(trace.recommended)
    if groups := [(escape(label), *row) for label, *row in verdict.group_rows(held)]:
        st.table(pd.DataFrame(groups, columns=verdict.GROUP_HEADS).set_index("Group"))
        st.markdown(explained(verdict.about_groups(held)))
    left, right = st.columns(2, gap="medium")
    with left:
        if trace.verdict:
            rows = verdict.rows_of(trace.portable.about)
            frame = pd.DataFrame(rows, columns=["Reward of an episode", "About", "95% interval"])
            st.table(frame.set_index(frame.columns[0]))  # a table wraps its lines on a narrow phone
            st.caption(explained(covered))
        st.markdown("### Limits of these numbers", anchors=False)
        st.markdown("\n".join(f"- {sentence}" for sentence in (*blind, said.PAGE["before_use"])))
    with right:
        show(picture, key)


def beside_usual(spec: UploadSpec, trace: UploadTrace, night: bool) -> Picture:
    """Draw the learned policy next to the users' most frequent actions, which the release estimates."""
    public, file, E = spec.public, trace.portable, float(next(iter(trace.errors.values())))
    labels = file.met
    met = [public.states.index(state) for state in labels]
    enough, visits = np.array(file.enough)[:, met], counts.visits(trace.released)[:, met]
    policy = trace.policy[:, met]
    most, differing, lacking = steps.changed(policy, enough, visits, E)
    place = None
    if most:
        h, s, a, usual = most
        place = labels[s], h, public.actions[a], public.actions[usual]
    follows = trace.shares.get("follows")
    see = said.changes(place, differing, policy.size, lacking, SOMEBODY, follows, spec.first_step)
    when = f"from {said.people(spec.learned_from, public.episodes)}"
    how: dict[str, Any] = {"state_labels": labels, "action_labels": public.actions, "somebody": SOMEBODY}
    how |= {"first": spec.first_step, "when": when, "see": see, "dark": night}
    return steps.policy_beside_usual(policy, enough, visits, E, **how)


main()
