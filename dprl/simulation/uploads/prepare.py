"""The table of trajectories, made of a file by what is declared: columns named, states made of several columns, numbers
binned, rows sorted, episodes with fewer steps continued, and of each person the first few episodes kept.

Each row of the table follows from one person's rows and from the declaration. So another person in place of one moves
as much as in a file that needs none of this: one unit at each step from one cell to another, for each episode that
counts. Which ones count follows from the order in which a person's own episodes begin in the file, and from nothing
that is in them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pandas as pd

from dprl.fields import shown
from dprl.mdp.tabular import Array
from dprl.simulation.trace import Ints
from dprl.simulation.uploads.declaration import MAPPED, PERSON, Declaration
from dprl.simulation.uploads.outside import Outside
from dprl.simulation.uploads.table import WHOLE, heading, parsed, refuse, undecodable, unreadable
from dprl.tables import formula

Column = tuple[Ints, list[str]]  # codes of rows, and the different texts


class Prepared(NamedTuple):
    """The table of a file.

    Attributes:
        table: whole episodes one below the other, H rows each, in order, with the columns of table.COLUMNS as
            categories.
        in_file: [rows] the row of the file that each was made of, of a continued episode its last.
        people: [episodes] whose each is, from 0; None where each person has one.
    """

    table: pd.DataFrame
    in_file: Ints
    people: Ints | None


def prepared(file: BinaryIO, declared: Declaration, outside: Outside) -> Prepared:
    """The table of a file.

    Args:
        file: a CSV file.
        declared: how the table is made, among the rest.
        outside: is told what is outside of the declaration.

    Raises:
        SpecError: one sentence that names row and column.
    """
    S, H = declared.size.S, declared.size.H
    named = {name: declared.columns.get(name, name) for name in MAPPED}
    of_state = [column for column, _ in declared.parts] or [named["state"]]
    needed = list(declared.in_file)
    twice = next((name for i, name in enumerate(needed) if name in needed[:i]), None)
    if twice is not None:
        refuse(1, twice, "two columns are declared to be this one; give each its own.")
    columns = _read(file, needed)
    if not len(columns[needed[0]][0]):
        refuse(2, needed[0], "there are no trajectories below the heading; give at least one.")
    _check_cells(columns)
    who, labels, people = _episodes(declared, columns, named["episode"])
    step = _steps(named["step"], columns[named["step"]])
    begun = 1 if step.min() == 1 else 0
    order = np.lexsort((step, who))
    _check_steps(
        named["step"], who[order], step[order] - begun, order, labels, H, begun, bool(declared.absorbing)
    )
    outside.rows, outside.episodes = len(order), len(labels)
    outside.moved = int((order != np.arange(len(order))).sum())
    lengths = np.bincount(who)
    outside.padded = int((lengths < H).sum())
    outside.labels = {}
    if people is not None:
        counts = _rank(people) < declared.episodes
        outside.beyond = int((~counts).sum())
    state = _states(declared, of_state, columns, outside)
    action = _index(named["action"], columns[named["action"]], declared.actions, outside)

    if people is not None:
        order, labels = order[counts[who[order]]], [str(i) for i in range(counts.sum())]
        who, people = (counts.cumsum() - 1)[who], people[counts]
    at = who[order] * H + step[order] - begun  # of the table
    cells = len(labels) * H
    s, a = (
        np.full(cells, declared.states.index(declared.absorbing) if declared.absorbing else 0),
        np.zeros(cells, int),
    )
    s[at], a[at] = state[order], action[order]
    paid, texts = columns[named["reward"]]
    low, high = declared.reward_range
    rewards = parsed(texts)
    outside.rewards = int(((rewards < low) | (rewards > high))[paid].sum())
    outside.lowest, outside.highest = float(np.nanmin(rewards)), float(np.nanmax(rewards))
    r = np.full(cells, len(texts))
    r[at] = paid[order]
    x = np.append(s[1:], 0)
    x[H - 1 :: H] = S  # nothing follows
    last = np.zeros(len(labels), dtype=np.int64)
    np.maximum.at(last, who[order], np.arange(len(order)))
    in_file = np.repeat(order[last] + 2, H)
    in_file[at] = order + 2
    found = {
        "episode": (np.repeat(np.arange(len(labels)), H), labels),
        "step": (np.tile(np.arange(H), len(labels)), [str(h) for h in range(H)]),
        "state": (s, list(declared.states)),
        "action": (a, list(declared.actions)),
        "reward": (r, [*texts, f"{min(max(0.0, low), high):.17g}"]),
        "next_state": (x, [*declared.states, ""]),
    }
    table = pd.DataFrame({name: _category(codes, texts) for name, (codes, texts) in found.items()})
    return Prepared(table, in_file, people)


def _episodes(
    declared: Declaration, columns: dict[str, Column], name: str
) -> tuple[Ints, list[str], Ints | None]:
    """[rows] episodes, by which comes first; what each is called; and whose each is, where a column says it. There the
    same label of two people is two episodes."""
    codes, names = columns[name]
    if not declared.of_people:
        who = pd.factorize(codes)[0].astype(np.int64)
        first_rows = np.unique(who, return_index=True)[1]
        return who, [names[code] for code in codes[first_rows]], None
    persons, called = columns[declared.columns[PERSON]]
    who = pd.factorize(persons * len(names) + codes)[0].astype(np.int64)
    first_rows = np.unique(who, return_index=True)[1]
    labels = [f"{names[codes[row]]} of {called[persons[row]]}" for row in first_rows]
    return who, labels, pd.factorize(persons[first_rows])[0].astype(np.int64)


def _rank(people: Ints) -> Ints:
    """[episodes] how many of the same person come before. people: [episodes], whose each is."""
    order = np.argsort(people, kind="stable")
    begun = np.searchsorted(people[order], np.arange(people.max() + 1))
    rank = np.empty_like(people)
    rank[order] = np.arange(len(people)) - begun[people[order]]
    return rank


def _read(file: BinaryIO, needed: list[str]) -> dict[str, Column]:
    """The columns that are needed."""
    names = heading(file, needed)
    file.seek(0)
    try:
        table = pd.read_csv(
            file, names=names, header=0, dtype="category", na_filter=False, index_col=False,
            skip_blank_lines=False, encoding="utf-8",
        )  # fmt: skip
    except UnicodeDecodeError:
        undecodable(file, names)
    except pd.errors.ParserError as error:
        unreadable(str(error), names)
    return {
        name: (
            np.asarray(table[name].cat.codes, dtype=np.int64),
            [str(each).strip() for each in table[name].cat.categories],
        )
        for name in needed
    }


def _category(codes: Ints, texts: list[str]) -> Any:
    """A column; texts that are the same are one."""
    unique = list(dict.fromkeys(texts))
    place = {text: i for i, text in enumerate(unique)}
    codes_of_unique: Ints = np.array([place[text] for text in texts], dtype=np.int64)
    return pd.Categorical.from_codes(codes_of_unique[codes], pd.Index(unique))


def _check_cells(columns: dict[str, Column]) -> None:
    """Raises SpecError at the first cell that is empty, or a formula."""
    wrong = []
    for i, (name, (codes, texts)) in enumerate(columns.items()):
        bad = np.array(
            [not text or (formula(text) and not np.isfinite(parsed([text])[0])) for text in texts]
        )[codes]
        if bad.any():
            wrong.append((int(bad.argmax()), i, name, texts[codes[bad.argmax()]]))
    if wrong:
        row, _, name, text = min(wrong)
        empty = "it is empty; give a value in every row."
        refuse(
            row + 2,
            name,
            f"{shown(text)} is a formula to a spreadsheet; give what it stands for." if text else empty,
        )


def _steps(name: str, column: Column) -> Ints:
    """[rows] whole numbers."""
    codes, texts = column
    plain = [WHOLE.sub(r"\1", text) for text in texts]
    bad = np.array([not (text.isdecimal() and text.isascii() and len(text) < 6) for text in plain])[codes]
    if bad.any():
        row = int(bad.argmax())
        refuse(row + 2, name, f"{shown(texts[codes[row]])} is no step; give a whole number from 0 or 1 on.")
    return np.array([int(text) for text in plain])[codes]


def _check_steps(
    name: str, who: Ints, step: Ints, order: Ints, labels: list[str], H: int, begun: int, padded: bool
) -> None:
    """Raises SpecError where a step is there twice or not at all.

    who, step, order: [rows] sorted by episode and step: the episode, its step from 0, and the row of the file.
    begun: the number of the first step in the file.
    """
    new = np.append(True, who[1:] != who[:-1])
    again = np.append(False, ~new[1:] & (step[1:] == step[:-1]))
    different = np.cumsum(~again)
    expected = different - different[new][np.cumsum(new) - 1]
    beyond = step >= H
    ends = np.append(np.flatnonzero(new)[1:], len(who)) - 1
    short = np.zeros(len(who), dtype=bool)
    short[ends] = (step[ends] < H - 1) & (not padded)
    bad = np.flatnonzero(again | (step != expected) | beyond | short)
    if not len(bad):
        return
    first = bad[
        np.unique(who[bad], return_index=True)[1]
    ]  # of each episode: what comes later may follow from it
    row = int(first[order[first].argmin()])
    episode, count = shown(labels[who[row]]), int(step[row]) + begun
    if again[row]:
        said = f"step {count} of episode {episode} stands in row {order[row - 1] + 2:,} already; give each step once"
    elif step[row] != expected[row]:
        lacking = int(expected[row]) + begun
        said = f"step {lacking} of episode {episode} is missing; give all steps up to its last"
    elif beyond[row]:
        said = (
            f"episode {episode} goes on beyond the declared horizon of {H}; declare more steps, or give fewer"
        )
    else:
        ended = f"episode {episode} has ended after {step[row] + 1} of {H} steps"
        said = f"{ended}; declare an absorbing state, or give all steps"
    refuse(int(order[row]) + 2, name, f"{said}.")


def _states(declared: Declaration, of_state: list[str], columns: dict[str, Column], outside: Outside) -> Ints:
    """[rows] of the declared states."""
    if not declared.parts:
        return _index(of_state[0], columns[of_state[0]], declared.states, outside)
    state: Ints = np.zeros(len(columns[of_state[0]][0]), dtype=np.int64)
    for name, values in declared.parts:
        if isinstance(values[0], str):
            each, number = _index(name, columns[name], tuple(map(str, values)), outside), len(values)
        else:
            each, number = _binned(name, columns[name], np.array(values, dtype=float)), len(values) + 1
        state = state * number + each
    rest = len(declared.states) - _combinations(declared)
    return state + rest  # an absorbing state that is no combination comes first


def _combinations(declared: Declaration) -> int:
    found = 1
    for _, values in declared.parts:
        found *= len(values) + isinstance(values[0], float)
    return found


def _index(name: str, column: Column, labels: tuple[str, ...], outside: Outside) -> Ints:
    """[rows] of labels; the last for one that is not declared, of which `outside` is told."""
    codes, texts = column
    place = {label: i for i, label in enumerate(labels)}
    plain = [text if text in place else WHOLE.sub(r"\1", text) for text in texts]
    rows = np.bincount(codes, minlength=len(texts)).tolist()
    strange = Counter({text: count for text, count in zip(plain, rows, strict=True) if text not in place})
    if len(strange) == len(plain):
        shortened = ", ".join(map(shown, labels[:5])) + (", ..." if len(labels) > 5 else "")
        refuse(2, name, f"no label in this column is declared; the declared ones are {shortened}.")
    outside.labels[name], outside.last[name] = strange, labels[-1]
    return np.array([place.get(text, len(labels) - 1) for text in plain], dtype=np.int64)[codes]


def _binned(name: str, column: Column, edges: Array) -> Ints:
    """[rows] of the bins between edges; what is an edge is above it."""
    codes, texts = column
    numbers = parsed(texts)
    bad = ~np.isfinite(numbers)[codes]
    if bad.any():
        row = int(bad.argmax())
        refuse(
            row + 2,
            name,
            f"{shown(texts[codes[row]])} is not a finite number; give one, to be put between the edges.",
        )
    return np.searchsorted(edges, numbers, side="right").astype(np.int64)[codes]
