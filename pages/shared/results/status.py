"""The status of runs, in words, with the possible actions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import streamlit as st

from dprl.runs.status import RunStatus
from dprl.simulation import RunSpec, Spec, compiles
from dprl.words import duration, ordinal, plural
from pages.shared.layout.browser import say
from pages.shared.results.data import store
from pages.shared.text import escape
from pages.shared.visitor.callbacks import button
from pages.shared.visitor.links import Curve
from pages.shared.visitor.state import ask, attempt, session

ACTIVE = ("queued", "running")
NAMED = 3  # runs that are named where they stand alike; more are counted
PACE = ((20.0, 0.4), (math.inf, 1.0))  # with less than so many seconds left, look again after so many


def words(run: RunStatus) -> str:
    """Return one sentence, plain text; "" for a run that is simply finished."""
    takes = None if run.seconds_left is None else duration(run.seconds_left)
    if run.state == "queued":
        said = [f"{ordinal(run.place + 1)} in the queue" if run.place else "next"]
        if takes:
            said.append(f"then {takes} to compute")
        return f"Waiting: {', '.join(said)}."
    if run.state == "running":
        said = [f"{run.progress:.0%}", f"{run.seeds_done} of {plural(run.seeds, 'seed')} finished"]
        if takes:
            said.append(f"{takes} left")
        return f"Running: {', '.join(said)}."
    if run.state == "failed":
        return f"Failed. {run.message or 'No reason was given.'}"
    if run.state == "cancelled":
        if run.progress > 0:
            return f"Cancelled at {run.progress:.0%}: the results so far are shown."
        return "Cancelled at 0%: nothing had been computed."
    if run.state == "unknown":
        return run.message or "Not computed yet."
    return ""


def note(run: RunStatus) -> str:
    """Return the legend's note on a curve that is not finished."""
    going = f"{run.seeds_done} of {run.seeds} seeds"
    said = {"done": "", "queued": "waiting", "running": going, "failed": "failed"}
    return said.get(run.state, "stopped")


def awaited(runs: Iterable[RunStatus], specs: Iterable[RunSpec] = ()) -> str:
    """Return the placeholder for a chart of these runs."""
    if not any(run.state in ACTIVE for run in runs):
        return "Nothing has been computed."
    if any(compiles(spec) for spec in specs):
        return (
            "This machine compiles the algorithm before its first run. This needs about half a minute, and longer if "
            "the machine is busy."
        )
    return "The first points appear in a moment."


def working_out(what: str) -> str:
    """Return the placeholder for a worker's answer. what: as in "the penalties"."""
    return f"Working out {what} ..."


def pace(going: Sequence[RunStatus]) -> float | None:
    """Return the seconds between two looks at unfinished runs; None without any, or while the visitor paused them."""
    s = session()
    s.paused = s.paused and bool(going)  # what begins later is not paused
    if not going or s.paused:
        return None
    left = max(run.seconds_left or 0.0 for run in going)
    return next(seconds for limit, seconds in PACE if left < limit)


def pause_switch() -> None:
    """Draw the toggle that keeps live curves still. It has another key after each Run, which sets them going again."""
    s = session()
    paused = st.toggle("Pause live", s.paused, key=f"{s.version}:{s.runs}:paused")
    if paused != s.paused:
        s.paused = paused
        st.rerun()


def strip(curves: list[Curve], titles: list[str], runs: list[RunStatus]) -> None:
    """Draw a line on the progress, and one for each reason why curves are not complete, with the button that helps."""
    shown = [
        row
        for row in zip(curves, titles, runs, strict=True)
        if not (row[0].hidden or (row[0].draft and row[2].state in ACTIVE))
    ]
    going, visitor = [row for row in shown if row[2].state in ACTIVE], session().visitor
    say(aloud([run for _, _, run in shown]), "runs")
    if going:
        share = sum(run.progress for _, _, run in going) / len(going)
        said, label = words_together([run for _, _, run in going]), "Cancel all"
        if len(going) == 1:
            said, label = f"**{escape(going[0][1])}** · {escape(words(going[0][2]))}", "Cancel"
        line(share, said, partial(cancel, [curve.spec for curve, _, _ in going], visitor), label)
    reasons: dict[str, list[tuple[Curve, str, RunStatus]]] = {}
    for row in shown:
        if row[2].state not in (*ACTIVE, "done"):
            reasons.setdefault(words(row[2]), []).append(row)
    for i, (reason, rows) in enumerate(reasons.items()):
        failed = rows[0][2].state == "failed"
        specs = [curve.spec for curve, _, _ in rows]
        icon = ":material/error:" if failed else ":material/info:"
        named = ", ".join(escape(title) for _, title, _ in rows)
        names = named if len(rows) <= NAMED else f"{len(rows)} runs"
        cost = "" if failed else f" What is missing: {price(specs)}."
        again = "Try again" if failed else "Run it" if len(rows) == 1 else "Run them"
        why = f"{icon} **{names}** · {escape(reason)}{cost}"
        stopped(why, again, "replay", partial(ask, specs, visitor, again=True), f"retry_{i}")


def line(share: float, said: str, withdraw: Callable[[], object], label: str = "Cancel") -> None:
    """Draw the progress of unfinished runs, with the button that withdraws from them."""
    with st.container(
        key="status_going", horizontal=True, wrap=False, vertical_alignment="center", gap="small"
    ):
        st.progress(min(1.0, max(0.0, share)), said, width="stretch")
        act(label, "close", withdraw, "cancel")


def stopped(why: str, label: str, icon: str, action: Callable[[], object], key: str) -> None:
    """Draw the reason why runs are not complete, in Markdown, with the button that helps."""
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.markdown(why, width="stretch")
        act(label, icon, action, key)


def aloud(runs: Sequence[RunStatus]) -> str:
    """Describe the status of runs in words that change only when all is done."""
    states = [run.state for run in runs]
    if any(state in ACTIVE for state in states):
        return "Running."
    return ended(len(states), states.count("done"), states.count("failed"))


def ended(runs: int, done: int, failed: int) -> str:
    """Describe the end of runs."""
    others = f"{runs - done - failed} not computed." if done + failed < runs else ""
    said = (f"{plural(done, 'run')} finished." if done else "", f"{failed} failed." if failed else "", others)
    return " ".join(filter(None, said))


def price(specs: Sequence[Spec]) -> str:
    """Describe the cost of requesting runs, some of whose seeds may exist already."""
    seeds, seconds = store().cost(specs)
    return f"{plural(seeds, 'seed')}, {duration(seconds)} of one core"


def cancel(specs: Sequence[Spec], owner: str) -> None:
    """Withdraw from runs; finished results stay."""
    for spec in specs:
        attempt(store().cancel, spec, owner)


def words_together(runs: list[RunStatus]) -> str:
    """Describe the status of several runs in one sentence."""
    running = sum(run.state == "running" for run in runs)
    left = max((run.seconds_left or 0.0 for run in runs), default=0.0)
    if not running:
        return f"**{len(runs)} runs** · all waiting, then {duration(left)} to compute."
    share = sum(run.progress for run in runs) / len(runs)
    waiting = f"{len(runs) - running} waiting"
    return f"**{len(runs)} runs** · {running} running, {waiting}, {share:.0%} done, {duration(left)} left."


def act(label: str, icon: str, action: Callable[[], object], key: str) -> None:
    """Draw a small button that changes a run; the page is redrawn, so that live parts start and stop."""

    def pressed() -> None:
        action()
        st.rerun()

    button(label, pressed, icon=icon, key=key, width="content")
