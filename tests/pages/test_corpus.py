"""Links of every page and version mean what they meant: see corpus.py, which also says how to add one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import streamlit as st

from dprl.jobs.store import Store
from dprl.links import READ, TABLES
from dprl.simulation.kinds import KINDS, spec_from_dict
from tests.pages import corpus

CORPUS = corpus.load()
LINKS = CORPUS["links"]


@pytest.fixture(autouse=True)
def _reading(store: Store) -> Iterator[None]:
    with corpus.reading():
        yield
    if "session" in st.session_state:
        del st.session_state["session"]


@cache
def read(page: str) -> list[tuple[dict[str, Any], tuple[Any, ...]]]:
    """Each link to a page, with what it is read as."""
    return [(entry, corpus.read(page, entry["query"])) for entry in LINKS if entry["page"] == page]


@pytest.mark.parametrize("page", corpus.PAGES)
def test_links_mean_what_they_meant(page: str) -> None:
    for entry, (specs, means, _) in read(page):
        assert [spec.to_dict() for spec in specs] == [CORPUS["specs"][i]["spec"] for i in entry["specs"]], (
            entry["query"]
        )
        assert means == entry["means"], entry["query"]


@pytest.mark.parametrize("page", corpus.PAGES)
def test_links_look_as_they_looked(page: str) -> None:
    """For as long as looks are not to change: then this test and `looks` of the corpus may go."""
    for entry, (_, _, looks) in read(page):
        assert looks == entry["looks"], entry["query"]


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
