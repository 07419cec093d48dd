"""A short glossary and where to read more."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dprl.messages.glossary import listed_terms
from dprl.sitemap import PAGES
from dprl.theory import papers
from pages.shared.text import escape
from pages.shared.visitor.state import session

WORDS, PAPERS = listed_terms("online"), papers.listed("online")
OF_DATA_SETS, PAPERS_ON_DATA_SETS = listed_terms("offline"), papers.listed("offline")


PRIMER = "explanation/private-rl"


def guide() -> None:
    """Links to the document about this page and to the subject in one page, where the documents are served."""
    page = PAGES[session().page or ""]
    if st.get_option("server.enableStaticServing"):
        links = {page.guide: "Documentation of this page"} if page.guide else {}
        links[PRIMER] = "Private reinforcement learning in one page"
        said = [f"[{text}](app/static/docs/{file}.html)" for file, text in links.items()]
        st.markdown(f":material/help: {' · '.join(said)}")


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
