"""Text is shown as it is written, wherever Markdown is read."""

from __future__ import annotations

import pytest

from pages.shared.layout.terms import escape


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("Central ε = 0.5", "Central ε = 0.5"),  # a label, which a screen reader says too
        ("===", "\\==="),
        ("12. a name", "12\\. a name"),
        ("a *b* [c](d)", "a \\*b\\* \\[c\\]\\(d\\)"),
        ("1) one", "1\\) one"),
        ("www.x", "w\u2060ww.x"),
        ("a\n= b", "a = b"),
    ],
)
def test_only_what_markdown_would_read_is_escaped(text: str, safe: str) -> None:
    assert escape(text) == safe
