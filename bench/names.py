"""Write the end of dprl/names.py, the values of the fields of specs, with `python -m bench.names`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dprl.plugins import sources
from dprl.simulation import KINDS, OfflineSpec, RunSpec

FILE = Path(__file__).parents[1] / "dprl" / "names.py"
MARK = "# `python -m bench.names` writes the rest."
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
    head, line = (
        FILE.read_text("utf-8").split(MARK)[0],
        f"{MARK} Annotations add `| str`, because packages register more names.\n",
    )
    return head + line + "\n".join(types)


def literal(name: str, choices: Iterable[str]) -> str:
    """Write one type, without the names that other packages have registered here."""
    body = "".join(f'    "{choice}",\n' for choice in choices if choice not in sources)
    return f"{name} = Literal[\n{body}]"


if __name__ == "__main__":
    FILE.write_text(written() + "\n", encoding="utf-8")
