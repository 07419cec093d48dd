"""A short glossary and where to read more."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dprl import papers
from dprl.glossary import listed
from dprl.sitemap import PAGES
from pages.shared.text import escape
from pages.shared.visitor.state import session

WORDS, PAPERS = listed("online"), papers.listed("online")
OF_DATA_SETS, PAPERS_ON_DATA_SETS = listed("offline"), papers.listed("offline")
OF_LINEAR_MODELS, PAPERS_ON_LINEAR_MODELS = listed("linear"), papers.listed("linear")


def guide() -> None:
    """A link to the document about this page, where the documents are served."""
    page = PAGES[session().page or ""]
    if page.guide and st.get_option("server.enableStaticServing"):
        st.markdown(f":material/help: [Documentation of this page](app/static/docs/{page.guide}.html)")


def proofs() -> None:
    """A link to the list of sentences about privacy with their proofs, where the documents are served."""
    if st.get_option("server.enableStaticServing"):
        address = "app/static/docs/reference/sentences.html"
        st.markdown(f":material/help: [What each sentence about privacy follows from]({address})")


def words_and_papers(words: Mapping[str, str] = WORDS, sources: Mapping[str, str] = PAPERS) -> None:
    """At the foot of a page: the document about it, and two folded lists."""
    guide()
    with st.expander("Words used here", icon=":material/menu_book:"):
        st.markdown("\n".join(f"- **{escape(word)}:** {meaning}" for word, meaning in words.items()))
    with st.expander("The papers", icon=":material/article:"):
        st.markdown("\n".join(f"- [{title}]({address})" for title, address in sources.items()))
