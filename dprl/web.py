"""`dprl web`: the pages that need no server, as files for any host of files."""

from __future__ import annotations

import subprocess
import sys
from argparse import Namespace
from typing import Any

from dprl.assets import ROOT
from dprl.given import directory


def add(commands: Any) -> None:
    """The command and its flags."""
    parser = commands.add_parser(
        "web", help="write pages that need no server, for any host of files", allow_abbrev=False
    )
    parser.add_argument(
        "--out", metavar="DIR", required=True, help="where to write index.html and the others"
    )


def web_command(given: Namespace) -> int:
    """Write the site. Returns the exit status. Raises SpecError where DIR cannot be made."""
    out = directory(given.out).resolve()
    # pages/ is no part of the package: like the dashboard, its program runs where pages/ is.
    return subprocess.run(
        [sys.executable, "-m", "website", "--out", str(out)], cwd=ROOT, check=False
    ).returncode
