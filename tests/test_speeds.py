"""Speeds are measured by bench/, and written down in one place: docs/notes/speed.md. README repeats them."""

from __future__ import annotations

import re

from tests.test_layers import ROOT

README = " ".join((ROOT / "README.md").read_text("utf-8").split())
SPEED = (ROOT / "docs/notes/speed.md").read_text("utf-8")


def cells(heading: str) -> list[list[str]]:
    """The rows of the first table below a heading of docs/notes/speed.md, its head first."""
    lines = SPEED.partition(f"## {heading}\n")[2].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [rows[0], *rows[2:]]


def test_readme_gives_the_range_over_machines_that_was_measured() -> None:
    """From the machine where dprl plays the fewest times as many episodes to the one where it plays the most."""
    head, *machines = cells("Beside rlberry")[:3]
    assert head[1:] == ["rlberry 0.5.0", "rlberry-scool 0.7.3"]
    for column, peer in enumerate(head[1:], start=1):
        medians = [
            float(found.group(1)) for row in machines if (found := re.match(r"(\d+) times", row[column]))
        ]
        assert len(medians) == len(machines) == 2
        said = re.search(rf"(\d+) to (\d+) times as many (?:episodes )?as {re.escape(peer)}", README)
        assert said, peer
        assert [float(one) for one in said.groups()] == [min(medians), max(medians)]


def test_readme_gives_the_engines_speeds_that_were_measured() -> None:
    _, plain, tree, *_ = cells("What is measured")
    for row in (plain, tree):
        assert re.search(rf"(?<![\d,]){row[1].removesuffix(' episodes/s')}(?![\d,])", README), row[0]
