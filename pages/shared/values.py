"""Several values of one field, as a visitor writes them: 0.1, 1, 10."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dprl.fields import Field, SpecError
from dprl.words import typed


def parse(field: Field, text: str, most: int) -> tuple[Any, ...]:
    """Read values separated by commas, ascending. Raises SpecError, also if there are more than `most`."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not 1 <= len(words) <= most:
        raise SpecError("values", f"{len(words)} were given; give 1 to {most}, separated by commas.")
    found = [field.parse(word) for word in words]
    if None in found:
        raise field.refuse("none")
    if len(set(found)) < len(found):
        raise SpecError("values", "one was given twice; give each once.")
    return tuple(sorted(found))


def values_text(given: Sequence[Any]) -> str:
    """Write values as `parse` reads them: 0.1, 20, 1e6."""
    return ", ".join(typed(float(value)) for value in given)
