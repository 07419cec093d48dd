"""The site that needs no server: what each page holds, before a browser opens it (tests/browser/test_website.py)."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html import escape
from pathlib import Path
from typing import Any

import pytest

from dprl.lessons import LESSONS, Order
from dprl.player import MOST_BYTES
from dprl.player.plotly import CHARTS
from pages.shared.lessons import evidence
from pages.shared.results.data import bundled_papers
from tests.problems import left
from website import __main__ as start
from website.document import Document, html_of
from website.live import played


def content_of(html: str) -> dict[str, Any]:
    found = re.search(r'id="packed-content">([^<]*)<', html)
    assert found is not None
    digits = found[1][1:].translate(str.maketrans(",./", "<>&"))
    content: dict[str, Any] = json.loads(gzip.decompress(base64.b85decode(digits)))
    return content


@pytest.fixture(scope="module")
def site() -> dict[str, str]:
    """All files, but for the runs of those that play some."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(start, "replays", lambda *_: {})
        patch.setattr(start, "page_of", lambda example, ready, nav: nav)
        return dict(start.files())


@pytest.mark.thorough
def test_every_file_that_a_page_leads_to_is_written(site: dict[str, str]) -> None:
    assert len(site) == 3 + len(LESSONS) + len(played())
    for name, text in site.items():
        links = [link.partition("#") for link in re.findall(r'(?:href|src)="([^"]+)"', text)]
        assert {file or name for file, _, _ in links} <= set(site), name
        assert all(f'id="{anchor}"' in site[file or name] for file, _, anchor in links if anchor)
        assert len(text.encode()) <= MOST_BYTES


def test_every_claim_has_its_verdict_and_a_chart(site: dict[str, str]) -> None:
    html = site["papers.html"]
    for report in bundled_papers().reports.values():
        assert escape(report.summary) in html
    assert len(content_of(html)["plots"]) >= len(bundled_papers().reports)


def test_lessons_keep_their_answers_behind_folds_and_every_prediction_has_a_place_and_a_verdict(
    site: dict[str, str],
) -> None:
    for number, one in enumerate(LESSONS.values()):
        html = site[f"lesson-{number}.html"]
        open_text = re.sub(r"<details>.*?</details>", "", html, flags=re.DOTALL)
        for said in map(escape, (*(step.why(evidence()) for step in one.steps), *one.recap)):
            assert said in html
            assert said not in open_text
        for step, guess in zip(one.steps, content_of(html)["guesses"], strict=True):
            assert len(guess["verdicts"]) >= len(guess["words"]) > 1
            if isinstance(step.prediction, Order):
                said = guess["verdicts"][",".join(map(str, range(len(guess["words"]))))]
                text = step.prediction.letters
                assert said == f"{step.off(text, evidence())} {step.reply(text, evidence())}"


def test_pages_have_no_other_charts_than_the_script_that_draws_them(site: dict[str, str]) -> None:
    plots = [
        plot for text in site.values() if 'id="packed-content"' in text for plot in content_of(text)["plots"]
    ]
    states = [state for plot in plots for state in plot["light"]]
    kinds = {trace["type"] for state in states for trace in state["figure"]["data"]}
    assert "scatter" in kinds
    assert kinds <= {"scatter", *CHARTS}


def test_texts_are_escaped_and_the_policy_lets_one_script_run() -> None:
    html = html_of(Document("<b>title", "a & b", ["<p>own</p>"]), "")
    assert "<b>title" not in html
    assert "&lt;b&gt;title" in html
    assert "a &amp; b" in html
    assert html.count("script-src 'sha256-") == 1


def test_a_place_that_cannot_be_written_to_gets_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    left(capsys, "web", "--out", str(tmp_path / "file"))
    (tmp_path / "index.html").mkdir()
    monkeypatch.setattr("sys.argv", ["dprl web", "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"^dprl: out: index\.html cannot be written, .*; give a directory"):
        start.main()
