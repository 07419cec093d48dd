"""A language is a folder: it has texts of English in other words, and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dprl import lessons
from dprl.lessons.lesson import read_lesson
from dprl.messages import FOLDER, LANGUAGES, texts
from pages.shared.lessons import evidence

ROOT = Path(__file__).parents[1]
SHELF = Path(lessons.__file__).parent
OTHERS = [language for language in LANGUAGES if language != "en"]
FILES = [(one, path.stem) for one in OTHERS for path in sorted((FOLDER / one).iterdir())]
KEPT = re.compile(r"\{.*?\}|(?<=\])\(\w+\)")  # fields, and the kinds of what lights up
ASK = """
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=60).run()
app.query_params["lesson"] = "epsilon"
print([one.value for one in app.switch_page("pages/lessons/page.py").run().title])
"""


def english(name: str) -> dict[str, Any]:
    """What a file translates; each curve of a lesson may be named."""
    if not name.startswith("lesson-"):
        return texts(name, "en")
    found = tomllib.loads((SHELF / f"{name.removeprefix('lesson-')}.toml").read_text("utf-8"))
    return found | {"curves": {key: {"name": ""} | one for key, one in found["curves"].items()}}


def pairs(theirs: Any, own: Any) -> Iterator[tuple[str, str]]:
    """Each text with its translation."""
    assert type(theirs) is type(own), (theirs, own)
    if isinstance(own, str):
        yield theirs, own
        return
    if isinstance(own, list):
        assert len(theirs) == len(own), own
    for key in range(len(own)) if isinstance(own, list) else own:
        yield from pairs(theirs[key], own[key])


@pytest.mark.parametrize(("language", "name"), FILES)
def test_a_translation_has_keys_fields_and_marks_of_english(language: str, name: str) -> None:
    for theirs, own in pairs(english(name), texts(name, language)):
        assert sorted(KEPT.findall(theirs)) == sorted(KEPT.findall(own)), own


@pytest.mark.parametrize("language", OTHERS)
def test_translated_lessons_ask_the_same_and_fill_their_texts(language: str) -> None:
    for key in lessons.ORDER:
        lesson = read_lesson(SHELF / f"{key}.toml", texts(f"lesson-{key}", language))
        for step, plain in zip(lesson.steps, lessons.LESSONS[key].steps, strict=True):
            assert step.truth(evidence()) == plain.truth(evidence())
            assert step.answer == plain.answer
            drawn = step.drawn(evidence())
            for text in (*step.texts.values(), *step.replies.values()):
                assert not re.search(r"[{}]|\.\.", drawn.fill(text))


def run(code: str, language: str, home: Path) -> subprocess.CompletedProcess[str]:
    given = os.environ | {"DPRL_LANGUAGE": language, "DPRL_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=given, capture_output=True, text=True, check=False
    )


def test_a_lesson_is_shown_in_the_language_of_the_process(tmp_path: Path) -> None:
    assert texts("lesson-epsilon", "de")["questions"][0]["ask"] in run(ASK, "de", tmp_path).stdout


def test_an_unknown_language_is_refused_in_one_sentence(tmp_path: Path) -> None:
    found = run("import dprl", "klingon", tmp_path)
    assert found.returncode == 1
    assert found.stderr == f"DPRL_LANGUAGE: 'klingon' is not known; give one of {', '.join(LANGUAGES)}.\n"
