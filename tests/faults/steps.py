"""The Dockerfile, step by step."""

from __future__ import annotations

from pathlib import Path

COPY, RUN = "COPY", "RUN"
_FILE = Path(__file__).parents[2] / "deploy" / "Dockerfile"
_LINES = _FILE.read_text(encoding="utf-8").splitlines()
STEPS = [(word, rest) for word, _, rest in (line.partition(" ") for line in _LINES) if word not in ("", "#")]
