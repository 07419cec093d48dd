"""The papers' figures: what is drawn, what is said of it, and that the command line says the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dprl import __main__ as cli
from dprl import run
from dprl.claims import CLAIMS, figures
from dprl.claims.paper_figures import FIGURES, lost, seen
from dprl.claims.pictures import figure_pictures
from dprl.metrics.curves import Evidence
from dprl.simulation import spec_from_dict
from pages.shared.results.bundled import asset
from pages.shared.results.evidence import bundled_figures

AGAIN = "python -m bench.bundled figures"


def test_every_figure_has_a_claim_and_its_runs_come_with_the_program() -> None:
    known = bundled_figures()
    assert set(known.runs) == {spec for figure in FIGURES.values() for spec in figure.runs}, AGAIN
    assert {figure.claim for figure in FIGURES.values()} <= set(CLAIMS)
    assert all(
        len(spec_from_dict(one["spec"]).seeds * [0]) == len(one["values"]) for one in asset("figures")["runs"]
    )


def test_a_run_of_a_figure_is_the_engines() -> None:
    known = bundled_figures()
    spec = FIGURES["qw23-offline-1a"].paper.specs[0]
    assert run(spec.replace(seeds=1)).values[0, -1] == pytest.approx(known.runs[spec].ends[0], rel=1e-5), (
        AGAIN
    )


def test_with_paper_constants_the_online_figure_is_flat_and_with_what_it_takes_it_has_the_order() -> None:
    known, figure = bundled_figures(), FIGURES["qw23-online-1"]
    assert all(lost(known, spec) > 0.95 for spec in figure.paper.specs)
    ends = [known.runs[spec].ends.mean() for spec in figure.needed.specs]
    assert ends == sorted(ends)
    assert lost(known, figure.needed.specs[-1]) < 0.01
    assert "flat at K = 50,000" in figure.found
    assert seen(figure.paper, known) == "At K = 50,000 the curves have lost 97% to 98% of V*."


def test_offline_curves_meet_by_a_million_and_not_by_a_thousand() -> None:
    known = bundled_figures()
    for key in ("qw23-offline-1a", "qw23-offline-1b"):
        figure = FIGURES[key]
        few, many = ([lost(known, spec) for spec in panel.specs] for panel in figure.panels)
        assert few[-1] > few[0] + 0.3
        assert many[-1] == pytest.approx(many[0], abs=0.001)
    budgets = [lost(known, spec) for spec in FIGURES["qw23-offline-1b"].needed.specs[1:]]
    assert budgets == sorted(budgets, reverse=True)


def test_an_axis_has_a_raised_letter_and_no_sign_for_one() -> None:
    (picture, _) = figure_pictures(FIGURES["qw23-offline-1b"], bundled_figures())
    assert "v<sup>π</sup>" in picture.figure.layout.yaxis.title.text
    assert "^" not in picture.figure.layout.yaxis.title.text
    assert "<" not in picture.alt


def test_the_command_line_writes_the_numbers_of_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    figure, nobody = FIGURES["qw23-online-1"], None
    some = Evidence({spec: bundled_figures().runs[spec] for spec in figure.runs}, {})
    monkeypatch.setattr(figures, "gather_runs", lambda *given: some)
    store: Any = nobody
    figures.print_figures([figure], store, "somebody", tmp_path, None)
    said = capsys.readouterr().out
    assert figure.found in said
    assert {file.name for file in tmp_path.iterdir()} == {
        "qw23-online-1.json",
        "qw23-online-1-paper.csv",
        "qw23-online-1-needed.csv",
    }
    table = pd.read_csv(tmp_path / "qw23-online-1-paper.csv")
    drawn = figure.paper.draw(some).series[0]
    rows = table[table["series"] == drawn.label]
    np.testing.assert_allclose(rows["mean"], drawn.rows.mean(0), rtol=1e-9)


@pytest.mark.parametrize(
    ("words", "says"), [(["figure", "x"], "name: x is not allowed"), (["all", "x"], "no place")]
)
def test_a_name_that_there_is_not_is_refused(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["reproduce", *words])
    assert ended.value.code == 2
    assert says in capsys.readouterr().err
