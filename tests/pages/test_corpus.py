"""Links of every page and version mean what they meant: see corpus.py, which also says how to add one."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from dprl.links import READ, TABLES
from dprl.simulation.kinds import KINDS, spec_from_dict
from tests.pages import corpus

CORPUS = corpus.load()
LINKS = CORPUS["links"]


@cache
def read(page: str) -> list[tuple[dict[str, Any], tuple[Any, ...]]]:
    """Each link to a page, with what it is read as."""
    return [(entry, corpus.read(page, entry["query"])) for entry in LINKS if entry["page"] == page]


pytestmark = pytest.mark.usefixtures("reading")


@pytest.mark.parametrize("page", corpus.PAGES)
def test_links_mean_what_they_meant(page: str) -> None:
    for entry, (specs, means, _) in read(page):
        assert [spec.to_dict() for spec in specs] == [CORPUS["specs"][i]["spec"] for i in entry["specs"]], (
            entry["query"]
        )
        assert means == corpus.meant(entry), entry["query"]


@pytest.mark.parametrize("page", corpus.PAGES)
def test_links_look_as_they_looked(page: str) -> None:
    """For as long as looks are not to change: then this test and `looks` of the corpus may go."""
    for entry, (_, _, looks) in read(page):
        now, then = looks.pop("problems", []), dict(entry["looks"])
        before = then.pop("problems", [])
        assert looks == then, entry["query"]
        assert len(now) == len(before), entry["query"]
        assert all(same(one, other) for one, other in zip(now, before, strict=True)), (entry["query"], now)


def same(said: str, before: str) -> bool:
    """Whether a sentence says that the same is wrong: what is allowed may be more by now, or told in other words, the
    newest table may be another, and what pages called a learner is an algorithm."""
    before = before.replace("a learner", "an algorithm").replace("learners", "algorithms")
    return _wrong(said) == _wrong(before)


def _wrong(said: str) -> str:
    return re.sub(r"known here; \d+ was", "known here; the newest was", said.partition("; give ")[0])


@pytest.mark.parametrize("page", corpus.PAGES)
def test_what_a_page_writes_is_read_as_it_was(page: str) -> None:
    for entry, (_, means, looks) in read(page):
        if "up=" in entry["query"]:
            continue  # data of one's own travel in no link
        part = corpus.opened(page, entry["query"])
        specs, *again = corpus.read(page, part.query)
        assert specs == corpus.specs_of(page, part), entry["query"]
        assert again == [means, {key: value for key, value in looks.items() if key != "problems"}], entry[
            "query"
        ]


def test_specs_are_read_back_and_name_the_same_work() -> None:
    for entry in CORPUS["specs"]:
        spec = spec_from_dict(entry["spec"])
        assert spec.to_dict() == entry["spec"]
        assert spec.seed_key(0).startswith(entry["key"]), entry["spec"]


def test_the_corpus_has_every_page_version_table_and_kind() -> None:
    queries = [entry["query"] for entry in LINKS]
    assert len(LINKS) >= 300
    assert {entry["page"] for entry in LINKS} == corpus.PAGES.keys()
    assert {entry["spec"].get("kind", "online") for entry in CORPUS["specs"]} >= KINDS.keys()
    for version in READ:
        assert sum(f"v={version}" in query for query in queries) >= 20
    for table in TABLES:
        assert sum(f"t={table}" in query for query in queries) >= 5
