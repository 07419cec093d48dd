"""Sentences under charts: whole templates, each of which the program fills."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dprl.messages import FOLDER, fields_of, messages

ROOT = Path(__file__).parents[1]
SENTENCES = ROOT / "dprl/sentences"
# Which file says what a table has.
SAID_BY = {
    "regret": "regret", "cost": "price", "policy": "policy", "counts": "noise", "data": "offline", "doubts": "doubts",
    "promise": "promise", "landscape": "landscape", "linear": "linear", "attack": "attack",
    "claims": "claims", "seeds": "seeds",
}  # fmt: skip
UPLOADS = ("uploads", "verdict")  # each said by the file of the same name


TABLES = [("charts", table) for table in SAID_BY] + [("uploads", table) for table in UPLOADS]


def test_each_table_is_of_a_file() -> None:
    assert list(messages("charts")) == list(SAID_BY)
    assert list(messages("uploads")) == list(UPLOADS)


@pytest.mark.parametrize(("part", "table"), TABLES)
def test_a_template_is_a_sentence_or_a_phrase_and_no_half_of_one(part: str, table: str) -> None:
    source = (SENTENCES / f"{SAID_BY.get(table, table)}.py").read_text("utf-8")
    assert f'messages("{part}")["{table}"]' in source
    for name, template in messages(part)[table].items():
        assert template == template.strip()
        # whole sentences end with a stop; phrases, which stand in lists or in fields, have none
        assert not re.search(r"[,:;]$", template), name
        if template.endswith("."):
            assert re.match(r"[A-Z{*]", template), name
        assert all(re.fullmatch(r"[a-z]+", field) for field in fields_of(template)), name
    stems = {re.split(r"_", name)[0] for name in messages(part)[table]}
    assert all(stem in source for stem in stems)  # nothing is left over


def test_sentences_choose_no_words_by_if_inside_a_sentence() -> None:
    """Of the files whose sentences are templates: no f-string has a word that an `if` chooses."""
    for name in (*SAID_BY.values(), *UPLOADS):
        source = (SENTENCES / f"{name}.py").read_text("utf-8")
        chosen = re.findall(r"\{'[^'{}]*[a-z]{2}[^'{}]*' if [^}]*\}", source)
        assert not chosen, (name, chosen)
    assert (FOLDER / "charts.toml").exists()
