"""Write the site: `python -m website --out DIR`, which `dprl web` runs in the folder that contains pages/."""

from __future__ import annotations

import sys

from website.start import main

if __name__ == "__main__":  # workers import this file, too
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\ndprl: stopped.")
