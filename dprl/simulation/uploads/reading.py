"""A CSV of trajectories, read a piece at a time and counted.

Rows are numbered as a spreadsheet does it: the heading is row 1. What is wrong with a file is said to its owner, in a
sentence that names row and column, and is outside the privacy that the release has. What is merely outside the
declaration is clipped: a label that is not declared counts as the last one that is, and a reward as the end of its
range that is nearest. The owner is told how often (`Outside`), which is not private either. So any file of the right
form is n trajectories over the declared sets, and another trajectory in place of one, whatever is in it, moves one unit
at each step from one cell to another in each of n and m, and at most one unit of reward.
"""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pandas as pd

from dprl.fields import SpecError, shown
from dprl.mdp.tabular import Array
from dprl.privacy.exact import STEPS
from dprl.simulation.trace import Ints
from dprl.simulation.uploads.check import HeldOut
from dprl.simulation.uploads.declaration import Declaration
from dprl.simulation.uploads.outside import LABELS, Outside
from dprl.simulation.uploads.prepare import Codes, prepared
from dprl.simulation.uploads.table import (
    COLUMNS,
    NAME,
    WHOLE,
    check_size,
    heading,
    not_finite,
    parsed,
    refuse,
    undecodable,
    unreadable,
)
from dprl.tables import formula

MOST_OTHERS = 1000  # labels that are not declared
BROKEN = re.compile(r"-?[0-9]*\.[0-9]+")
ROWS = 50_000  # read at once
MOST_EPISODES = 2**23  # of which sums on the grid of noise are exact in float64

Wrong = tuple[int, str, Callable[[], str]]  # index of a row in a piece, its column, and what is wrong there


class Counted(NamedTuple):
    """Of a file: the counts of those who are learned from, [H, S, A, S + 2]; n, of all people; who is held out; and how
    many people these are."""

    record: Array
    n: int
    held: HeldOut
    checked: int


def counted(
    file: BinaryIO | Path,
    declared: Declaration,
    tell: Callable[[Outside], object] | None = None,
    held_out: float = 0.0,
) -> Counted:
    """The counts of a file, and its number n of people.

    Args:
        file: a path, or a binary file.
        declared: what is public of it.
        tell: is told what was outside of that, where anything was.
        held_out: the chance of each person to be held out, whatever is in the file of them.

    Returns:
        Rows of counts as in mdp/counts.py; rewards in units of the declared range, each rounded to the nearest multiple
        of the grid that noise is drawn on. All of it is exact, for there are at most MOST_EPISODES.

    Raises:
        SpecError: the file is malformed: one sentence that names row and column.
    """
    with contextlib.ExitStack() as stack:
        if isinstance(file, Path):
            try:
                file = stack.enter_context(open(file, "rb"))
            except OSError as error:
                raise SpecError(NAME, f"the file cannot be read ({error.strerror}).") from None
        reader = _Reader(declared, held_out)
        found = reader.read(file)
    if tell is not None and reader.outside:
        tell(reader.outside)
    return found


class _Reader:
    """What is known between two pieces of a file."""

    def __init__(self, declared: Declaration, held_out: float) -> None:
        self.declared, self.held_out = declared, held_out
        S, A, H, _ = declared.size
        self.record = np.zeros(H * S * A * (S + 2))
        self.held = np.zeros_like(self.record)
        self.held_n = 0
        self.returns = np.zeros(2)
        self.rng = np.random.default_rng(secrets.randbits(128))  # who is held out; no noise
        self.rows = 0  # below the heading, before the piece at hand
        self.first = 0  # step of an episode
        self.last_episode: str | None = None
        self.episodes: list[Ints] = []  # hashes of their labels
        self.known = dict.fromkeys(LABELS, False)  # whether a declared label was seen
        self.others: dict[str, set[str]] = {name: set() for name in LABELS}
        self.labels = {name: frozenset(self._labels(name)) for name in LABELS}
        self.outside = Outside(declared)
        self.people: Ints | None = None  # whose each episode is, where one may have several
        self.coins = np.zeros(0, dtype=bool)  # whether each of these is held out

    def read(self, file: BinaryIO) -> Counted:
        """All of it."""
        check_size(file)
        if self.declared.prepares:
            return self._prepared(file)
        names = heading(file)
        file.seek(0)
        try:
            pieces: Iterator[pd.DataFrame] = pd.read_csv(
                file, names=names, header=0, dtype="category", na_filter=False,
                index_col=False, skip_blank_lines=False, chunksize=self._rows(), encoding="utf-8",
            )  # fmt: skip
            for piece in pieces:
                if len(piece):
                    self._count(piece)
        except UnicodeDecodeError:
            undecodable(file, names)
        except pd.errors.ParserError as error:
            unreadable(str(error), names)
        return self._finished()

    def _prepared(self, file: BinaryIO) -> Counted:
        """All of it, where it is declared how the table is made of the file: in memory as a whole."""
        found = prepared(file, self.declared, self.outside)
        self.people = found.people
        if self.people is not None:
            self.coins = self.rng.random(self.people.max() + 1) < self.held_out
        for first in range(0, len(found.s), self._rows()):
            piece = slice(first, first + self._rows())
            self._add(found.s[piece], found.a[piece], found.x[piece], found.r[piece])
        return self._counted(len(found.s) // self.declared.size.H)

    def _rows(self) -> int:
        """Whole episodes."""
        H = self.declared.size.H
        return max(ROWS // H, 1) * H

    def _count(self, piece: pd.DataFrame) -> None:
        H = self.declared.size.H
        columns: dict[str, tuple[Ints, list[str]]] = {
            name: (np.asarray(piece[name].cat.codes, dtype=np.int64), self._texts(piece[name]))
            for name in COLUMNS
        }
        at = np.arange(len(piece)) % H
        wrong = list(_cells(columns, at == H - 1))
        wrong += [found for name in LABELS if (found := self._broken(name, *columns[name]))]
        wrong += self._structure(columns, at)
        wrong += [found for name in LABELS if (found := self._strangers(name, *columns[name]))]
        if wrong:
            row, column, sentence = min(wrong, key=lambda each: each[0])
            refuse(self.rows + row + 2, column, sentence())
        s, a, x = (self._indices(name, *columns[name]) for name in LABELS)
        codes, texts = columns["reward"]
        self._note(columns)
        self._add(s, a, x, parsed(texts)[codes])
        codes, texts = columns["episode"]
        begun = codes[at == 0]
        self.episodes.append(pd.util.hash_array(np.array(texts, dtype=object))[begun])
        self.last_episode = texts[codes[-1]]

    def _add(self, s: Codes, a: Codes, x: Codes, r: Array) -> None:
        """Counts of rows, from the first step of an episode on. r: rewards as they stand in the file."""
        S, A, H, _ = self.declared.size
        at = np.arange(len(s)) % H
        low, high = self.declared.reward_range
        units = (np.clip(r, low, high) - low) / (high - low)
        rewards = np.round(units * STEPS) / STEPS  # each person's, before they are summed
        cell = ((at * S + s) * A + a) * (S + 2)
        out = self._out(-(-len(s) // H))
        for record, chosen in ((self.record, ~out), (self.held, out)):
            rows = np.repeat(chosen, H)[: len(s)]
            for cells, weights in ((cell + x, None), (cell + S, None), (cell + S + 1, rewards[rows])):
                record += np.bincount(cells[rows], weights, len(record))
        if out.any() and not len(s) % H:
            known = self.declared.rewards
            paid = rewards if known is None else known[at, s, a]
            self.held_n += int(out.sum())
            own = np.round(paid.reshape(-1, H)[out].sum(1) / H * STEPS) / STEPS  # each one's, from 0 to 1
            self.returns += own.sum(), (np.round(own**2 * STEPS) / STEPS).sum()
        self.rows += len(s)
        if self.rows // H > MOST_EPISODES:
            refuse(
                MOST_EPISODES * H + 2,
                "episode",
                f"with this one there are more than {MOST_EPISODES:,} episodes; give fewer.",
            )

    def _out(self, episodes: int) -> np.ndarray:
        """[episodes] of a piece, whether they are held out: one coin for each person."""
        if self.people is None:
            return np.asarray(self.rng.random(episodes) < self.held_out)
        begun = self.rows // self.declared.size.H
        return np.asarray(self.coins[self.people[begun : begun + episodes]])

    def _texts(self, column: pd.Series) -> list[str]:
        """The different fields of a column. Where 1.0 is no label that is declared, it is the label 1, or the step."""
        texts = [str(text).strip() for text in column.cat.categories]
        if column.name not in ("step", *LABELS):
            return texts
        declared = self.labels.get(str(column.name), frozenset())
        return [text if text in declared else WHOLE.sub(r"\1", text) for text in texts]

    def _note(self, columns: dict[str, tuple[Ints, list[str]]]) -> None:
        """What of a piece is outside the declaration."""
        outside = self.outside
        for name in LABELS:
            codes, texts = columns[name]
            for text, rows in zip(texts, np.bincount(codes, minlength=len(texts)).tolist(), strict=True):
                if text and text not in self.labels[name]:  # empty: nothing follows the last step
                    outside.labels[name][text] += rows
        codes, texts = columns["reward"]
        rewards, (low, high) = parsed(texts), self.declared.reward_range
        outside.rows += len(codes)
        outside.rewards += int(((rewards < low) | (rewards > high))[codes].sum())
        outside.lowest = min(outside.lowest, float(rewards.min()))
        outside.highest = max(outside.highest, float(rewards.max()))

    def _broken(self, name: str, codes: Ints, texts: list[str]) -> Wrong | None:
        """Whether a column of whole numbers has one that is not whole."""
        bad = [bool(BROKEN.fullmatch(text)) and text not in self.labels[name] for text in texts]
        if not any(bad) or not all(re.fullmatch("-?[0-9]+", label) for label in self.labels[name]):
            return None
        row = int(np.array(bad)[codes].argmax())
        return (
            row,
            name,
            lambda: (
                f"{shown(texts[codes[row]])} is not a whole number, as all declared labels are; give one of them."
            ),
        )

    def _labels(self, name: str) -> tuple[str, ...]:
        return self.declared.actions if name == "action" else self.declared.states

    def _indices(self, name: str, codes: Ints, texts: list[str]) -> Ints:
        """[rows] of the declared labels; the last for one that is not declared."""
        labels = self._labels(name)
        index = {label: i for i, label in enumerate(labels)}
        self.known[name] |= any(text in index for text in texts)
        return np.array([index.get(text, len(labels) - 1) for text in texts], dtype=np.int64)[codes]

    def _strangers(self, name: str, codes: Ints, texts: list[str]) -> Wrong | None:
        """Whether a column has so many labels that are not declared that it is no column of labels."""
        before = self.others[name]
        known = before | set(self._labels(name))
        self.others[name] = before | (set(texts) - known)
        if len(self.others[name]) <= MOST_OTHERS:
            return None
        new = np.array([text not in known for text in texts])[codes]
        rows = np.sort(np.unique(np.where(new, codes, -1), return_index=True)[1])
        row = int(rows[new[rows]][MOST_OTHERS - len(before)])
        return (
            row,
            name,
            lambda: f"with this one more than {MOST_OTHERS:,} labels are not declared; give fewer.",
        )

    def _structure(self, columns: dict[str, tuple[Ints, list[str]]], at: Ints) -> Iterator[Wrong]:
        """Whether steps and episodes follow each other, and each row begins where the one before ended."""
        (episode, names), (codes, texts) = columns["episode"], columns["step"]
        if not self.rows and texts[codes[0]] == "1":
            self.first = 1
        H, first = self.declared.size.H, self.first
        steps = np.array([int(text) if text.isdecimal() and len(text) < 6 else -1 for text in texts])[codes]
        same = np.append(names[episode[0]] == self.last_episode, episode[1:] == episode[:-1])
        bad = np.flatnonzero((steps != at + first) | (same != (at > 0)))
        if len(bad):
            row = int(bad[0])
            h, who, step = int(at[row]), shown(names[episode[row]]), shown(texts[codes[row]])
            if h == 0 and same[row]:
                said = f"episode {who} goes on beyond the declared horizon of {H}"
            elif h > 0 and not same[row]:
                before = shown(names[episode[row - 1]])
                said = f"episode {before} has ended after {h} of {H} steps, the declared horizon"
            else:
                said = f"{step} where {h + first} is expected, since every episode has steps {first} to {H - 1 + first}"
            yield row, "step", lambda: f"{said}; give all steps of an episode one below the other, in order."
        (s, states), (x, following) = columns["state"], columns["next_state"]
        index = {text: i for i, text in enumerate(states)}
        ended = np.array([index.get(text, -1) for text in following])[x]
        begun = np.array([index[text] for text in states])[s]
        bad = np.flatnonzero(same[1:] & (ended[:-1] != begun[1:]))
        if len(bad):
            row = int(bad[0])
            came, went = shown(following[x[row]]), shown(states[s[row + 1]])
            yield row + 1, "state", lambda: f"{went}, but next_state above is {came}; give the same in both."

    def _finished(self) -> Counted:
        H = self.declared.size.H
        if not self.rows:
            refuse(2, "episode", "there are no trajectories below the heading; give at least one.")
        if self.rows % H:
            refuse(
                self.rows + 1,
                "step",
                f"the file ends after {self.rows % H} of {H} steps of episode {shown(self.last_episode)}; every "
                "episode has the declared horizon.",
            )
        episodes = np.concatenate(self.episodes)
        _, where = np.unique(episodes, return_index=True)
        if len(where) < len(episodes):
            again = int(np.setdiff1d(np.arange(len(episodes)), where)[0])
            refuse(
                again * H + 2,
                "episode",
                "this label stood further up already; give each trajectory its own, and each user one trajectory.",
            )
        for name, known in self.known.items():
            if not known and name != "next_state":
                labels = self._labels(name)
                shortened = ", ".join(map(shown, labels[:5])) + (", ..." if len(labels) > 5 else "")
                refuse(2, name, f"no label in this column is declared; the declared ones are {shortened}.")
        return self._counted(len(episodes))

    def _counted(self, episodes: int) -> Counted:
        """Of so many episodes."""
        S, A, H, _ = self.declared.size
        held = HeldOut(self.held.reshape(H, S, A, S + 2), self.held_n, self.returns)
        record = self.record.reshape(H, S, A, S + 2)
        if self.people is None:
            return Counted(record, episodes, held, self.held_n)
        return Counted(record, len(self.coins), held, int(self.coins.sum()))


def _cells(columns: dict[str, tuple[Ints, list[str]]], last: np.ndarray) -> Iterator[Wrong]:
    """What is wrong with fields by themselves. last: [rows], whether it is an episode's last step."""
    for name, (codes, texts) in columns.items():
        if name == "reward":
            bad = (~np.isfinite(parsed(texts))).tolist()
        else:
            bad = [not text or formula(text) for text in texts]
        rows = np.array(bad, dtype=bool)[codes]
        if name == "next_state":  # nothing follows the last step
            rows &= ~last | np.array([bool(text) for text in texts], dtype=bool)[codes]
        if rows.any():
            row = int(rows.argmax())
            text = texts[codes[row]]
            yield row, name, partial(_said, name, text)


def _said(name: str, text: str) -> str:
    if not text:
        return "it is empty; give a value in every row."
    if name == "reward":
        return not_finite(text)
    return f"{shown(text)} is a formula to a spreadsheet; give what it stands for."
