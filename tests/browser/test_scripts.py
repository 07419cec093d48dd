"""The JavaScript of assets/web/ is what a browser can read; nothing else here would say where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from dprl.assets import WEB, classic

SCRIPTS = sorted(path.name for path in WEB.glob("*.js"))
# A browser says of a text whether it is a program without running it.
READ = "text => { try { new Function(text); return ''; } catch (error) { return String(error); } }"


def test_every_script_is_a_program(browser: Browser) -> None:
    page = browser.new_page()
    texts = {name: f"\n{classic(name)}".replace("\nfunction (", "\nfunction named(") for name in SCRIPTS}
    wrong = {name: page.evaluate(READ, text) for name, text in texts.items()}
    assert {name: said for name, said in wrong.items() if said} == {}
    assert page.evaluate(READ, "function (") != ""
    page.close()


@pytest.mark.parametrize("path", sorted(WEB.iterdir()), ids=lambda path: path.name)
def test_sources_are_as_wide_as_python_and_tidy(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").split("\n")
    assert lines[-1] == ""
    assert [line for line in lines if len(line) > 120 or line != line.rstrip() or "\t" in line] == []
