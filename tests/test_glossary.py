"""The glossary: one sentence a term, one term a name, and names that are not used are found."""

from __future__ import annotations

import re

import pytest

from dprl.glossary import TERMS, avoided, listed_terms


@pytest.mark.parametrize("name", TERMS)
def test_a_term_has_one_short_sentence_without_signs_of_markdown(name: str) -> None:
    term = TERMS[name]
    assert len(term.definition.split()) <= 25
    assert re.fullmatch(r"[^.*`]+\.", term.definition)
    assert set(term.lists) <= {"online", "offline", "linear"}
    assert not term.right or term.avoid
    assert bool(term.lists) == bool(term.said)


def test_no_name_is_avoided_twice_and_none_is_a_term() -> None:
    names = [name.lower() for term in TERMS.values() for name in term.avoid]
    assert len(set(names)) == len(names)
    assert [t.term for t in TERMS.values() if list(avoided(f"{t.term}: {t.definition}"))] == []


def test_what_a_sentence_calls_a_term_is_found_by_its_own_pattern() -> None:
    for term in TERMS.values():
        if term.said:
            assert re.search(term.said, f"the {term.term.split(' (')[0]} ", re.IGNORECASE), term.term


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ("what the learners do", "Algorithm"),
        ("the learner's counts", "Algorithm"),
        ("a trusted\nagent adds noise", "Central model (JDP)"),
        ("Nobody is trusted.", "Local model (LDP)"),
        ("three kinds of trust", "Privacy model"),
    ],
)
def test_a_name_that_is_not_used_is_found(text: str, better: str) -> None:
    assert [term for _, term in avoided(text)] == [better]


def test_names_that_are_used_pass() -> None:
    assert (
        list(avoided("The algorithm learns; a trusted curator adds noise; regret in this environment.")) == []
    )


def test_every_list_of_the_dashboard_has_words() -> None:
    assert all(len(listed_terms(name)) >= 10 for name in ("online", "offline", "linear"))
