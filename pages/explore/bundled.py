"""The bundled files of Explore: for each of its files of runs, the specs in it."""

from __future__ import annotations

from pages.shared.examples import example_specs

FILES = {"examples": example_specs}
