"""The digest of what the kernels are made of, so that the module can be told from one that was made before a change.

It is of the functions that are compiled, of all that these call, and of the records and constants that they name. It is
not of the files that they stand in: those also hold accounting, texts and fields, which change no kernel.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

from dprl.simulation.loops.replan_kernels import signatures_of
from dprl.wasm.kernels import entries

OURS = "dprl"


@cache
def digest() -> str:
    """Digest of everything that the module's kernels are made of, 16 hex digits."""
    names = "\n".join(entry.name for entry in entries())
    text = "\n".join(f"{name}\n{source}" for name, source in sorted(sources().items()))
    return hashlib.sha256(f"{names}\n{text}".encode()).hexdigest()[:16]


def sources() -> dict[str, str]:
    """Everything that the module's kernels are made of: its source or value, by its full name."""
    return reached([*(entry.function for entry in entries()), signatures_of])


def reached(roots: Iterable[Any]) -> dict[str, str]:
    """These functions and classes and all of the package that they name, directly or not: sources by full names."""
    found: dict[str, str] = {}
    waiting = list(roots)
    while waiting:
        thing = inspect.unwrap(waiting.pop())
        full = f"{thing.__module__}.{thing.__qualname__}"
        if full in found:
            continue
        tree = _bare(thing)
        found[full] = ast.unparse(tree)
        for name, value in _outside_names(thing, tree):
            if inspect.isclass(value) or isinstance(inspect.unwrap(value), FunctionType):
                if value.__module__.partition(".")[0] == OURS:
                    waiting.append(value)
            elif not isinstance(value, ModuleType):
                found[f"{full}: {name}"] = _value(value)
    return found


def _bare(thing: Any) -> ast.stmt:
    """The definition of a function or class without what changes no machine code: comments, docstrings, decorators
    and annotations of a function."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    for node in ast.walk(definition):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.decorator_list = []
            if ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return definition


def _outside_names(thing: Any, tree: ast.stmt) -> Iterator[tuple[str, Any]]:
    """What a definition names that stands outside of it, with its name: `evaluate`, or `planning.evaluate`."""
    if inspect.isclass(thing):
        return  # of a record, the names and order of its fields count: they are its source
    around = {**thing.__globals__, **inspect.getclosurevars(thing).nonlocals}
    around = {name: value for name, value in around.items() if name not in thing.__code__.co_varnames}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in around:
            yield node.id, around[node.id]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = around.get(node.value.id)
            if isinstance(module, ModuleType) and module.__name__.partition(".")[0] == OURS:
                yield f"{node.value.id}.{node.attr}", getattr(module, node.attr)


def _value(value: Any) -> str:
    """A constant as text: the same in every process."""
    return value.tobytes().hex() if hasattr(value, "tobytes") else repr(value)
