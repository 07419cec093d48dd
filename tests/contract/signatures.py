"""What a function can see: its arguments, what it closes over, its globals, and those of what it calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dprl.mdp.tabular import Array


def names(function: Callable[..., Any]) -> list[str]:
    """Their names."""
    return list(inspect.signature(function).parameters)


def no_other_way(functions: Iterable[Callable[..., Any]], modules: Sequence[str]) -> None:
    """Nothing is closed over, by them or by what they call; globals are constants, and functions of these modules."""
    pending, seen = list(functions), set[Callable[..., Any]]()
    while pending:
        function = pending.pop()
        if function in seen:
            continue
        seen.add(function)
        found = inspect.getclosurevars(function)
        assert not found.nonlocals
        for name, value in found.globals.items():
            assert inspect.ismodule(value) or callable(value) or isinstance(value, int | float), name
            if inspect.isfunction(value):
                assert any(f"{value.__module__}.".startswith(f"{module}.") for module in modules), name
                pending.append(value)


def only_known(given: Iterable[Any], known: Sequence[Array], hidden: Sequence[Array]) -> None:
    """Of what a planner is given, arrays outside its own record are known ones, and none is a part of hidden ones."""
    for argument in given:
        for array in argument if isinstance(argument, tuple) else [argument]:
            if isinstance(array, np.ndarray):
                assert isinstance(argument, tuple) or any(array is one for one in known)
                assert not any(np.shares_memory(array, one) for one in hidden)


def reachable(root: Any) -> list[Any]:
    """Everything that can be got at from an object: attributes, items, what functions close over."""
    found: list[Any] = []
    seen: set[int] = set()
    pending = [root]
    while pending:
        value = pending.pop()
        if (
            id(value) in seen
            or inspect.ismodule(value)
            or isinstance(value, type | str | bytes | int | float)
        ):
            continue
        seen.add(id(value))
        found.append(value)
        if isinstance(value, np.ndarray):
            if value.base is not None:
                pending.append(value.base)
            continue
        if isinstance(value, dict):
            pending += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            pending += value
        elif inspect.isfunction(value):
            pending += [cell.cell_contents for cell in value.__closure__ or ()]
        elif inspect.ismethod(value):
            pending.append(value.__self__)
        if type(value).__module__.startswith("dprl."):
            pending += vars(value).values() if hasattr(value, "__dict__") else []
    return found
