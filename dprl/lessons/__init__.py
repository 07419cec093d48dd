"""Lessons that take about five minutes, one per TOML file. Nine come with the program, and a teacher can add more.

The folder that DPRL_LESSONS names is read again whenever one of its files has changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from dprl.fields import SpecError
from dprl.lessons.lesson import Lesson, Step, read_lesson
from dprl.lessons.prediction import Choice, Marker, Order, Prediction, cloud
from dprl.messages import texts

ORDER = ("epsilon", "episode", "trust", "one-draw", "price", "proved", "pessimism", "weights", "users")
Stamps = tuple[tuple[Path, float], ...]


class Shelf(Mapping[str, Lesson]):
    """All lessons by key, with a teacher's own lessons last."""

    def __getitem__(self, key: str) -> Lesson:
        return _read(self.stamps)[0][key]

    def __iter__(self) -> Iterator[str]:
        return iter(_read(self.stamps)[0])

    def __len__(self) -> int:
        return len(_read(self.stamps)[0])

    @property
    def stamps(self) -> Stamps:
        """A teacher's files and the times of their last changes."""
        folder = os.environ.get("DPRL_LESSONS")
        files = sorted(Path(folder).glob("*.toml")) if folder else []
        return tuple((path, path.stat().st_mtime) for path in files)

    @property
    def faults(self) -> list[str]:
        """Error messages about a teacher's files that cannot be read, or about a folder that does not exist."""
        folder = os.environ.get("DPRL_LESSONS")
        if folder and not Path(folder).is_dir():
            return [f"DPRL_LESSONS: {folder} is not a folder; give the folder with your lessons."]
        return _read(self.stamps)[1]


@lru_cache(maxsize=1)
def _read(stamps: Stamps) -> tuple[dict[str, Lesson], list[str]]:
    found = {key: _own(key) for key in ORDER}
    faults = []
    for path, _ in stamps:
        try:
            lesson = read_lesson(path)
            if lesson.key in ORDER:
                raise SpecError(path.name, "A lesson that comes with dprl has this name; give another name.")
            found[lesson.key] = lesson
        except SpecError as error:
            faults.append(str(error))
    return found, faults


@lru_cache
def _own(key: str) -> Lesson:
    return read_lesson(Path(__file__).with_name(f"{key}.toml"), texts(f"lesson-{key}"))


LESSONS = Shelf()
