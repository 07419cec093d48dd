"""Widgets of the view, shared by the tabs."""

from __future__ import annotations

from pages.offline.link import FIELDS
from pages.offline.state import offline
from pages.shared.controls.view import Widgets

widgets = Widgets(offline, FIELDS)
