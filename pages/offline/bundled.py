"""The bundled files of Offline: for each of its files of runs, the specs in it."""

from __future__ import annotations

from pages.offline.record import bundled_specs

FILES = {"offline": bundled_specs}
