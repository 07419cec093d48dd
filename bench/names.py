"""`python -m bench.names` writes dprl/names.py anew: what fields of specs may be, for editors and type checkers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dprl.plugins import sources
from dprl.simulation import KINDS, OfflineSpec, RunSpec

FILE = Path(__file__).parents[1] / "dprl" / "names.py"
HEAD = '''"""What fields of specs may be, so that an editor completes it. `| str` stands beside: packages register more.

`python -m bench.names` writes this file.
"""

from typing import Literal

from dprl.static_types import Given as Given
from dprl.static_types import Number as Number
from dprl.static_types import NumberOrNone as NumberOrNone
from dprl.static_types import Whole as Whole
'''
# By the name of the type: the kind of spec, and the field.
NAMES = {
    "Environment": (RunSpec.kind, "environment"),
    "Algorithm": (RunSpec.kind, "algorithm"),
    "Privacy": (RunSpec.kind, "privacy"),
    "Mechanism": (RunSpec.kind, "mechanism"),
    "Calibration": (RunSpec.kind, "calibration"),
    "Reports": (RunSpec.kind, "reports"),
    "Bonus": (RunSpec.kind, "bonus"),
    "Rewards": (OfflineSpec.kind, "rewards"),
    "OfflineAlgorithm": (OfflineSpec.kind, "algorithm"),
    "Promise": (OfflineSpec.kind, "privacy"),
}


def written() -> str:
    """The file."""
    types = (literal(name, KINDS[kind].fields[field].choices) for name, (kind, field) in NAMES.items())
    return "\n".join([HEAD, *types])


def literal(name: str, choices: Iterable[str]) -> str:
    """One type, without what other packages have registered here."""
    body = "".join(f'    "{choice}",\n' for choice in choices if choice not in sources)
    return f"{name} = Literal[\n{body}]"


if __name__ == "__main__":
    FILE.write_text(written() + "\n", encoding="utf-8")
