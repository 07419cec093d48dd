"""How a wheel is built: what the dashboard needs from the top of the checkout goes into dprl/dashboard/.

Named in pyproject.toml; only the build imports this file.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools.command.build_py import build_py

NEEDED = ("app.py", "pages", "website", "assets", ".streamlit/config.toml")
BUILT = "static"  # the documents, where `make docs` has built them


class BuildWithDashboard(build_py):
    """Copies all of the dashboard, Streamlit's options and built documents beside the package's own files."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:  # the checkout serves itself
            return
        root, target = Path(__file__).parents[1], Path(self.build_lib) / "dprl" / "dashboard"
        for name in (*NEEDED, *([BUILT] if (root / BUILT).is_dir() else [])):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            if (root / name).is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
                shutil.copytree(root / name, target / name, ignore=ignored, dirs_exist_ok=True)
            else:
                shutil.copy2(root / name, target / name)
