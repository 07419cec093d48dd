"""Take the screenshots in the README from the running app: python -m bench.pictures

Writes docs/pictures/: the first view of a page at 1280 pixels in the light theme, in at most 256 colours.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM_FLAGS, chromium, idle
from tests.browser.server import ROOT, serve_command, start

PICTURES = {"home.png": "?v=1&eps=1", "explore-regret.png": "explore"}


def main() -> None:
    """Take all screenshots of a temporary dashboard with an empty store, without animations."""
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        app = start(serve_command, ROOT, Path(home))
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        context = browser.new_context(
            viewport={"width": 1280, "height": 860}, color_scheme="light", reduced_motion="reduce"
        )
        context.add_init_script(path=ROOT / "tests" / "browser" / "page.js")
        page = context.new_page()
        for name, path in PICTURES.items():
            page.goto(f"{app.url}/{path}")
            page.locator(".stPlotlyChart .gtitle").first.wait_for()
            idle(page)
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            picture.quantize(256, dither=Image.Dither.NONE).save(
                ROOT / "docs" / "pictures" / name, optimize=True
            )
        browser.close()
        app.end()


if __name__ == "__main__":
    main()
