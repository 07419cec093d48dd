"""A class in a room of a real server: python -m bench.room [how many, by default 40].

Sessions join, predict a step of a lesson, answer a question and see both revealed, through websockets as browsers do.
Then the teacher leads the rest of the lesson; nobody sends a prediction, and each is counted.
Prints how long each took, from the first to the last, and for both charts from the last tap to the teacher's chart.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.browser.classroom import lesson
from tests.browser.server import ROOT, serve_command, start


def main(people: int) -> int:
    """Plays it; 1 where the log has a traceback."""
    with tempfile.TemporaryDirectory() as home:
        app = start(serve_command, ROOT, Path(home))
        try:
            took = asyncio.run(lesson(app.url, Path(home), people))
        finally:
            app.end()
        log = app.log()
    for part, seconds in took.items():
        print(f"{part}: {seconds:.2f} s")
    if "Traceback" in log:
        print(log[log.index("Traceback") :][:3000])
    return int("Traceback" in log)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 40))
