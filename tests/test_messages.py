"""A language is a folder: it has texts of English in other words, and nothing else."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dprl import lessons
from dprl.lessons.lesson import read_lesson
from dprl.messages import FOLDER, LANGUAGES, texts
from pages.shared.lessons import evidence
from tests.problems import python

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


def test_a_lesson_is_shown_in_the_language_of_the_process(tmp_path: Path) -> None:
    shown = python(ASK, DPRL_LANGUAGE="de", DPRL_HOME=str(tmp_path)).stdout
    assert texts("lesson-epsilon", "de")["questions"][0]["ask"] in shown


def test_an_unknown_language_is_refused_in_one_sentence() -> None:
    found = python("import dprl", DPRL_LANGUAGE="klingon")
    assert found.returncode == 1
    assert found.stderr == f"DPRL_LANGUAGE: 'klingon' is not known; give one of {', '.join(LANGUAGES)}.\n"
