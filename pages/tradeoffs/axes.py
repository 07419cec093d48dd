"""What can be on an axis of Trade-offs, and how it is named."""

from __future__ import annotations

import re
from typing import Any

from dprl.environments import ENVIRONMENTS
from dprl.fields import Field, SpecError

CONTRIBUTIONS = (1, 2, 3, 5, 10, 20, 50)  # of one user
FACTORS = (0.5, 1, 1.5, 2)  # of the base's value, for a parameter of the environment


def without(x: str, part: str) -> str:
    """A caption's words on the environment without one of its parameters."""
    return re.sub(rf"\b{x} = [^,)]*(, )?", "", part)


def sizes(base: Any) -> dict[str, Field]:
    """The environment's own whole numbers, H and S among them."""
    fields = ENVIRONMENTS[base.environment].fields
    return {f.name: f for f in fields if f.kind == "int" and f.name != "seed"}


def around(base: Any, x: str) -> tuple[Any, ...]:
    """Values of a parameter of the environment about the base's."""
    now = base.environment_params[x]
    allowed = []
    for factor in FACTORS:
        try:
            allowed.append(sizes(base)[x].check(round(now * factor)))
        except SpecError:
            continue
    return tuple(dict.fromkeys(allowed))
