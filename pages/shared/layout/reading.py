"""A short glossary and where to read more."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.messages.glossary import listed_terms
from dprl.sitemap import PAGES
from dprl.theory import papers
from pages.shared.text import escape
from pages.shared.visitor.state import session


def words(place: DeltaGenerator) -> None:
    """List what the words of this page mean."""
    terms = {
        word: text for name in PAGES[session().page or ""].lists for word, text in listed_terms(name).items()
    }
    place.markdown("\n".join(f"- **{escape(word)}:** {meaning}" for word, meaning in terms.items()))


def papers_of(place: DeltaGenerator) -> None:
    """List the papers that this page is about."""
    sources = {
        title: at for name in PAGES[session().page or ""].lists for title, at in papers.listed(name).items()
    }
    place.markdown("\n".join(f"- [{title}]({address})" for title, address in sources.items()))


def proofs() -> None:
    """Link to the list of sentences about privacy with their proofs, where the documents are served."""
    if st.get_option("server.enableStaticServing"):
        address = "app/static/docs/reference/sentences.html"
        st.markdown(f":material/help: [What each sentence about privacy follows from]({address})")
