"""Where a compiled function stands in memory is looked up once for each kernel that it is handed to.

A kernel takes others as arguments: the planner, the schedule, the noise. numba looks up where each of them stands
anew at each call, twice, by hashing signatures. That was 15 to 40% of a run's time.

Unnecessary once numba keeps an address beside the overload that it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.experimental import function_type

LOOKED_UP = ("_get_wrapper_address", "_get_jit_address")  # by name, in compiled code


def remember() -> None:
    """From now on in this process."""
    for name in LOOKED_UP:
        look_up = getattr(function_type, name)
        if not hasattr(look_up, "__wrapped__"):
            setattr(function_type, name, remembering(look_up))


def remembering(look_up: Callable[[Any, Any], int]) -> Callable[[Any, Any], int]:
    """The same, that keeps what it found of functions of which nothing more can be compiled, as all of ours."""
    known: dict[tuple[int, int], tuple[Any, Any, int]] = {}

    def address(function: Any, signature: Any) -> int:
        at = id(function), id(signature)
        if at not in known:
            found = look_up(function, signature)
            if getattr(function, "_can_compile", True):
                return found
            known[at] = function, signature, found  # both are held, so that nothing else gets their ids
        return known[at][2]

    address.__wrapped__ = look_up  # type: ignore[attr-defined]
    return address
