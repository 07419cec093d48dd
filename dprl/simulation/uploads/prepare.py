"""Convert a data file to a table of trajectories according to its declaration, and count the trajectories.

Each row of the table depends only on one person's rows and on the declaration. So for each episode that counts,
replacing a person moves at most one unit at each step from one cell to another. Only the first few episodes of each
person count, in the order in which they begin in the file.

An undeclared label counts as the last declared one, and a reward outside the range as the nearest limit, so any
accepted file is n trajectories over the declared sets. Errors and the numbers in `Outside` are for the owner alone,
because they are not private. Rows are numbered as in a spreadsheet: the heading is row 1.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.fields import shown
from dprl.mdp.tabular import Array
from dprl.messages import counted as numbered
from dprl.messages import filled, messages
from dprl.privacy.exact import STEPS
from dprl.simulation.trace import Ints
from dprl.simulation.uploads.check import HeldOut, joined
from dprl.simulation.uploads.declaration import PERSON, Declaration
from dprl.simulation.uploads.table import COLUMNS, EMPTY, WHOLE, normal, parsed, read_pieces, refuse
from dprl.tables import formula
from dprl.words import percent, plural

if TYPE_CHECKING:
    import pandas as pd

Codes = NDArray[np.integer[Any]]
Column = tuple[Codes, list[str]]  # a code for each row, and the distinct texts
Fault = tuple[int, str, str]  # row, column and sentence
SAID, WRONG = messages("refusals")["outside"], messages("refusals")["file"]
MOST_FOUND = 3  # labels named in an error
MOST_NAMED = 5  # labels named to the owner
MOST_UNDECLARED = 0.05  # of the rows, before the owner has to agree
ROWS = 200_000  # counted at once
MOST_EPISODES = 2**23  # for this many, sums on the grid of the noise are exact in float64
FORMULA, INFINITE, NO_STEP = WRONG["formula"], WRONG["infinite"], WRONG["not_a_step"]


@dataclass
class Outside:
    """The labels, rewards and steps that do not fit a declaration, with exact counts that only the owner may see."""

    declared: Declaration
    rows: int = 0  # of the file, without the heading
    # by column: rows by undeclared label, and the declared label that they count as
    labels: dict[str, tuple[Counter[str], str]] = field(default_factory=dict)
    episodes: int = 0  # all episodes
    padded: int = 0  # episodes with fewer steps than declared
    cut: int = 0  # episodes with more steps than declared
    beyond: int = 0  # episodes beyond the declared number for one person
    moved: int = 0  # rows that were out of order
    rewards: int = 0  # rows with a reward outside the declared range
    lowest: float = inf  # of all rewards, as is the highest
    highest: float = -inf

    def __bool__(self) -> bool:
        """Return whether anything in the file does not fit the declaration."""
        return bool(self.sentences())

    def __str__(self) -> str:
        return " ".join(("Only for you, because these numbers are not private:", *self.sentences()))

    def refusal(self) -> str:
        """Ask the owner, in one sentence, to accept this many undeclared labels; return "" if there are few."""
        for name, (found, last) in self.labels.items():
            if found.total() > MOST_UNDECLARED * self.rows:
                share = percent(found.total() / self.rows)
                most = ", ".join(shown(label) for label, _ in found.most_common(MOST_NAMED))
                return filled(SAID["undeclared"], column=name, share=share, labels=most, last=shown(last))
        return ""

    def sentences(self) -> list[str]:
        """Describe the data that do not fit the declaration, and how they are counted."""
        said = []
        for name, (found, last) in self.labels.items():
            if found:
                most = found.most_common(MOST_NAMED)
                named = ", ".join(f"{shown(label)} ({count:,})" for label, count in most)
                told = {"column": name, "found": f"{found.total():,}", "rows": numbered(self.rows, "row")}
                told |= {"named": named, "last": shown(last)}
                if others := len(found) - len(most):
                    told["others"] = numbered(others, "other_label")
                said.append(filled(SAID["labels_more" if others else "labels"], **told))
        H, rows, episodes = self.declared.size.H, plural(self.rows, "row"), plural(self.episodes, "episode")
        if self.rewards:
            low, high = self.declared.reward_range
            ends = {"low": low, "high": high, "least": self.lowest, "most": self.highest}
            told = {name: f"{value:g}" for name, value in ends.items()}
            column = self.declared.columns.get("reward", "reward")
            said.append(filled(SAID["rewards"], found=f"{self.rewards:,}", rows=rows, column=column, **told))
        if self.moved:
            said.append(f"{self.moved:,} of {rows} were not in order, so all rows have been sorted.")
        if self.padded:
            goes_on = f"they are continued in {shown(self.declared.absorbing)}."
            said.append(f"{self.padded:,} of {episodes} have fewer steps than {H}; {goes_on}")
        if self.cut:
            counts = f"Only the first {H} steps of each episode count."
            said.append(f"{self.cut:,} of {episodes} have more than {plural(H, 'step')}. {counts}")
        if self.beyond:
            first = f"their user's first {self.declared.episodes}, so they do not count."
            said.append(f"{self.beyond:,} of {episodes} come after {first}")
        return said


def prepared(
    file: BinaryIO | Path | pd.DataFrame, declared: Declaration, outside: Outside
) -> tuple[tuple[Codes, Codes, Array], Codes, Codes, int]:
    """Read a file into a table of whole episodes with H rows each, and record in `outside` what does not fit.

    Return the table's states, actions and rewards [rows]; the person of each episode [episodes]; the group of each
    person [people], or 0 without groups; and the number of the first step. Raises SpecError with the row and column.
    """
    H = declared.size.H
    named = {name: declared.columns.get(name, name) for name in COLUMNS}
    of_state = [column for column, _ in declared.parts] or [named["state"]]
    who = [declared.columns[PERSON]] if declared.of_people else []
    needed = [*who, named["episode"], named["step"], *of_state, named["action"], named["reward"]]
    if declared.grouped_by not in ("", *of_state):
        needed.append(declared.grouped_by)
    twice = next((name for i, name in enumerate(needed) if name in needed[:i]), None)
    if twice is not None:
        refuse(1, twice, "this column is declared for two purposes; give each its own column.")
    binned = [name for name, values in declared.parts if isinstance(values[0], float)]
    columns, numbers = _read(file, needed, {*binned, named["reward"]})
    episode, called, people, counts = _episodes(declared, columns, named["episode"])
    step = _steps(named["step"], columns.pop(named["step"]))
    if people.max() < 1:
        refuse(2, needed[0], "the file has only one person; give at least two.")
    begun = 1 if step.min() == 1 else 0
    order = np.lexsort((step, episode))
    outside.moved = int((order != np.arange(len(order))).sum())
    _check_steps(declared, episode[order], step[order] - begun, order, called, begun)
    outside.rows = len(order)
    steps = np.bincount(episode)  # of each episode, without gaps up to H
    outside.cut, outside.padded = int((steps > H).sum()), int((steps < H).sum())
    order = order[step[order] < H + begun]
    outside.episodes = len(people)
    outside.beyond = int((~counts).sum())
    state = _states(declared, columns, numbers, outside)
    action = _index(named["action"], columns[named["action"]], declared.actions, outside)

    rewards, (low, high) = numbers[named["reward"]], declared.reward_range
    outside.rewards = int(((rewards < low) | (rewards > high)).sum())
    outside.lowest, outside.highest = float(rewards.min()), float(rewards.max())
    order, n = order[counts[episode[order]]], int(counts.sum())
    episode = (counts.cumsum() - 1)[episode]
    people = people[counts]
    first = np.unique(people, return_index=True)[1]  # each person's first episode
    groups: Codes = np.zeros(len(first), dtype=np.int32)
    if name := declared.grouped_by:
        known_as = f"{name} (groups)" if name in outside.labels else name
        groups = _index(known_as, columns[name], declared.groups, outside)[order[step[order] == begun]][first]
    at = episode[order].astype(np.int64) * H + step[order] - begun  # rows of the table
    goes_on = declared.states.index(declared.absorbing) if declared.absorbing else 0
    s, a = np.full(n * H, goes_on, dtype=np.int32), np.zeros(n * H, dtype=np.int32)
    r = np.zeros(n * H)
    s[at], a[at], r[at] = state[order], action[order], rewards[order]
    return (s, a, r), people, groups, begun


def _episodes(
    declared: Declaration, columns: dict[str, Column], name: str
) -> tuple[Codes, Callable[[int], str], Codes, NDArray[np.bool_]]:
    """Find each row's episode, and each episode's person.

    Return each row's episode [rows], numbered in order of appearance; a function that returns an episode's name; and
    each episode's person and whether it counts [episodes]. Equal labels of two people denote different episodes.
    """
    codes, names = columns.pop(name)
    if not declared.of_people:  # codes are numbered in the order of their first rows
        every = np.arange(len(names), dtype=np.int32)
        return codes, lambda episode: names[episode], every, every >= 0
    from pandas import Series, factorize

    persons, of_whom = columns.pop(declared.columns[PERSON])
    episode, pairs = factorize(persons.astype(np.int64) * len(names) + codes)  # numbered in order, too
    people = pairs // len(names)

    def called(episode: int) -> str:
        return f"{names[pairs[episode] % len(names)]} of {of_whom[people[episode]]}"

    return episode, called, people, Series(people).groupby(people).cumcount().to_numpy() < declared.episodes


def _read(
    file: BinaryIO | Path | pd.DataFrame, needed: list[str], numbers: Collection[str]
) -> tuple[dict[str, Column], dict[str, Array]]:
    """Read the needed columns in pieces. Return those with labels and those with numbers (named in `numbers`)."""
    rows = 0
    read: dict[str, list[Any]] = {name: [] for name in needed}
    places: dict[str, dict[str, int]] = {name: {} for name in needed}
    for piece in read_pieces(file, needed):
        faults: list[Fault] = []
        for name, cells in piece.items():
            place: dict[str, int] = {}  # in the order of first occurrence
            codes = np.array([place.setdefault(cell, len(place)) for cell in cells], dtype=np.int32)
            texts = [normal(cell) for cell in place]
            faults += _faults(name, (codes, texts), [not text for text in texts], EMPTY, rows)
            faults += _faults(name, (codes, texts), [formula(text) for text in texts], FORMULA, rows)
            if name in numbers:
                values = np.array([parsed(text) for text in texts])
                faults += _faults(name, (codes, texts), ~np.isfinite(values), INFINITE, rows)
            else:
                place = places[name]
                values = np.array([place.setdefault(text, len(place)) for text in texts], dtype=np.int32)
            read[name].append(values[codes])
        if faults:
            refuse(*min(faults, key=itemgetter(0)))
        rows += len(codes)
    if not rows:
        refuse(2, needed[0], "there are no trajectories below the heading; give at least two.")
    whole = {name: np.concatenate(read.pop(name)) for name in needed}
    labels = {name: (whole[name], list(places.pop(name))) for name in needed if name not in numbers}
    return labels, {name: whole[name] for name in numbers}


def _faults(name: str, column: Column, bad: Iterable[bool], sentence: str, before: int = 0) -> list[Fault]:
    """Return the error in the first row with a bad value, or [] if there is none. `before` rows were read earlier."""
    codes, texts = column
    wrong = np.array(bad)[codes]
    row = int(wrong.argmax())
    return [(before + row + 2, name, sentence.format(shown(texts[codes[row]])))] if wrong.any() else []


def _steps(name: str, column: Column) -> Codes:
    codes, texts = column
    plain = [WHOLE.sub(r"\1", text) for text in texts]
    for fault in _faults(name, column, [not re.fullmatch("[0-9]{1,5}", text) for text in plain], NO_STEP):
        refuse(*fault)
    return np.array([int(text) for text in plain], dtype=np.int32)[codes]


def _check_steps(
    declared: Declaration, who: Codes, step: Codes, order: Ints, called: Callable[[int], str], begun: int
) -> None:
    """Raise SpecError if an episode repeats or lacks a step. Steps beyond the horizon are not checked.

    who, step, order: the episode, its step from 0, and the row in the file, sorted by episode and step [rows].
    begun: the number of the first step in the file.
    """
    H = declared.size.H
    ends = np.flatnonzero(np.append(who[1:] != who[:-1], True))
    expected = np.arange(len(who)) - np.append(0, ends[:-1] + 1)[who]
    bad = (step != expected) & (np.minimum(step, expected) < H)
    if not declared.absorbing:
        bad[ends] |= step[ends] < H - 1
    wrong = np.flatnonzero(bad)
    if not len(wrong):
        return
    # the first fault of each episode, because later ones may follow from it
    first = wrong[np.unique(who[wrong], return_index=True)[1]]
    row = int(first[order[first].argmin()])
    episode = shown(called(int(who[row])))
    if step[row] < expected[row]:
        before = f"{order[row - 1] + 2:,}"
        said = filled(WRONG["step_twice"], step=step[row] + begun, episode=episode, row=before)
    elif step[row] > expected[row]:
        said = filled(WRONG["no_step"], step=expected[row] + begun, episode=episode)
    else:
        said = filled(WRONG["short"], episode=episode, steps=step[row] + 1, H=H)
    refuse(int(order[row]) + 2, declared.columns.get("step", "step"), said)


def _states(
    declared: Declaration, columns: dict[str, Column], numbers: dict[str, Array], outside: Outside
) -> Codes:
    """Return the index of each row's declared state, [rows]."""
    state: Codes = np.zeros(1, dtype=np.int32)
    combinations = 1
    for name, values in declared.parts or ((declared.columns.get("state", "state"), declared.states),):
        if isinstance(values[0], str):
            each, number = _index(name, columns[name], tuple(map(str, values)), outside), len(values)
        else:
            # a number equal to an edge belongs to the bin above it
            edges, number = np.array(values, dtype=float), len(values) + 1
            each = np.searchsorted(edges, numbers[name], side="right").astype(np.int32)
        state, combinations = state * number + each, combinations * number
    # an absorbing state that is no combination comes first
    return state + len(declared.states) - combinations


def _index(name: str, column: Column, labels: tuple[str, ...], outside: Outside) -> Codes:
    """Return the index of each row's label [rows]. Undeclared labels count as the last and are noted in `outside`."""
    codes, texts = column
    place = {label: i for i, label in enumerate(labels)}
    plain = [text if text in place else WHOLE.sub(r"\1", text) for text in texts]
    rows = np.bincount(codes, minlength=len(texts)).tolist()
    strange: Counter[str] = Counter()
    for text, count in zip(plain, rows, strict=True):
        if text not in place:
            strange[text] += count
    if len(strange) == len({*plain}):
        shortened = ", ".join(map(shown, labels[:5])) + (", ..." if len(labels) > 5 else "")
        found = ", ".join(shown(text) for text, _ in strange.most_common(MOST_FOUND))
        refuse(2, name, filled(WRONG["no_label"], declared=shortened, found=found))
    outside.labels[name] = strange, labels[-1]
    return np.asarray(np.array([place.get(text, len(labels) - 1) for text in plain], dtype=np.int32)[codes])


class Counted(NamedTuple):
    """The counts of the trajectories in a file."""

    record: Array  # of the people learned from [H, S, A, S + 2]
    n: int  # the number of all people
    held: HeldOut
    checked: int  # the number of people held out
    first_step: int  # its number in the file, 0 or 1
    outside: Outside


def counted(file: BinaryIO | Path | pd.DataFrame, declared: Declaration, held_out: float = 0.0) -> Counted:
    """Count the trajectories in a file. Rewards are in units of the declared range and rounded to the noise's grid.
    Rows are as in mdp/counts.py. With at most MOST_EPISODES episodes, the sums are exact in floating point.

    held_out: the probability that a person is held out, whatever their rows. Raises SpecError with the row and column.
    """
    outside = Outside(declared)
    table, people, groups, first_step = prepared(file, declared, outside)
    if outside.episodes - outside.beyond > MOST_EPISODES:
        refuse(1, "episode", f"there are more than {MOST_EPISODES:,} episodes; give fewer.")
    n = int(people.max()) + 1
    out = np.random.default_rng(secrets.randbits(128)).random(n) < held_out  # a coin each; no noise
    record, held = _count(table, declared, np.where(out, 1 + groups, 0)[people])
    return Counted(record, n, held, int(out.sum()), first_step, outside)


def _count(table: tuple[Codes, Codes, Array], declared: Declaration, part_of: Codes) -> tuple[Array, HeldOut]:
    """Return the counts to learn from and the held-out counts. `part_of` is 0, or 1 + the group if held out."""
    S, A, H, _ = declared.size
    low, high = declared.reward_range
    parts = 1 + max(len(declared.groups), 1)
    counts, returns = np.zeros(parts * H * S * A * (S + 2)), np.zeros((2, parts))
    each = max(ROWS // H, 1) * H
    for first in range(0, len(table[0]), each):
        s, a, r = (column[first : first + each] for column in table)
        part = part_of[first // H : (first + len(s)) // H]
        at = np.arange(len(s)) % H
        x = np.where(at < H - 1, np.roll(s, -1), S - 1)  # the last state if nothing follows
        units = (np.clip(r, low, high) - low) / (high - low)
        rewards = np.round(units * STEPS) / STEPS  # each person's, before they are summed
        cell = (((np.repeat(part, H) * H + at) * S + s) * A + a) * (S + 2)
        paid = rewards if declared.rewards is None else declared.rewards[at, s, a]
        own = np.round(paid.reshape(-1, H).sum(1) / H * STEPS) / STEPS
        squares = np.round(own**2 * STEPS) / STEPS
        for cells, weights in ((cell + x, None), (cell + S, None), (cell + S + 1, rewards)):
            counts += np.bincount(cells, weights, len(counts))
        returns += [np.bincount(part, values, parts) for values in (own, squares)]
    record, *held = counts.reshape(parts, H, S, A, S + 2)
    numbers = np.bincount(part_of, minlength=parts)[1:]
    return record, joined(map(HeldOut, held, numbers.tolist(), returns.T[1:]))
