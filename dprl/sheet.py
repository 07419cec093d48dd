"""A learned policy on a sheet to print: what it is worth, what is guaranteed, what no number here can see, what to do.

All of it follows from the policy's file, which holds nothing but what was released.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from dprl.assets import web_source
from dprl.figures.standalone_html import markup
from dprl.learners import OFFLINE
from dprl.sentences import sheet as said
from dprl.sentences import verdict
from dprl.simulation.uploads.policy import SOMEBODY, Policy

MOST_STATES, MOST_COLUMNS = 40, 12  # of the table: what is larger is for a file


def sheet(policy: Policy) -> str:
    """The sheet as HTML, which asks for nothing from elsewhere. A policy of ten steps and ten states fits on A4."""
    about = policy.about
    parts = [
        *_worth(about),
        _head(said.POLICY),
        *_table_of(policy),
        _head(said.GUARANTEE),
        *_paragraphs(said.guarantee(about["privacy"])),
        _head(said.BLIND),
        _list(_blind(about)),
        _head(said.ASSUMES),
        f'<div class="small">{_list(about["privacy"]["assumes"])}</div>',
    ]
    return (
        web_source("sheet.html")
        .replace("{title}", escape(said.TITLE))
        .replace("{about}", markup(said.about(OFFLINE[about["algorithm"]].title, about)))
        .replace("{footer}", escape(said.footer(about["versions"], policy.digest)))
        .replace("{parts}", "\n".join(parts))  # last, for what visitors wrote is not to be searched
    )


def _worth(about: Mapping[str, Any]) -> Iterable[str]:
    """The verdict, and values with their intervals."""
    held, bound, unit = about["held out"], about["bound"], about.get("one reward point is")
    head = said.NOBODY
    if held["verdict"]:
        low, value, high = held["difference"]
        worth = (unit[0], unit[1]) if unit else None
        learned, covered = held["learned"][1], held["covered"]
        head = verdict.headline(held["verdict"], (low, value, high), learned, covered, worth)
    yield f'<div class="verdict">{markup(head)}</div>'
    columns = ["Reward of an episode", "About", "95% interval"]
    rows: list[tuple[str, ...]] = [*said.values(held, bound)]
    if unit:
        columns += [f"About, in {unit[1]}", f"95% interval, in {unit[1]}"]
        rows = [(*row, *more[1:]) for row, more in zip(rows, said.values(held, bound, unit[0]), strict=True)]
    if rows:
        yield _table(columns, rows)
    yield f"<p>{markup(said.bound(bound))}</p>"
    if held["verdict"]:
        yield f"<p>{markup(verdict.overlap(held['covered'], held['follows']))}</p>"


def _table_of(policy: Policy) -> Iterable[str]:
    """What to do by state and step; steps in which the same is done are one column."""
    by_step = [
        tuple(action if enough else SOMEBODY for action, enough in zip(*row, strict=True))
        for row in zip(policy.steps, policy.enough, strict=True)
    ]
    groups = [
        (done, [h for h, _ in found]) for done, found in groupby(enumerate(by_step), lambda each: each[1])
    ]
    if len(policy.states) > MOST_STATES or len(groups) > MOST_COLUMNS:
        yield f"<p>{said.IN_A_FILE}</p>"
        return
    columns = ["State", *(said.steps(steps[0], steps[-1]) for _, steps in groups)]
    rows = [(state, *(done[s] for done, _ in groups)) for s, state in enumerate(policy.states)]
    yield _table(columns, rows)
    yield f"<p>{said.LACKING}</p>" if any(SOMEBODY in done for done, _ in groups) else ""


def _blind(about: Mapping[str, Any]) -> list[str]:
    held = about["held out"]
    ends = verdict.turned(held["difference"][0], held["difference"][2]) if held["verdict"] else []
    return [*verdict.BLIND, *ends]


def _head(text: str) -> str:
    return f"<h2>{escape(text)}</h2>"


def _paragraphs(texts: Iterable[str]) -> Iterable[str]:
    return (f"<p>{markup(text)}</p>" for text in texts)


def _list(texts: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{markup(text)}</li>' for text in texts)}</ul>"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'
