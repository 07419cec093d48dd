"""Write the whole site: `python -m website --out DIR`, which `dprl web` runs in the folder that contains pages/."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from dprl.lessons import LESSONS, ORDER
from dprl.sitemap import PAGES
from dprl.words import plural
from website.document import Document, html_of, links_to
from website.home import AFTER, home
from website.lessons import lesson, list_of_lessons
from website.live import page_of, played, replays, runs_of
from website.papers import papers

HOME, PAPERS, LESSON_LIST = "index.html", "papers.html", "lessons.html"


def main() -> None:
    """Write the site's files to the folder given by --out, which must exist."""
    parser = argparse.ArgumentParser(prog="dprl web")
    parser.add_argument("--out", required=True, type=Path)
    out: Path = parser.parse_args().out
    logging.disable(logging.WARNING)  # Streamlit warns that it was not started
    sizes = []
    for name, text in files():
        content = text.encode()
        try:
            (out / name).write_bytes(content)
        except OSError as error:
            sys.exit(
                f"dprl: out: {name} cannot be written, {error.strerror}; give a directory that can be written to."
            )
        sizes.append(len(content) / 1e6)
        print(f"dprl: {name}, {sizes[-1]:.1f} MB", flush=True)
    print(
        f"dprl: {plural(len(sizes), 'page')}, {sum(sizes):.0f} MB. Open {HOME}, or put the folder on any web server."
    )


def files() -> Iterator[tuple[str, str]]:
    """Yield each file on the site with its text. Pages that simulate runs come last, because they take a minute."""
    examples = played()
    live = [(f"live-{number}.html", each.title, each.say) for number, each in enumerate(examples, 1)]
    lessons = [(f"lesson-{number}.html", one) for number, one in enumerate(map(LESSONS.get, ORDER)) if one]
    others = [(PAPERS, "papers"), (LESSON_LIST, "lessons")]
    listed = [(f"{HOME}#{AFTER}", PAGES[""].name), *((file, PAGES[path].name) for file, path in others)]
    listed.insert(1, (f"{HOME}#live", "Live runs"))

    def whole(file: str, page: Document, here: str = "") -> tuple[str, str]:
        return file, html_of(page, links_to(listed, here or file))

    yield whole(HOME, home(HOME, live, others), listed[0][0])
    yield whole(PAPERS, papers())
    yield whole(LESSON_LIST, list_of_lessons(lessons))
    for number, (file, one) in enumerate(lessons):
        following = lessons[number + 1] if number + 1 < len(lessons) else None
        yield whole(file, lesson(number, one, following, LESSON_LIST))
    runs = runs_of(examples)
    workers = max(1, len(os.sched_getaffinity(0)))
    ready = replays(runs, workers)
    for (file, _, _), example in zip(live, examples, strict=True):
        yield file, page_of(example, ready, links_to(listed, file))


if __name__ == "__main__":  # workers import this file, too
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\ndprl: stopped.")
