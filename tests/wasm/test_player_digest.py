"""SHA-256 of a live page is Python's, also where a browser has none of its own: on pages that come by plain http."""

from __future__ import annotations

import base64
import hashlib

from playwright.sync_api import Page

from dprl.assets import classic

TAKEN = """([source, text, sizes]) => {
  const { sha256 } = new Function(`${source}; return { sha256 }`)();
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return sizes.map((size) => sha256(bytes.subarray(0, size)));
}"""
SIZES = [*range(200), 1_000, 4_095, 4_096, 250_000]  # bytes; the last is about a full page of twenty seeds


def test_digests_are_those_of_python_where_the_browser_has_none(engine: Page) -> None:
    assert not engine.evaluate("isSecureContext")
    assert engine.evaluate("globalThis.crypto?.subtle === undefined")
    blocks = (hashlib.sha512(number.to_bytes(4, "big")).digest() for number in range(SIZES[-1] // 64 + 1))
    content = b"".join(blocks)
    text = base64.b64encode(content).decode("ascii")
    found = engine.evaluate(TAKEN, [classic("player_digest.js"), text, SIZES])
    assert found == [hashlib.sha256(content[:size]).hexdigest() for size in SIZES]
