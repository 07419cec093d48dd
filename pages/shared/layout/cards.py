"""A list of cards, two next to each other: what a page opens with that has many things to choose from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

from pages.shared.visitor.callbacks import callback

T = TypeVar("T")


def card_list(items: Sequence[T], draw: Callable[[T, int], object]) -> None:
    """Draw a card for each, numbered from 1; row by row, so that a telephone has them in order."""
    for first in range(0, len(items), 2):
        for i, column in enumerate(st.columns(2, gap="small")[: len(items) - first], first):
            with column, st.container(border=True, height="stretch", gap="xsmall"):
                draw(items[i], i + 1)


def opener(number: int, title: str, key: str, go: Callable[[str], object]) -> None:
    """Draw the title of a card, a button that opens its subject. title: Markdown."""
    st.button(
        f"**{number}. {title}**",
        key=f"open_{key}",
        type="tertiary",
        icon=":material/arrow_forward:",
        icon_position="right",
        on_click=callback(go),
        args=(key,),
    )
