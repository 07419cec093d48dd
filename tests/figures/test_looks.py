"""Looks and colours: what a curve is is seen by every eye, and all is legible."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dprl.figures import looks, style
from dprl.figures.looks import CurveStyle
from dprl.figures.style import SYMBOLS
from tests.figures.eyes import EYES, contrast, distance, lab

DARK = [False, True]
PRIVATE = ("central", "shuffle", "local")
BUDGETS = 10.0 ** np.arange(-3, 4.01, 0.1)


def labs(model: str, budgets: np.ndarray, dark: bool, eye: str) -> np.ndarray:
    """[budgets, 3]"""
    return np.array([lab(looks.color(model, e, dark), eye) for e in budgets])


@pytest.mark.parametrize("dark", DARK)
@pytest.mark.parametrize("eye", EYES)
def test_models_are_told_apart_at_any_budgets(dark: bool, eye: str) -> None:
    seen = {model: labs(model, BUDGETS[::5], dark, eye) for model in SYMBOLS}
    for a, b in combinations(seen, 2):
        assert distance(seen[a][:, None], seen[b][None, :]).min() >= 11, (a, b)


@pytest.mark.parametrize("dark", DARK)
@pytest.mark.parametrize("model", PRIVATE)
def test_the_more_private_the_further_from_the_page_in_one_hue_and_told_apart(dark: bool, model: str) -> None:
    page = style.theme(dark).background
    away = [contrast(looks.color(model, epsilon, dark), page) for epsilon in BUDGETS]
    assert (np.diff(away) <= 0).all()
    assert away[-1] >= 3
    assert away[0] > 1.8 * away[-1]
    for eye in EYES:  # budgets half a decade apart, of those in use
        seen = labs(model, BUDGETS[20:41], dark, eye)
        assert distance(seen[:-5], seen[5:]).min() >= 5
    _, a, b = labs(model, BUDGETS, dark, "normal").T
    turned = np.angle(np.exp(1j * (np.arctan2(b, a) - np.arctan2(b[35], a[35]))), deg=True)
    assert np.abs(turned).max() < 30


KINDS = st.lists(
    st.builds(
        CurveStyle,
        model=st.sampled_from(list(SYMBOLS)),
        epsilon=st.sampled_from([0.1, 0.12, 0.3, 1.0, 1.1, 3.0, 10.0, 1000.0]),
        noise=st.integers(0, 1),
        learner=st.integers(0, 9),
    ),
    max_size=8,
)


@given(KINDS)
def test_no_two_curves_look_the_same(kinds: list[CurveStyle]) -> None:
    drawn = looks.numbered(kinds)
    for a, b in combinations(drawn, 2):
        if (a.dash, a.symbol, a.number) == (b.dash, b.symbol, b.number):
            for eye in EYES:
                assert distance(*(lab(one.color(dark=False), eye) for one in (a, b))) >= 2.3  # noticeable
    assert style.BOUND_DASH not in {look.dash for look in drawn}


@given(KINDS)
def test_no_curve_changes_when_another_one_comes(kinds: list[CurveStyle]) -> None:
    for n in range(len(kinds)):
        assert looks.numbered(kinds[:n]) == looks.numbered(kinds)[:n]


def test_where_dashes_tell_curves_of_one_colour_apart_no_two_have_the_same() -> None:
    kinds = [CurveStyle("central", 1.0, noise) for noise in (2, 0, 3)]
    found = looks.dashed([*kinds, CurveStyle("none")])
    assert len({kind.dash for kind in found[:3]}) == 3
    # the first of its colour stays as it is on every page
    assert [found[0], found[3]] == [kinds[0], CurveStyle("none")]
    shades = [CurveStyle("central", 0.1), CurveStyle("central", 10.0)]
    assert looks.dashed(shades)[1].dash == "solid"


@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK], ids=["light", "dark"])
def test_what_is_drawn_stands_out_from_the_page_and_is_told_apart(theme: style.Theme) -> None:
    for text in (theme.ink, theme.muted):
        assert contrast(text, theme.background) >= 4.5
    for color in (*theme.roles.values(), *theme.actions):
        assert contrast(color, theme.background) >= 3.0, color
    first, second, *_ = theme.actions
    for eye in EYES:
        for a, b in combinations(theme.roles.values(), 2):
            assert np.linalg.norm(lab(a, eye) - lab(b, eye)) >= 14, (a, b)
        assert np.linalg.norm(lab(first, eye) - lab(second, eye)) >= 40
    for scale in (theme.amount, theme.counts, theme.difference):  # of cells with words in them
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
    last = np.log10(np.sinh(at[-1]) * 100)
    assert last == pytest.approx(round(last), abs=1e-8)


def test_a_visitors_label_is_no_markup() -> None:
    assert style.plain("<a href='x'>&") == "&lt;a href='x'&gt;&amp;"
