"""Speeds are measured by bench/, and written down in docs/notes/speed.md; other pages repeat what stands there."""

from __future__ import annotations

import re

from tests.test_layers import ROOT

SPEED = (ROOT / "docs/notes/speed.md").read_text("utf-8")
SIMULATION = (ROOT / "docs/explanation/exact-simulation.md").read_text("utf-8")


def cells(heading: str) -> list[list[str]]:
    """The rows of the first table below a heading of docs/notes/speed.md, its head first."""
    lines = SPEED.partition(f"## {heading}\n")[2].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [rows[0], *rows[2:]]


def test_the_page_on_exact_simulation_gives_the_speed_that_was_measured() -> None:
    (row,) = [row for row in cells("What is measured") if "all else by default, to 10^15 users" in row[0]]
    said = re.search(r"takes about ([\d.]+) s for a seed", SIMULATION)
    assert said
    assert float(said.group(1)) == round(float(row[1].removesuffix(" s")), 2)


def test_the_page_on_exact_simulation_gives_the_releases_that_were_measured() -> None:
    said = re.search(r"makes (\d+) releases for 10¹⁵ users", SIMULATION)
    assert said
    assert f"{said.group(1)} releases instead of" in SPEED


def test_ratios_beside_others_were_measured_on_two_machines() -> None:
    head, *machines = cells("Beside rlberry")[:3]
    assert head[1:] == ["rlberry 0.5.0", "rlberry-scool 0.7.3"]
    assert all(re.match(r"\d+ times", cell) for row in machines for cell in row[1:])
