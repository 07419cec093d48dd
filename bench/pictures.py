"""The pictures of the product in README, taken of the app as it is: python -m bench.pictures

Writes docs/pictures/: what a visitor sees first, at 1280 pixels by day, in at most 256 colours.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM_FLAGS, chromium, idle
from tests.browser.server import ROOT, serve_command, start

PICTURES = {"home.png": "", "explore-regret.png": "explore"}
SIZE = (1280, 860)


def main() -> None:
    """Take them all."""
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        app = start(serve_command, ROOT, Path(home))
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        context = browser.new_context(
            viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="light", reduced_motion="reduce"
        )
        context.add_init_script(path=ROOT / "tests" / "browser" / "page.js")
        for name, path in PICTURES.items():
            page = context.new_page()
            page.goto(f"{app.url}/{path}")
            page.locator(".stPlotlyChart .gtitle").first.wait_for()
            idle(page)
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            picture.quantize(256, dither=Image.Dither.NONE).save(
                ROOT / "docs" / "pictures" / name, optimize=True
            )
            page.close()
        browser.close()
        app.end()


if __name__ == "__main__":
    main()
