"""The options in .streamlit/config.toml: Streamlit knows them, and pages and figures share their colours."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pandas as pd
import pytest
from streamlit import config

from dprl.figures.style import DARK, LIGHT, Theme
from tests.figures.eyes import contrast

OPTIONS = tomllib.loads((Path(__file__).parents[1] / ".streamlit/config.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("option", pd.json_normalize(OPTIONS))
def test_streamlit_knows_the_option(option: str) -> None:
    # Streamlit itself only warns of an unknown option, and goes on without it.
    assert option in config.get_config_options()


@pytest.mark.parametrize(("scheme", "theme"), [("light", LIGHT), ("dark", DARK)])
def test_pages_have_the_figures_ground_and_ink_and_what_is_written_can_be_read(
    scheme: str, theme: Theme
) -> None:
    page = OPTIONS["theme"][scheme]
    assert (page["backgroundColor"], page["textColor"]) == (theme.background.lower(), theme.ink.lower())
    for place in (page, page["sidebar"]):
        for ground in (place["backgroundColor"], place["secondaryBackgroundColor"]):
            assert contrast(page["textColor"], ground) >= 4.5
            assert contrast(page["linkColor"], ground) >= 4.5
    assert contrast(page["primaryColor"], page["backgroundColor"]) >= 3  # drawn, not written
    assert contrast("#ffffff", page["primaryColor"]) >= 4.5
