"""Digests of source code that do not depend on docstrings, comments and annotations."""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

OURS = "dprl"
# Simulated numbers depend on these sources; pages, runs and figures may change without changing a result.
_SOURCES = (
    *("fields.py", "plugins.py", "engine", "mdp", "environments"),
    *("statistics", "privacy", "learners", "simulation"),
)
# fields of a syntax tree that do not affect results
_UNSAID = {"annotation", "returns", "type_comment", "type_ignores", "kind", "ctx"}


@cache
def source_digest() -> str:
    """Return a digest (16 hex digits) of the sources on which every simulated number depends."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for name in _SOURCES:
        path = root / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            text = content_of(ast.parse(file.read_text(encoding="utf-8")))
            digest.update(f"{file.relative_to(root).as_posix()}\n{text}\n".encode())
    return digest.hexdigest()[:16]


def content_of(node: Any) -> str:
    """Convert a syntax tree to text that omits docstrings and annotations and is the same in all versions of Python."""
    if isinstance(node, list):
        return f"[{','.join(map(content_of, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = []
    for field in node._fields:
        value = getattr(node, field, None)
        if field == "body" and isinstance(value, list):
            value = [each for each in value if not _is_text(each)]
        if value is not None and value != [] and field not in _UNSAID:
            parts.append(f"{field}={content_of(value)}")
    return f"{type(node).__name__}({','.join(parts)})"


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


@cache
def kernel_digest(signature: str, *roots: Callable[..., Any]) -> str:
    """Return a digest (16 hex digits) of a kernel's signature, its functions, and everything in dprl that they use."""
    lines = [signature, *(f"{name}\n{source}" for name, source in sorted(reached(roots).items()))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def reached(roots: Iterable[Any]) -> dict[str, str]:
    """Return the code of these functions and classes, and of everything in dprl that they use, by full name."""
    found: dict[str, str] = {}
    waiting = list(roots)
    while waiting:
        thing = inspect.unwrap(waiting.pop())
        full = f"{thing.__module__}.{thing.__qualname__}"
        if full in found:
            continue
        found[full], values = _definition(thing)
        for name, value in values:
            if inspect.isclass(value) or isinstance(inspect.unwrap(value), FunctionType):
                if value.__module__.partition(".")[0] == OURS:
                    waiting.append(value)
            elif not isinstance(value, ModuleType):
                found[f"{full}: {name}"] = value.tobytes().hex() if hasattr(value, "tobytes") else repr(value)
    return found


@cache
def _definition(thing: Any) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """Return the code of a function or class without its decorators, and the outside objects that it refers to."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.decorator_list = []
    return content_of(tree), tuple(_outside_names(thing, tree))


def _outside_names(thing: Any, tree: ast.stmt) -> Iterator[tuple[str, Any]]:
    """Yield the name (such as `planning.evaluate`) and the value of each outside object that a definition uses."""
    if inspect.isclass(thing):
        return  # a record's code consists of the names and order of its fields
    around = {**thing.__globals__, **inspect.getclosurevars(thing).nonlocals}
    around = {name: value for name, value in around.items() if name not in thing.__code__.co_varnames}
    for node in _evaluated(tree):
        if isinstance(node, ast.Name) and node.id in around:
            yield node.id, around[node.id]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = around.get(node.value.id)
            if isinstance(module, ModuleType) and module.__name__.partition(".")[0] == OURS:
                yield f"{node.value.id}.{node.attr}", getattr(module, node.attr)


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a syntax tree, but skip annotations."""
    yield node
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if field not in _UNSAID and isinstance(child, ast.AST):
                yield from _evaluated(child)
