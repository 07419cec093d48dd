"""A slider that answers while it moves. Streamlit's own waits a while before it sends, too long to see cause and
effect as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pages.shared.layout.component import component
from pages.shared.visitor.callbacks import on_value

_slider = component("slider")


def live_slider(
    label: str,
    place: int,
    words: Sequence[str],
    *,
    spoken: Sequence[str],
    ends: tuple[str, str],
    key: str,
    chart: str,
    queries: Sequence[str],
    write: bool,
    on_move: Callable[[int], None],
) -> None:
    """Draw a slider over `words`, at `place` when it is first drawn.

    Args:
        spoken: the words as a screen reader says them.
        chart: key of the container of a figure with a button for each place, which is pressed as the slider
            moves.
        queries: what the address says for each place, once the slider rests there.
        write: the address does not say it yet.
        on_move: called with the new place before the part of the page that holds the slider is drawn again.

    To move it from elsewhere, draw it under another key.
    """

    def moved(sent: Any) -> None:
        place = sent.get("place")
        if isinstance(place, int) and 0 <= place < len(words):  # it comes from a browser
            on_move(place)

    data = {
        "label": label,
        "place": place,
        "words": words,
        "spoken": spoken,
        "ends": ends,
        "queries": queries,
    }
    data |= {"chart": f".st-key-{chart}", "write": write}
    _slider(data=data, key=key, on_place_change=on_value(key, moved))
