"""Write the site with `python -m website --out DIR`, which `dprl web` calls in the folder of pages/."""

from __future__ import annotations

import sys

from website.start import main

if __name__ == "__main__":  # workers import this file, too
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\ndprl: stopped.")
