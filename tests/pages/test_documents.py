"""Pages lead to the documents about them, where these are served."""

from __future__ import annotations

import pytest
import streamlit as st

from dprl.sitemap import PAGES, Page
from tests.pages.conftest import Visit
from tests.problems import first
from tests.test_layers import ROOT

WITH_ONE = [page for page in PAGES.values() if page.guide]


def test_each_document_is_there() -> None:
    assert len(WITH_ONE) == len(PAGES) - 1  # Runs has none
    for page in WITH_ONE:
        assert any((ROOT / "docs" / page.guide).with_suffix(kind).is_file() for kind in (".md", ".ipynb"))


@pytest.mark.parametrize("page", first(WITH_ONE, lambda page: page.section), ids=lambda page: page.path)
def test_a_page_leads_to_its_document_where_that_is_served(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, page: Page
) -> None:
    path, link = page.path or "home", f"(app/static/docs/{page.guide}.html)"
    assert not any(link in each.value for each in visit(path).markdown)
    told = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: name == "server.enableStaticServing" or told(name))
    served = [each.value for each in visit(path).markdown]
    assert any(link in said for said in served)
