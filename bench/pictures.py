"""Take the screenshots in the README from the running app: python -m bench.pictures

Writes docs/pictures/: the first view of a page at 1280 pixels in the light theme, in at most 256 colours.
"""

from __future__ import annotations

import io

from PIL import Image

from bench.dashboard import dashboard
from tests.browser.server import ROOT

PICTURES = {"home.png": "?v=1&eps=1", "explore-regret.png": "explore"}
SIZE = (1280, 860)


def main() -> None:
    """Take all screenshots."""
    with dashboard(*SIZE) as pages:
        for name, path in PICTURES.items():
            page = pages.opened(path, ".stPlotlyChart .gtitle")
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            picture.quantize(256, dither=Image.Dither.NONE).save(
                ROOT / "docs" / "pictures" / name, optimize=True
            )


if __name__ == "__main__":
    main()
