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
import csv
import io
import re
import secrets
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

import numpy as np
import pandas as pd

from dprl.fields import SpecError, shown
from dprl.mdp.tabular import Array
from dprl.privacy.exact import STEPS
from dprl.simulation.trace import Ints
from dprl.simulation.uploads.check import HeldOut
from dprl.simulation.uploads.declaration import Declaration
from dprl.simulation.uploads.outside import LABELS, Outside
from dprl.tables import formula
from dprl.words import size as bytes_in_words

NAME = "data"
COLUMNS = ("episode", "step", "state", "action", "reward", "next_state")
MOST_BYTES = 100_000_000
MOST_OTHERS = 1000  # labels that are not declared
WHOLE = re.compile(r"\A(-?[0-9]+)\.0+\Z")  # as tables write whole numbers in a column that has an empty cell
BROKEN = re.compile(r"-?[0-9]*\.[0-9]+")
ROWS = 50_000  # read at once
HEADING_BYTES = 10_000

Wrong = tuple[int, str, Callable[[], str]]  # index of a row in a piece, its column, and what is wrong there


class Counted(NamedTuple):
    """Of a file: the counts of those who are learned from, [H, S, A, S + 2]; n, of all; and who is held out."""

    record: Array
    n: int
    held: HeldOut


def counted(
    file: BinaryIO | Path,
    declared: Declaration,
    tell: Callable[[Outside], object] | None = None,
    held_out: float = 0.0,
) -> Counted:
    """The counts of a file, and its number n of trajectories.

    Args:
        file: a path, or a binary file.
        declared: what is public of it.
        tell: is told what was outside of that, where anything was.
        held_out: the chance of each trajectory to be held out, whatever is in it.

    Returns:
        Rows of counts as in mdp/counts.py; rewards in units of the declared range, each rounded to the nearest multiple
        of the grid that noise is drawn on. All of it is exact: fewer than 2^23 episodes are in MOST_BYTES.

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

    def read(self, file: BinaryIO) -> Counted:
        """All of it."""
        _check_size(file)
        names = _heading(file)
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
            _undecodable(file, names)
        except pd.errors.ParserError as error:
            _unreadable(str(error), names)
        return self._finished()

    def _rows(self) -> int:
        """Whole episodes."""
        H = self.declared.size.H
        return max(ROWS // H, 1) * H

    def _count(self, piece: pd.DataFrame) -> None:
        H, S, A = self.declared.size.H, self.declared.size.S, self.declared.size.A
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
            _refuse(self.rows + row + 2, column, sentence())
        s, a, x = (self._indices(name, *columns[name]) for name in LABELS)
        codes, texts = columns["reward"]
        low, high = self.declared.reward_range
        units = (np.clip(_parsed(texts), low, high) - low) / (high - low)
        rewards = (np.round(units * STEPS) / STEPS)[codes]  # each person's, before they are summed
        cell = ((at * S + s) * A + a) * (S + 2)
        out = self.rng.random(-(-len(piece) // H)) < self.held_out  # by episode
        for record, chosen in ((self.record, ~out), (self.held, out)):
            rows = np.repeat(chosen, H)[: len(piece)]
            for cells, weights in ((cell + x, None), (cell + S, None), (cell + S + 1, rewards[rows])):
                record += np.bincount(cells[rows], weights, len(record))
        if out.any() and not len(piece) % H:
            known = self.declared.rewards
            paid = rewards if known is None else known[at, s, a]
            self.held_n += int(out.sum())
            own = np.round(paid.reshape(-1, H)[out].sum(1) / H * STEPS) / STEPS  # each one's, from 0 to 1
            self.returns += own.sum(), (np.round(own**2 * STEPS) / STEPS).sum()
        self._note(columns)
        codes, texts = columns["episode"]
        begun = codes[at == 0]
        self.episodes.append(pd.util.hash_array(np.array(texts, dtype=object))[begun])
        self.last_episode = texts[codes[-1]]
        self.rows += len(piece)

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
        rewards, (low, high) = _parsed(texts), self.declared.reward_range
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
        S, A, H, _ = self.declared.size
        if not self.rows:
            _refuse(2, "episode", "there are no trajectories below the heading; give at least one.")
        if self.rows % H:
            _refuse(
                self.rows + 1,
                "step",
                f"the file ends after {self.rows % H} of {H} steps of episode {shown(self.last_episode)}; every "
                "episode has the declared horizon.",
            )
        episodes = np.concatenate(self.episodes)
        _, where = np.unique(episodes, return_index=True)
        if len(where) < len(episodes):
            again = int(np.setdiff1d(np.arange(len(episodes)), where)[0])
            _refuse(
                again * H + 2,
                "episode",
                "this label stood further up already; give each trajectory its own, and each person one trajectory.",
            )
        for name, known in self.known.items():
            if not known and name != "next_state":
                labels = self._labels(name)
                shortened = ", ".join(map(shown, labels[:5])) + (", ..." if len(labels) > 5 else "")
                _refuse(2, name, f"no label in this column is declared; the declared ones are {shortened}.")
        held = HeldOut(self.held.reshape(H, S, A, S + 2), self.held_n, self.returns)
        return Counted(self.record.reshape(H, S, A, S + 2), len(episodes), held)


def _cells(columns: dict[str, tuple[Ints, list[str]]], last: np.ndarray) -> Iterator[Wrong]:
    """What is wrong with fields by themselves. last: [rows], whether it is an episode's last step."""
    for name, (codes, texts) in columns.items():
        if name == "reward":
            bad = (~np.isfinite(_parsed(texts))).tolist()
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
        return f"{shown(text)} is not a finite number; give one, such as 0.5."
    return f"{shown(text)} is a formula to a spreadsheet; give what it stands for."


def _parsed(texts: list[str]) -> Array:
    """Numbers; NaN for what is none."""
    return np.asarray(pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce"), dtype=float)


def _check_size(file: BinaryIO) -> None:
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    if size > MOST_BYTES:
        row = file.read(MOST_BYTES).count(b"\n") + 1
        _refuse(
            row,
            COLUMNS[0],
            f"the file has {bytes_in_words(size)} and is read to here; give at most {bytes_in_words(MOST_BYTES)}.",
        )


def _heading(file: BinaryIO) -> list[str]:
    """The names of the columns. Raises SpecError where those that are needed are not all there, once each."""
    with contextlib.suppress(UnicodeDecodeError):
        begun = file.read(HEADING_BYTES).decode("utf-8-sig", "replace")
    lines = csv.reader(io.StringIO(begun, newline=""))
    try:
        names = [name.strip() for name in next(lines, [])]
        below = next(lines, [])
    except csv.Error:
        names, below = [], []
    needed = f"the heading is {','.join(COLUMNS)}, in any order"
    if not any(names):
        _refuse(1, COLUMNS[0], f"the file is empty or has no heading; {needed}.")
    if "�" in begun.partition("\n")[0] or "\0" in begun:
        _undecodable(file, names)
    for mark, word in ((";", "semicolons"), ("\t", "tabs")):
        if len(names) == 1 and mark in names[0]:
            _refuse(1, COLUMNS[0], f"columns are separated by {word}; save the file with commas.")
    for name in COLUMNS:
        if names.count(name) != 1:
            _refuse(
                1, name, f"this column {'is missing' if name not in names else 'stands twice'}; {needed}."
            )
    if len(below) > len(names):
        _refuse(2, names[-1], "there are more fields than the heading has; give as many in each row.")
    return [name if name in COLUMNS else f"column {i + 1}" for i, name in enumerate(names)]


def _undecodable(file: BinaryIO, names: list[str]) -> NoReturn:
    """Where the text is not UTF-8."""
    file.seek(0)
    for number, line in enumerate(file, 1):
        try:
            if b"\0" in line:
                raise UnicodeDecodeError("utf-8", line, line.index(b"\0"), 1, "")
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            field = min(line[: error.start].count(b","), len(names) - 1)
            column = names[field] if number > 1 else COLUMNS[0]
            _refuse(number, column, "this is not text in UTF-8; save the file as CSV with that encoding.")
    _refuse(1, COLUMNS[0], "this is not text in UTF-8; save the file as CSV with that encoding.")


def _unreadable(said: str, names: list[str]) -> NoReturn:
    """What the parser found wrong."""
    if found := re.search(r"Expected \d+ fields in line (\d+)", said):
        _refuse(
            int(found[1]), names[-1], "there are more fields than the heading has; give as many in each row."
        )
    found = re.search(r"row (\d+)", said)
    _refuse(
        int(found[1]) + 1 if found else 2,
        names[0],
        "a quotation mark is not closed in or below this row; close it.",
    )


def _refuse(row: int, column: str, sentence: str) -> NoReturn:
    raise SpecError(NAME, f"row {row:,}, column {column}: {sentence}")
