"""Write the end of dprl/names.py, the values of the fields of specs, with `python -m bench.names`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dprl.plugins import sources
from dprl.simulation import KINDS, OfflineSpec, RunSpec

FILE = Path(__file__).parents[1] / "dprl" / "names.py"
MARK = "# `python -m bench.names` writes the rest."
WIDTH = 110  # of a line
# By name of the type: the kind of spec, and the field.
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
    """Return the content of the file: the text before the mark, the mark's line, and the types."""
    types = (literal(name, KINDS[kind].fields[field].choices) for name, (kind, field) in NAMES.items())
    line = f"{MARK} Annotations add `| str`, because packages register more names.\n"
    return FILE.read_text("utf-8").split(MARK)[0] + line + "\n".join(types)


def literal(name: str, choices: Iterable[str]) -> str:
    """Write one type, without the names that other packages have registered here."""
    known = [f'"{choice}"' for choice in choices if choice not in sources]
    line = f"{name} = Literal[{', '.join(known)}]"
    return line if len(line) <= WIDTH else f"{name} = Literal[\n    " + ",\n    ".join(known) + ",\n]"


if __name__ == "__main__":
    FILE.write_text(written() + "\n", encoding="utf-8")
