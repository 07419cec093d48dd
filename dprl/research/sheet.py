"""A printable sheet about a learned policy, which uses only the released numbers in the policy's file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from dprl.assets import page_of
from dprl.figures.picture import markup
from dprl.learners import OFFLINE
from dprl.sentences import sheet as said
from dprl.sentences import uploads, verdict
from dprl.simulation.uploads.policy import SOMEBODY, Policy

MOST_STATES, MOST_COLUMNS = 40, 12  # the largest table on the sheet; larger ones are only in the file


def sheet(policy: Policy, releases: int = 1) -> str:
    """Return the sheet as self-contained HTML. A policy of ten steps and ten states fits on A4. `releases` is the
    number of releases about the same people, because the best of several may have been chosen."""
    about = policy.about
    parts = [
        *_worth(policy, releases),
        heading(said.SAID["policy"]),
        *_table_of(policy),
        f"<p>{markup(uploads.PAGE['before_use'])}</p>",
        heading(said.SAID["guarantee"]),
        *(f"<p>{markup(text)}</p>" for text in said.guarantee(about["privacy"])),
        heading(said.SAID["blind"]),
        bullets(verdict.SAID["blind"]),
        heading(said.SAID["assumes"]),
        f'<div class="small">{bullets(about["privacy"]["assumes"])}</div>',
    ]
    learned = said.about_the_policy(OFFLINE[about["algorithm"]].title, about)
    return page_of(
        "sheet.html",
        title=escape(said.SAID["title"]),
        about=markup(learned),
        footer=escape(said.footer(about["versions"], policy.digest)),
        parts="\n".join(parts),
    )


def _worth(policy: Policy, releases: int) -> Iterable[str]:
    """Yield the verdict on the policy, and the estimated values with their intervals."""
    about = policy.about
    held, bound = about["held out"], about["bound"]
    head = f"**No verdict.** {uploads.PAGE['nobody']}"
    if held["verdict"]:
        learned, covered = held["learned"][1], held["covered"]
        head = verdict.headline(held["verdict"], tuple(held["difference"]), learned, covered, releases)
    yield f'<div class="verdict">{markup(head)}</div>'
    yield html_table(["Reward of an episode", "About", "95% interval"], verdict.rows_of(about))
    low = bool(held["verdict"]) and bound["worth at least"] < held["behaviour"][1]
    below = f" {uploads.below(held['behaviour'][1])}" if low else ""
    lacking = not all(all(row) for row in policy.enough)
    chance = said.bound_and_chance(bound, lacking)
    yield f"<p>{markup(chance + below)}</p>"
    if held.get("groups"):
        yield html_table(verdict.GROUP_HEADS, verdict.group_rows(held))
        yield f"<p>{markup(verdict.about_groups(held))}</p>"
    if held["verdict"]:
        ends = held["learned"]
        most = bound["held-out users say at most"]
        doubted = verdict.disagree(bound["worth at least"], most)
        overlap = verdict.overlap(held["covered"], held["follows"])
        shown = doubted, verdict.SAID["rule"], overlap, verdict.cautious(*ends)
        yield f"<p>{markup(' '.join(filter(None, shown)))}</p>"


def _table_of(policy: Policy) -> Iterable[str]:
    """Yield the table of actions by state and step; steps with the same actions share a column."""
    met = [policy.states.index(state) for state in policy.met]
    by_step = [
        tuple(actions[s] if enough[s] else SOMEBODY for s in met)
        for actions, enough in zip(policy.steps, policy.enough, strict=True)
    ]
    groups = [
        (done, [h for h, _ in found]) for done, found in groupby(enumerate(by_step), lambda each: each[1])
    ]
    if len(met) > MOST_STATES or len(groups) > MOST_COLUMNS:
        yield f"<p>{said.SAID['in_a_file']}</p>"
        return
    first = policy.first_step
    columns = ["State", *(said.steps(steps[0] + first, steps[-1] + first) for _, steps in groups)]
    rows = [(state, *(done[s] for done, _ in groups)) for s, state in enumerate(policy.met)]
    yield html_table(columns, rows)
    lacking = [said.SAID["lacking"]] * any(SOMEBODY in row for row in rows)
    yield f"<p>{' '.join([uploads.PAGE['first_step'].format(first=first), *lacking])}</p>"


def heading(text: str) -> str:
    """Return the HTML heading of a part of the sheet."""
    return f"<h2>{escape(text)}</h2>"


def bullets(texts: Iterable[str]) -> str:
    """Return sentences as an HTML list with bullets."""
    return f"<ul>{''.join(f'<li>{markup(text)}</li>' for text in texts)}</ul>"


def html_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table that is only as wide as its content."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'
