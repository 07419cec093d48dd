"""The bundled files of Home: for each of its files of runs, the specs in it."""

from __future__ import annotations

from pages.shared.examples import home_specs

FILES = {"home": home_specs}
