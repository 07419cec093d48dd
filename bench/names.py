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

from typing import TYPE_CHECKING, Generic, Literal, SupportsFloat, TypeVar

Read_co = TypeVar("Read_co", covariant=True)
Given_contra = TypeVar("Given_contra", contravariant=True)

if TYPE_CHECKING:

    class Given(Generic[Read_co, Given_contra]):
        """A field of a spec, as a static checker sees it: it may be given as more than it is read as.

        What a spec assigns to it is its default, for which mypy would have a descriptor.
        """

        def __get__(self, spec: object, owner: object = None) -> Read_co: ...
        def __set__(self, spec: object, value: Given_contra) -> None: ...

    class Whole(int):
        """A field that becomes a whole number: of 1e6 too, or of NumPy's own.

        It is an int also where mypy looks at no descriptor: in members of a protocol.
        """

        def __get__(self, spec: object, owner: object = None) -> int: ...
        def __set__(self, spec: object, value: SupportsFloat) -> None: ...

    Number = Given[float, SupportsFloat]
    NumberOrNone = Given[float | None, SupportsFloat | None]

else:

    class Given(Generic[Read_co, Given_contra]):
        """An annotation alone: a field is no descriptor when a spec is made."""

    Whole, Number, NumberOrNone = int, float, float | None
'''
# By the name of the type: the kind of spec, and the field.
NAMES = {
    "Environment": (RunSpec.kind, "environment"),
    "Algorithm": (RunSpec.kind, "algorithm"),
    "Privacy": (RunSpec.kind, "privacy"),
    "Mechanism": (RunSpec.kind, "mechanism"),
    "Calibration": (RunSpec.kind, "calibration"),
    "Consistency": (RunSpec.kind, "consistency"),
    "Reports": (RunSpec.kind, "reports"),
    "Bonus": (RunSpec.kind, "bonus"),
    "Stationary": (RunSpec.kind, "stationary"),
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
