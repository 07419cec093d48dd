"""The tab Guarantee: what each run promises to its users, what its noise proves, and where the noise enters."""

from __future__ import annotations

import math
from collections.abc import Sequence

import streamlit as st

from dprl.fields import SpecError
from dprl.figures import guarantee as figures
from dprl.figures.style import Picture
from dprl.jobs.store import RunStatus
from dprl.privacy import PRIVATIZERS, Guarantee
from dprl.privacy.guarantee import Reading
from dprl.sentences import price as sentences
from dprl.statistics import ADD_REMOVE, REPLACE_ONE
from dprl.words import human, promise, significant
from pages.explore import view
from pages.shared.layout.chart import kept, show, sketch
from pages.shared.layout.frame import dark
from pages.shared.results import answers
from pages.shared.text import escape
from pages.shared.visitor.links import Curve
from pages.shared.visitor.state import session

PROMISES = {p.words.model: p.words.promise for p in PRIVATIZERS.values()}
NEIGHBOURS = {
    REPLACE_ONE: "replaced by another",
    ADD_REMOVE: "added or removed",
}
ACCOUNTANT = "our accountant"
EQUAL = 0.005  # relative: budgets this close are the same
MEANING = r"""
Take any two lists of users that differ in one of them, and any set of outcomes that somebody might look for. The noise
proves **(ε, δ)** when the chance of these outcomes with the one list is at most

$$
P[\text{outcomes} \mid \text{one list}] \;\le\; e^{\varepsilon}\, P[\text{outcomes} \mid \text{the other}] + \delta .
$$

So whatever you did in your episode, nobody can learn much from it: at ε = 0.1 every outcome is at most 1.11 times as
likely as if you had done something else, at ε = 1 at most 2.7 times, at ε = 10 up to 22,000 times. δ is the
probability that may escape this. Papers usually promise it for lists in which one user is **replaced** by another;
some of their proofs count what moves when one user is **added or removed**, which is half as much.
"""


def tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """A card for every visible curve, beside each other; then what other noise would have done.

    All of it follows from the specs: it is there before the first seed is finished, and whatever becomes of the runs.
    """
    s = session()
    rows = [row for row in zip(s.explore.curves, titles, strict=True) if not row[0].hidden]
    if not rows:
        st.info("All curves are hidden. Show one to see what it guarantees.")
        return
    with st.expander("What does (ε, δ) promise?", icon=":material/help:"):
        st.markdown(MEANING)
    grid = st.grid("auto", min_column_width=330)
    found: dict[int, Guarantee] = {}
    for curve, title in rows:
        with grid.cell(), st.container(border=True, height="stretch"):
            st.markdown(f"#### {escape(title)}", anchors=False)
            drawing(curve.spec.privacy)
            try:
                guarantee = answers.guarantee(curve.spec)
            except SpecError as error:
                st.caption(f":red[{escape(str(error))}]")
                continue
            if guarantee is None:
                st.markdown(escape(PRIVATIZERS[curve.spec.privacy].trust))
                st.caption("What its noise proves is being worked out.")
            else:
                key = s.explore.curves.index(curve)
                card(guarantee, key)
                found[key] = guarantee
    compare_noise({i: g for i, g in found.items() if g.ladder}, titles)


def drawing(privacy: str) -> None:
    """Who sees raw data, where noise enters, who is trusted."""
    sketch(figures.trust(PRIVATIZERS[privacy].words, privacy, dark=dark()))


def card(g: Guarantee, key: int) -> None:
    """One guarantee, in words and numbers; the parts stand in the same order in every card."""
    st.markdown(f"**{PROMISES[g.model]}**{f' ({g.model})' if g.model != 'none' else ''}")
    st.markdown(escape(g.trust))
    if g.claimed_epsilon is None:
        return
    icon, sentence = verdict(g)
    st.markdown(f":material/{icon}: {sentence}")
    with st.container(horizontal=True, gap="medium", key=f"budget_{key}"):
        st.metric("Claimed (ε, δ)", promise(g.claimed_epsilon, g.claimed_delta or 0.0), width="content")
        st.metric("Proved (ε, δ)", proved(g), width="content")
        st.metric(
            "Noise on a count",
            f"± {significant(g.noise_std, 3)}",
            width="content",
            help="One standard deviation of the noise in one counter of visits, at the worst release.",
        )
    st.markdown(readings(g.readings))
    rows = {
        "Protected": g.unit,
        "Noise": f"{g.mechanism}: {g.noise_formula}",
        # the noise of a shuffler is bits, and each is one visit: that has no scale to tell
        "Scale of one draw": "" if g.model == "SDP" else f"{significant(g.noise_scale)} visits",
        "Where it enters": g.where,
        "Taken as public, so not protected": "; ".join(g.public),
    }
    st.markdown("\n".join(f"- **{name}:** {escape(text)}" for name, text in rows.items() if text))
    with st.expander("What it assumes, and sources"):
        st.markdown("\n".join(f"- {escape(text)}" for text in g.assumptions))
        st.caption(escape("Sources: " + "; ".join(g.sources) + "."))


def proved(g: Guarantee) -> str:
    """What the noise proves when one user is replaced, at the run's own delta."""
    return "–" if g.proved_epsilon is None else promise(g.proved_epsilon, g.proved_delta or 0.0)


def verdict(g: Guarantee) -> tuple[str, str]:
    """An icon and a sentence: does the noise prove what is claimed?"""
    assert g.claimed_epsilon is not None
    claim = promise(g.claimed_epsilon, g.claimed_delta or 0.0)
    if g.proved_epsilon is None or (g.proved_delta or 0.0) > (g.claimed_delta or 0.0):
        return "warning", f"It claims {claim}, **which nobody has proved** for this noise."
    share = g.proved_epsilon / g.claimed_epsilon
    if abs(share - 1) <= EQUAL:
        icon, said = (
            "verified",
            f"**It proves what it claims:** {proved(g)} when one user is replaced by another.",
        )
    elif share > 1:
        icon = "warning"
        said = f"**It proves less than it claims:** {proved(g)}, and it claims {claim}."
        if any(
            r.adjacency == ADD_REMOVE and math.isclose(r.epsilon, g.claimed_epsilon, rel_tol=EQUAL)
            for r in g.readings
        ):
            said += " The claim holds when a user is added or removed; replacing one moves twice as much."
    else:
        icon = "verified"
        said = (
            f"**It proves more than it claims:** {proved(g)}, and it claims {claim}: more noise than needed."
        )
    other = at_reference(g)
    if other is not None:
        said += f" At δ = {human(other.delta)} the same noise proves ε = {human(other.epsilon)}."
    return icon, said


def at_reference(g: Guarantee) -> Reading | None:
    """For noise that promises δ = 0: what it proves at the δ every card has, when one user is replaced."""
    if g.proved_delta:
        return None
    return next((r for r in g.readings if r.adjacency == REPLACE_ONE and r.delta > 0), None)


def readings(found: Sequence[Reading]) -> str:
    """Everything that the noise proves, as a table; the argument is named where it is not our accountant."""
    lines = ["| when a user is | at\u00a0δ\u00a0= | proves\u00a0ε\u00a0= |", "| --- | ---: | ---: |"]
    for r in sorted(found, key=lambda r: (r.adjacency != REPLACE_ONE, r.delta, r.epsilon)):
        who = NEIGHBOURS.get(r.adjacency, r.adjacency)
        how = "" if r.how == ACCOUNTANT else f", by {r.how}"
        lines.append(f"| {escape(who + how)} | {human(r.delta)} | {human(r.epsilon)} |")
    return "\n".join(lines)


def compare_noise(found: dict[int, Guarantee], titles: Sequence[str]) -> None:
    """The ladder from the printed noise to the least, for one of the curves that have one."""
    if not found:
        return
    st.markdown("#### How much noise a promise needs")
    st.markdown(
        "Each bar is one idea better than the one above it, at the same ε: first the noise as a paper prints it, then "
        "honest accounting, fewer releases, and better ways to draw it."
    )
    chosen = view.curve("Of which curve", list(found), titles)
    g = found[chosen]
    curve: Curve = session().explore.curves[chosen]
    night = dark()
    show(kept(("ladder", curve.spec.to_json(), night), lambda: ladder(g, night)), "ladder")


def ladder(g: Guarantee, night: bool) -> Picture:
    """The ladder of a card, with the run's own noise in it."""
    steps = [figures.Step(s.what, s.std, s.epsilon, s.delta) for s in g.ladder]
    mine = g.noise_std or 0.0
    own = next((i for i, s in enumerate(steps) if math.isclose(s.std, mine, rel_tol=EQUAL)), None)
    if own is None:
        ours = figures.Step(f"this run: {g.mechanism}", mine, g.proved_epsilon or 0.0, g.proved_delta or 0.0)
        own = next((i for i, s in enumerate(steps) if i > 1 and s.std < mine), len(steps))
        steps.insert(own, ours)
    see = sentences.ladder(steps, own)
    return figures.ladder(steps, own=own, epsilon=g.claimed_epsilon, see=see, dark=night)
