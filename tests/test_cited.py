"""What to cite: every source names papers of the registry, and BibTeX, the pages and CITATION.cff follow from it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

import dprl
from bench.citation import FILE, written
from dprl.__main__ import main
from dprl.research.traces import SOURCES
from dprl.simulation import KINDS, AttackSpec, Spec
from dprl.theory.papers import PAPERS, bibliography
from dprl.version import VERSION
from tests.problems import left


def entries(text: str) -> dict[str, dict[str, str]]:
    """The entries of a BibTeX file, by key, read with braces counted."""
    found = {}
    for kind, key, body in re.findall(r"^@(\w+)\{([^,]+),\n(.*?)^\}$", text, re.M | re.S):
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", body, re.M))
        for value in fields.values():
            bare = value.replace(r"\{", "").replace(r"\}", "")
            assert bare.count("{") == bare.count("}"), value
        assert len(fields) == body.count("\n")
        found[key] = {"kind": kind, **fields}
    assert len(found) == text.count("\n@")
    return found


def test_a_run_is_cited_with_its_algorithm_its_model_its_mechanism_and_the_program() -> None:
    spec = dprl.RunSpec(algorithm="dp-ucbvi", privacy="central", mechanism="gaussian-toeplitz")
    text = dprl.cite(spec)
    assert set(entries(text)) == {"dprl", "qiao2023online", "fichtenberger2023", "denisov2022"}
    free = dprl.cite(dprl.RunSpec(algorithm="ucbvi", privacy="none"))
    assert set(entries(free)) == {"dprl", "azar2017"}
    assert entries(text)["dprl"]["note"] == f"Version {VERSION}"
    assert re.search(r"^% .*\\cite\{fichtenberger2023,denisov2022\}$", text, re.M)
    assert entries(text)["qiao2023online"] == {
        "kind": "inproceedings",
        "author": "Qiao, Dan and Wang, Yu-Xiang",
        "title": "{Near-optimal differentially private reinforcement learning}",
        "booktitle": "AISTATS",
        "year": "2023",
        "eprint": "2212.04680",
        "archiveprefix": "arXiv",
    }


def test_runs_of_every_kind_are_cited_and_each_paper_once() -> None:
    online, data = dprl.RunSpec(), dprl.OfflineSpec(algorithm="dp-apvi", privacy="zcdp")
    assert set(KINDS) == set(SOURCES)
    assert dprl.cite(AttackSpec(run=online)) == dprl.cite(online) == dprl.cite(online.to_dict())
    together = entries(dprl.cite(online, data, online, data.baseline()))
    assert set(together) == {*entries(dprl.cite(online)), *entries(dprl.cite(data)), "yin2021"}
    assert {"qiao2023offline", "bun2016", "balle2018"} <= set(together)


def test_a_source_without_a_paper_is_said_and_cites_only_the_program() -> None:
    text = bibliography([("Mine", "nobody's: 100% of_an example")], VERSION)
    assert set(entries(text)) == {"dprl"}
    assert r"% Mine (nobody's: 100\% of\_an example): no paper is known here" in text


def test_each_entry_is_ascii_and_whole() -> None:
    for paper in PAPERS.values():
        found = entries("\n" + paper.bibtex)[paper.key]
        assert paper.bibtex.isascii()
        assert found["author"].count(" and ") == len(paper.authors) - 1
        assert "eprint" in found or found["url"] == paper.address


def test_citation_cff_has_the_papers_and_the_version() -> None:
    text = FILE.read_text("utf-8")
    assert text == written(text), "run python -m bench.citation"
    read = yaml.safe_load(text)
    assert read["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "license", "abstract"} <= set(read)
    assert str(read["version"]) == VERSION == dprl.__version__
    for one, paper in zip(read["references"], PAPERS.values(), strict=True):
        names = tuple((author["given-names"], author["family-names"]) for author in one["authors"])
        assert (names, one["title"], one["year"]) == (paper.authors, paper.title, paper.year)
        assert (one.get("collection-title", ""), one.get("journal", "")) == (paper.venue, paper.journal)
        assert one["url"] == paper.address


def test_the_command_line_cites_specs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs: tuple[Spec, ...] = dprl.RunSpec(), dprl.OfflineSpec()
    files = [tmp_path / f"{i}.json" for i in range(len(specs))]
    for file, spec in zip(files, specs, strict=True):
        file.write_text(json.dumps(spec.to_dict()), "utf-8")
    assert main(["cite", *map(str, files)]) == 0
    assert capsys.readouterr().out == dprl.cite(*specs)
    assert "cannot be read" in left(capsys, "cite", str(tmp_path / "missing.json"))
