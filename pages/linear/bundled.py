"""What comes with the program for Linear: for each of its files of runs, the specs in it."""

from __future__ import annotations

from pages.linear.record import LINEAR

FILES = {LINEAR.path: LINEAR.bundled_specs}
