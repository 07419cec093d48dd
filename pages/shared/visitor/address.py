"""The address bar: a link that was not read yet, and the one to what is seen."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import streamlit as st

Query = dict[str, list[str]]


def unread(last: str | None, files: Collection[str]) -> tuple[Query, str] | None:
    """The query of the address bar, and its name to remember it by; None if there is none, or it is `last`.

    files: digests of those known here. A link is unread again when one that it waited for has come.
    """
    given = {key: st.query_params.get_all(key) for key in st.query_params}
    name = _name(given, files)
    return None if not given or name == last else (given, name)


def write(items: Iterable[tuple[str, str]], files: Collection[str]) -> str:
    """Puts query parameters into the address bar; returns the name by which `unread` knows them."""
    grouped: Query = {}
    for key, value in items:
        grouped.setdefault(key, []).append(value)
    st.query_params.from_dict(grouped)
    return _name(grouped, files)


def _name(query: Query, files: Collection[str]) -> str:
    text = repr(sorted(query.items()))
    return " ".join([text, *sorted(file for file in files if file in text)])
