"""Sphinx's settings for this documentation: `make docs` writes pages to static/docs, which the dashboard serves."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import registries  # noqa: E402
from nbclient import NotebookClient  # noqa: E402

import dprl  # noqa: E402

project = "dprl"
author = "the authors of dprl"
version = release = dprl.__version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
# Stubs of the Python API are reStructuredText, which autosummary writes with the first suffix that it knows.
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}
exclude_patterns = ["reference/generated/*", "templates/*"]
templates_path = ["templates"]
nitpicky = False
suppress_warnings = ["myst.header"]  # the list of environments steps from a title to a third level

# As GitHub makes them, so that a link with # works in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath"]
# Notebooks are stored without what they print, run here, and run again only when they have changed.
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "build" / "notebooks")
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300  # seconds: the first run on a machine compiles
nb_merge_streams = True
nb_output_stderr = "remove"  # a bar of progress that overwrites itself is hundreds of lines on a page
# Each kernel would warn that what it says to this process is not encrypted.
NotebookClient.extra_arguments.default_args = (["--log-level=ERROR"],)

autosummary_generate = True
# There is Estimate, too, and some file systems do not tell capitals.
autosummary_filename_map = {"dprl.estimate": "dprl.estimate-function"}
autodoc_typehints = "none"  # of the signature alone: its defaults say more, and types stand in the text
autodoc_member_order = "bysource"
napoleon_use_ivar = True

html_theme = "pydata_sphinx_theme"
html_title = "dprl"
html_static_path = ["pictures", "style"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "search_bar_text": "Search the docs",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
}


def plain_text(app: Any, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    """Escape a docstring for Sphinx, so that V* is not read as emphasis and `code` is shown as code."""
    for number, line in enumerate(lines):
        lines[number] = re.sub(r"`+([^`]+)`+", r"``\1``", re.sub(r"(?<!\\)([*|])", r"\\\1", line))


def setup(app: Any) -> None:
    """Write the generated pages and register `plain_text`; Sphinx calls this function."""
    registries.write(HERE / "reference" / "generated")
    app.connect("autodoc-process-docstring", plain_text, priority=100)  # before napoleon
