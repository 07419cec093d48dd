"""What `dprl list` prints: the registries."""

from __future__ import annotations

from typing import Any

from dprl import ALGORITHMS, ENVIRONMENTS, MECHANISMS, OFFLINE, PRIVATIZERS, plugins
from dprl.privacy.curator import PROMISES
from dprl.simulation.datasets import BEHAVIOURS


def list_command() -> int:
    """Print key and one line of every entry of every registry."""
    registries: dict[str, dict[str, Any]] = {
        "environments": dict(ENVIRONMENTS),
        "algorithms": dict(ALGORITHMS),
        "offline algorithms": dict(OFFLINE),
        "behaviour policies (offline)": dict(BEHAVIOURS),
        "privacy models": dict(PRIVATIZERS),
        "mechanisms": dict(MECHANISMS),
        "notions of privacy (offline)": dict(PROMISES),
    }
    for title, registry in registries.items():
        print(f"{title}:")
        for key, entry in registry.items():
            print(f"  {key:<16} {entry.summary}")
    for sentence in plugins.failures:
        print(sentence)
    return 0
