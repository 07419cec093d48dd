"""Runs that tests of pages ask for, and the link that compares them."""

from __future__ import annotations

from dprl.simulation import RunSpec
from pages.shared.visitor import links
from pages.shared.visitor.address import query_of

SHORT = RunSpec(environment_params={"S": 3, "H": 3}, epsilon=50.0, episodes=20_000, seeds=2)  # a moment


def compared(*specs: RunSpec) -> str:
    """The link to Explore with these runs."""
    return f"explore?{query_of(links.encode([links.Curve(spec) for spec in specs], links.View()))}"
