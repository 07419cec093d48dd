"""`python -m bench.names` writes the end of dprl/names.py: the values that fields of specs may have."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dprl.plugins import sources
from dprl.simulation import KINDS, OfflineSpec, RunSpec

FILE = Path(__file__).parents[1] / "dprl" / "names.py"
MARK = "# `python -m bench.names` writes the rest."
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
    """The file: what stands before the mark, its line, and the types."""
    types = (literal(name, KINDS[kind].fields[field].choices) for name, (kind, field) in NAMES.items())
    head, line = (
        FILE.read_text("utf-8").split(MARK)[0],
        f"{MARK} `| str` stands beside: packages register more.\n",
    )
    return head + line + "\n".join(types)


def literal(name: str, choices: Iterable[str]) -> str:
    """One type, without what other packages have registered here."""
    body = "".join(f'    "{choice}",\n' for choice in choices if choice not in sources)
    return f"{name} = Literal[\n{body}]"


if __name__ == "__main__":
    FILE.write_text(written() + "\n", encoding="utf-8")
