"""Figures for papers: the dashboard's charts by Matplotlib, all that is drawn in them, at a paper's width."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dprl.figures import style
from dprl.figures.paper import MissingExtra, axes, drawn, saved
from dprl.figures.paper.text import as_numbers, words
from tests.figures.test_charts import CASES, Case
from tests.problems import first

# What only a page on a screen needs, which pointing at and pressing it is about, or which is set otherwise on paper.
SCREEN = re.compile(
    r"(data\.)?(customdata|showlegend|text|hover\w*|uirevision|unselected|legendgroup|legend|name|insidetextanchor|constraintext).*"
    r"|layout\.(hover\w*|uirevision|clickmode|dragmode|margin|modebar|paper_bgcolor|plot_bgcolor|title|legend\d*|template|bargap|barmode).*"
    r"|layout\.font\.(family|size)"
    r"|layout\.[xy]axis\d*\.(anchor|automargin|gridcolor|linecolor|tickcolor|tickangle|matches|minexponent"
    r"|exponentformat|scaleanchor|constrain|zeroline|fixedrange|nticks|ticks|tickmode|tick0|tickfont\..*|title\.(font|standoff).*)"
    r"|layout\.annotations\.(arrowhead|axref|ayref|borderpad|standoff)"
    r"|data\.colorbar\.(len|nticks|outlinewidth|thickness|ticklen|tickmode|x|y|xpad|ypad|yanchor|tickfont\.color)"
    r"|data\.error_[xy]\.type"
    r"|data\.marker\.pattern\.size"
)
every = pytest.mark.parametrize("name", CASES)
FIRST = ("regret", "frontier", "counts", "learners", "users needed")


class Read(dict[str, Any]):
    """A dictionary that remembers which of its keys were asked for."""

    def __init__(self, given: dict[str, Any], name: str, asked: set[str]) -> None:
        self.name, self.asked = name, asked
        super().__init__({key: self.within(key, value) for key, value in given.items()})

    def within(self, key: str, value: Any) -> Any:
        if isinstance(value, dict) and "bdata" not in value:
            return Read(value, f"{self.name}.{key}", self.asked)
        if isinstance(value, list | tuple) and value and isinstance(value[0], dict):
            return [Read(one, f"{self.name}.{key}", self.asked) for one in value]
        return value

    def __getitem__(self, key: str) -> Any:
        self.asked.add(f"{self.name}.{key}")
        return super().__getitem__(key)

    def get(self, key: str, otherwise: Any = None) -> Any:
        self.asked.add(f"{self.name}.{key}")
        return super().get(key, otherwise)

    def paths(self) -> Iterator[str]:
        for key, value in self.items():
            held = value if isinstance(value, list) else [value]
            inside = [path for one in held if isinstance(one, Read) for path in one.paths()]
            yield from inside or [f"{self.name}.{key}"]


def described(case: Case) -> dict[str, Any]:
    return case.draw(1.0, dark=False).figure.to_dict()  # type: ignore[no-any-return]


def boxes_of(page: Any) -> list[Any]:
    """Where on a page everything of each pair of axes lies."""
    return [one.get_tightbbox() for one in page.axes if one.axison]


def lines_of(page: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    return [
        (np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float))
        for one in page.axes
        for line in one.get_lines()
    ]


@pytest.mark.thorough
@every
def test_all_of_a_chart_is_drawn_within_its_page_and_without_its_title(name: str) -> None:
    figure = described(CASES[name])
    asked: set[str] = set()
    layout = Read(figure["layout"], "layout", asked)
    data = [Read(one, "data", asked) for one in figure["data"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a letter that no font has is a warning
        page = drawn({"layout": layout, "data": data})
        page.draw_without_rendering()
    # Nothing of its description is passed over.
    paths = {path for one in (layout, *data) for path in one.paths()}
    assert sorted(path for path in paths - asked if not SCREEN.fullmatch(path)) == []
    # Each line has the points that it has on a page.
    found = lines_of(page)
    for one in figure["data"]:
        if one["type"] == "scatter" and "lines" in (one.get("mode") or "lines"):
            x, y = as_numbers(one["x"]), as_numbers(one["y"])
            if (one.get("line") or {}).get("width", 2) and one.get("visible", True) is True:
                assert any(
                    np.array_equal(a, x, equal_nan=True) and np.array_equal(b, y, equal_nan=True)
                    for a, b in found
                ), one.get("name")
    # All of it lies on the page; axes and legend do not lie on each other.
    width, height = page.get_size_inches() * page.dpi
    boxes = boxes_of(page)
    legends = [legend.get_window_extent() for legend in page.legends]
    for box in (*boxes, *legends):
        assert -1.5 <= box.x0, name
        assert box.x1 <= width + 1.5, name
        assert -1.5 <= box.y0, name
        assert box.y1 <= height + 1.5, name
    assert not any(box.y0 < legend.y1 - 1 for box in boxes for legend in legends)
    # Its axes say what they show; its title is for the caption.
    said = [text.get_text() for text in page.findobj(lambda artist: hasattr(artist, "get_text"))]
    assert words(CASES[name].title) not in said
    for title in (CASES[name].x, CASES[name].y):
        assert not title or words(title) in [one.replace("\n", " ") for one in said]
    # Every trace that a legend names on a page is named once here.
    if figure["layout"].get("showlegend") is not False:
        named = [
            words(one["name"]) for one in figure["data"]
            if one.get("showlegend", one["type"] != "heatmap") and one.get("visible", True) is True and one.get("name")
        ]  # fmt: skip
        assert [text.get_text() for legend in page.legends for text in legend.get_texts()] == sorted(
            named,
            key=lambda text: next(
                t.get("legendrank", 1000) for t in figure["data"] if words(t.get("name")) == text
            ),
        )
    # Nothing is too small to be read in print.
    sizes = [text.get_fontsize() for text in page.findobj(lambda artist: hasattr(artist, "get_fontsize"))]
    assert min(sizes) >= 5.5


@pytest.mark.thorough
@every
@pytest.mark.parametrize("width", ["text", "page", 2.4])
def test_charts_of_any_width_lie_within_it(name: str, width: str | float) -> None:
    page = drawn(described(CASES[name]), width=width)
    page.draw_without_rendering()
    across = page.get_figwidth() * page.dpi
    for box in boxes_of(page):
        assert -1.5 <= box.x0
        assert box.x1 <= across + 1.5


@pytest.mark.parametrize("name", first(FIRST[:2]))
@pytest.mark.parametrize("suffix", ["pdf", "svg"])
def test_a_file_has_the_width_and_the_same_bytes_again(name: str, suffix: str) -> None:
    figure = described(CASES[name])
    content = saved(figure, suffix, width="text")
    assert content == saved(figure, suffix, width="text")
    if suffix == "pdf":
        assert b"/Type3" not in content
        box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", content)
        assert box is not None
        assert float(box[1]) == pytest.approx(5.5 * 72)
    else:
        assert b'width="396pt"' in content
    assert b"20" + b"26-" not in content  # no date


def test_a_picture_is_saved_with_its_numbers(tmp_path: Path) -> None:
    picture = CASES["regret"].draw(1.0, dark=False)
    pdf, table = picture.save(tmp_path / "regret.pdf")
    assert pdf.read_bytes().startswith(b"%PDF")
    pd.testing.assert_frame_equal(pd.read_csv(table), picture.table, check_dtype=False)
    (svg,) = picture.save(str(tmp_path / "regret.svg"), width="page", font="sans", data=False)
    assert svg.read_text("utf-8").count("<svg") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["regret.csv", "regret.pdf", "regret.svg"]


@pytest.mark.parametrize(
    ("path", "how", "says"),
    [
        ("a.jpg", {}, "format: 'jpg' is not allowed; give one of pdf, svg, png."),
        ("a", {}, "format"),
        ("no/such/a.pdf", {}, "no/such'; make it, or give another path."),
        (
            "a.pdf",
            {"width": "wide"},
            "width: 'wide' is not allowed; give one of column, text, page, or inches",
        ),
        ("a.pdf", {"width": 100}, "width"),
        ("a.pdf", {"width": float("nan")}, "width"),
        ("a.pdf", {"height": 0}, "height"),
        ("a.pdf", {"font": "comic"}, "font: 'comic' is not allowed; give one of serif, sans."),
    ],
)
def test_what_is_not_allowed_is_said_in_one_sentence(
    tmp_path: Path, path: str, how: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(says)) as error:
        CASES["regret"].draw(1.0, dark=False).save(tmp_path / path, **how)
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_figure_for_a_dark_page_is_refused() -> None:
    with pytest.raises(ValueError, match="draw it with dark=False"):
        drawn(CASES["regret"].draw(1.0, dark=True).figure.to_dict())


def test_without_the_extra_one_sentence_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install 'dprl\[paper\]'"):
        CASES["regret"].draw(1.0, dark=False).save(tmp_path / "a.pdf")
    assert issubclass(MissingExtra, ImportError)


def test_what_is_drawn_on_a_page_needs_no_matplotlib() -> None:
    source = Path("dprl/figures/picture.py").read_text("utf-8")
    assert "matplotlib" not in source.lower().replace("needs matplotlib", "").replace(
        "matplotlib is not installed", ""
    )


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("Gap v* − v<sup>π</sup>", "Gap v* − v$^{π}$"),
        ("<b>bold</b><br>below", "bold\nbelow"),
        ("a &lt;i&gt;run&lt;/i&gt; &amp; more", "a <i>run</i> & more"),
        ("costs $5", r"costs \$5"),
    ],
)
def test_words_of_a_page_are_words_of_a_paper(html: str, text: str) -> None:
    assert words(html) == text


def test_settings_of_the_process_stay_as_they_were() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    saved(described(CASES["users needed"]), "svg")
    assert dict(matplotlib.rcParams) == before


def test_axes_name_few_decades() -> None:
    for low, high in ((1.0, 1e15), (1e-9, 1e20), (1.0, 1e3)):
        page = drawn({
            "layout": style.layout("", dark=False, height=400) | {"xaxis": {"type": "log"}},
            "data": [{"type": "scatter", "mode": "lines", "x": [low, high], "y": [1, 2], "line": {"color": "#000000"}}],
        })  # fmt: skip
        assert 2 <= len(page.axes[1].get_xticks()) <= axes.DECADES + 1
