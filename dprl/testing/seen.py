"""What a function can see: its arguments, what it closes over, its globals, and those of what it calls."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import BuiltinFunctionType, CodeType
from typing import Any

import numpy as np

from dprl.mdp.tabular import Array
from dprl.testing.report import require

LIBRARIES = ("numpy", "math", "scipy", "numba", "builtins", "typing")  # they hold nothing of a run


def argument_names(function: Callable[..., Any]) -> list[str]:
    """The names of its arguments."""
    return list(inspect.signature(function).parameters)


def no_other_way(functions: Iterable[Callable[..., Any]], modules: Sequence[str]) -> None:
    """Nothing is closed over, by them or by what they call; globals are constants, and functions of these modules.

    Raises:
        AssertionError: a function could see something else.
    """
    pending, seen = list(functions), set[Callable[..., Any]]()

    def inside(module: str, allowed: Sequence[str]) -> bool:
        return any(f"{module}.".startswith(f"{one}.") for one in allowed)

    while pending:
        function = pending.pop()
        if function in seen:
            continue
        seen.add(function)
        where = function.__qualname__
        require(not function.__closure__, f"{where} closes over {', '.join(function.__code__.co_freevars)}")
        kept = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        require(
            all(isinstance(value, int | float | str | None) for value in kept),
            f"{where} keeps an object as the default of an argument",
        )
        for code in _codes(function.__code__):
            for module in _named(code, "IMPORT_NAME"):
                fine = inside(module, LIBRARIES) or inside(module, modules)
                require(fine, f"{where} imports {module} while it runs")
            for name in _named(code, "LOAD_GLOBAL"):
                if name not in function.__globals__:
                    continue
                value = function.__globals__[name]
                if inspect.isfunction(value):
                    if not inside(value.__module__, LIBRARIES):
                        require(inside(value.__module__, modules), f"{where} calls {value.__module__}.{name}")
                        pending.append(value)
                elif inspect.ismodule(value):
                    held = inside(value.__name__, LIBRARIES) or inside(value.__name__, modules)
                    require(held, f"{where} can see the module {value.__name__}")
                else:
                    require(
                        isinstance(value, int | float | str | type | BuiltinFunctionType | np.ufunc),
                        f"{where} can see the global {name}, which is a {type(value).__name__}: what it holds can "
                        "differ between runs",
                    )


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _named(code: CodeType, operation: str) -> set[str]:
    return {str(i.argval) for i in dis.get_instructions(code) if i.opname == operation}


def only_known(given: Iterable[Any], known: Sequence[Array], hidden: Sequence[Array]) -> None:
    """Of what a planner is given, arrays outside its own record are known ones, and none is a part of hidden ones.

    Raises:
        AssertionError: one is not.
    """
    for argument in given:
        for array in argument if isinstance(argument, tuple) else [argument]:
            if isinstance(array, np.ndarray):
                own = isinstance(argument, tuple) or any(array is one for one in known)
                require(own, "it is given an array that was not released")
                shared = any(np.shares_memory(array, one) for one in hidden)
                require(not shared, "it is given an array that shares memory with data")


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
