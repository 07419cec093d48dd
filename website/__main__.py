"""Run `python -m website --out DIR`, which writes the site; `dprl web` calls it in the folder that contains pages/."""

from __future__ import annotations

import sys

from website.start import main

if __name__ == "__main__":  # workers import this file, too
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\ndprl: stopped.")
