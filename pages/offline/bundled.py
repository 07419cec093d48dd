"""What comes with the program for Offline: for each of its files of runs, the specs in it."""

from __future__ import annotations

from pages.offline.record import OFFLINE

FILES = {OFFLINE.path: OFFLINE.bundled_specs}
