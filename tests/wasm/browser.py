"""What a page does with the module, as scripts that Playwright hands over."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Page

from dprl.engine.pack import Pack

LOAD = """async ([source, module, kernels]) => {
  window.play = new Function(`${source}; return play`)();
  window.module = await WebAssembly.compile(Uint8Array.fromBase64(module));
  window.kernels = kernels;
}"""
PLAY = """async (text) => {
  const pack = JSON.parse(text);
  pack.buffers = pack.buffers.map(({ bytes, zeros }) => zeros ?? Uint8Array.fromBase64(bytes));
  const { bytes } = await play(module, kernels, pack);
  return pack.buffers.map((_, i) => bytes(i).toBase64());
}"""
VALUES = """async ([name, numbers]) => {
  const { exports } = await WebAssembly.instantiate(module, {});
  const given = new Float64Array(Uint8Array.fromBase64(numbers).buffer);
  return new Uint8Array(given.map(exports[name]).buffer).toBase64();
}"""

# x y + z, rounded once, of each triple.
FUSED = """async (triples) => {
  const { exports } = await WebAssembly.instantiate(module, {});
  return triples.map((triple) => exports.gnu_fused(...triple));
}"""


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def played(engine: Page, pack: Pack) -> dict[str, NDArray[Any]]:
    """A run's arrays at its end, by name, as the browser has them."""
    return pack.read([base64.b64decode(text) for text in engine.evaluate(PLAY, pack.to_json())])


def values(engine: Page, name: str, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """[n] what a function of the module gives for numbers [n]."""
    return np.frombuffer(base64.b64decode(engine.evaluate(VALUES, [name, encoded(numbers.tobytes())])))
