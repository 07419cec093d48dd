"""Colours are legible and told apart; scales and ticks fit what is drawn."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dprl.figures import style
from tests.figures.eyes import EYES, contrast, lab

THEMES = {"light": style.LIGHT, "dark": style.DARK}


@pytest.mark.parametrize("name", THEMES)
def test_text_and_lines_stand_out_from_the_page(name: str) -> None:
    theme = THEMES[name]
    for text in (theme.ink, theme.muted):
        assert contrast(text, theme.background) >= 4.5
    graphics = [
        *theme.roles.values(),
        *theme.actions,
    ]
    for color in graphics:
        assert contrast(color, theme.background) >= 3.0, color


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("eye", EYES)
def test_roles_and_actions_are_told_apart(name: str, eye: str) -> None:
    theme = THEMES[name]
    for a, b in combinations(theme.roles.values(), 2):
        assert np.linalg.norm(lab(a, eye) - lab(b, eye)) >= 14, (a, b)
    first, second, *_ = theme.actions
    assert np.linalg.norm(lab(first, eye) - lab(second, eye)) >= 40


@pytest.mark.parametrize("name", THEMES)
def test_words_in_cells_are_readable_on_every_colour_of_every_scale(name: str) -> None:
    theme = THEMES[name]
    for scale in (theme.amount, theme.counts, theme.difference):
        for position in np.linspace(0, 1, 101):
            cell = style.mix(scale, float(position))
            assert contrast(style.readable_on(cell), cell) >= 3.5, (cell, position)


def test_the_symlog_scale_takes_zero_negatives_and_ten_to_the_fifteen() -> None:
    values = np.array([-1e6, -10.0, 0.0, 10.0, 1e15])
    placed = style.symlog(values, 100.0)
    assert (np.diff(placed) > 0).all()
    assert placed[2] == 0
    at, words = style.symlog_ticks(-1e6, 1e15, 100.0)
    assert words[at.index(0.0)] == "0"
    assert at == sorted(at)
    assert 4 <= len(at) <= 10
    assert any(w.startswith("−10") for w in words)
    np.testing.assert_allclose(
        np.sinh(at[-1]) * 100, float("1e" + str(round(np.log10(np.sinh(at[-1]) * 100))))
    )


def test_a_visitors_label_is_no_markup() -> None:
    assert style.plain("<a href='x'>&") == "&lt;a href='x'&gt;&amp;"
