"""Reduce Plotly's script to the kinds of charts that our pages draw.

The script in the installed package is one file of a thousand modules, bundled by esbuild. We cut its list of chart
types to CHARTS, and then remove every module that no remaining one requires. A script bundled in another way is used
unchanged.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from plotly.offline import get_plotlyjs

CHARTS = ("bar", "heatmap")  # besides scatter, which is part of Plotly's core; dprl/figures uses no others
BEGUN, ENDED = "this, () => {", "return Plotly;\n}));"

# MADE is the helper that wraps modules; its name differs between versions. `var name=made((exports,module)=>{...});`
# is a module. It may be followed by code outside any function: variables, and the function that sets them.
MADE = re.compile(r"(?<![\w$])([\w$]+)=\(\w,\w\)=>\(\)=>\{try\{return \w\|\|\w\(\(\w=\{exports:")
MODULE = r"(?<=[;\n}}])var (?P<name>[\w$]+)={made}(?=\((?:\([^()]*\)|[\w$]+)=>\{{)"
LAST = re.compile(r";return [\w$]+\(\);\}\)\(\);")
LIST = re.compile(r"\.register\(\[((?:[\w$]+\(\),?)+)\]\)")
KIND = re.compile(r'moduleType:"trace",name:"(\w+)"')
NAME = re.compile(r"[\w$]+")
USED = re.compile(r"(?:(?<![\w$.])|(?<=\.\.\.))[\w$]+")  # a name that is not the property of an object
CALLED = re.compile(r"([\w$]+)\(\)")
FILLED = re.compile(r"\(([\w$]+)\(\),[\w$]+\(([\w$]+)\)\)")  # how a function calls another module
WORDS = frozenset(["async", "class", "const", "extends", "function", "let", "new", "return", "var"])

TOKEN = re.compile(
    r"""(?P<said>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/)"""
    r"|(?P<opens>[({\[])|(?P<closes>[)}\]])|(?P<tick>`)|(?P<slash>/)",
    re.DOTALL,
)
PATTERN = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
# After these, a slash begins a regular expression; elsewhere, it divides.
BEFORE = re.compile(
    r"(?:[(,=:\[!&|?{};+\-*%<>~^]|\b(?:case|delete|do|else|in|of|return|throw|typeof|void))\s*$"
)
TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*(`|\$\{)", re.DOTALL)


class UnknownFormError(Exception):
    """Raised when Plotly's script is bundled in a way unknown to this module."""


class ScriptPart(NamedTuple):
    """A part of Plotly's script and the names that it defines. `function` is True if other parts call it by name."""

    text: str
    names: frozenset[str]
    function: bool


@cache
def plotly() -> str:
    """Return Plotly's reduced script, as one function in parentheses, which browsers compile while they load it."""
    whole: str = get_plotlyjs()
    with suppress(UnknownFormError):
        whole = only(whole, CHARTS)
    if whole.count(BEGUN) != 1 or whole.count(ENDED) != 1:
        return whole
    return whole.replace(BEGUN, "this, (() => {").replace(ENDED, "return Plotly;\n})));")


def only(script: str, charts: tuple[str, ...]) -> str:
    """Reduce the script to scatter charts and the kinds in `charts`. Raises UnknownFormError."""
    head, parts, tail = _parts(script)
    known = {name: part for part in parts if part.function for name in part.names}
    found = LIST.search(parts[-1].text)
    if found is None:
        raise UnknownFormError
    wanted = [name for name in NAME.findall(found[1]) if name in known and _kind(known, name) in charts]
    if len(wanted) != len(charts):
        raise UnknownFormError
    listed = f".register([{','.join(f'{name}()' for name in wanted)}])"
    parts[-1] = parts[-1]._replace(text=parts[-1].text.replace(found[0], listed))
    return "".join([head, *(part.text for part in _reached(parts)), tail])


def _kind(known: dict[str, ScriptPart], name: str) -> str | None:
    """Return the chart type that a module defines, directly or through a module that it calls, or None."""
    for behind in (name, *CALLED.findall(known[name].text)):
        if behind in known and (found := KIND.search(known[behind].text)):
            return found[1]
    return None


def _parts(script: str) -> tuple[str, list[ScriptPart], str]:
    """Split the script into the text before the first module, its parts, and the text after the last one."""
    made, last = MADE.search(script), LAST.search(script)
    modules = list(re.finditer(MODULE.format(made=re.escape(made[1])), script)) if made else []
    if not modules or last is None or last.start() < modules[-1].start():
        raise UnknownFormError
    head, parts = script[: modules[0].start()], []
    everywhere = WORDS | frozenset(NAME.findall(head))
    begins = [*(module.start() for module in modules), last.start() + 1]
    for module, begin, end in zip(modules, begins, begins[1:], strict=False):
        tokens = _tokens(script, module.end(), end)
        behind = next(stop for _, _, stop, depth in tokens if depth == 0) + 1
        if script[behind - 1] != ";":
            raise UnknownFormError
        parts.append(ScriptPart(script[begin:behind], frozenset([module["name"]]), True))
        if behind < end:
            outside = re.sub(r"[\w$]+=>", "", _outside(script, behind, end))
            names = frozenset(NAME.findall(outside)) - everywhere
            parts.append(ScriptPart(script[behind:end], names, False))
    return head, parts, script[last.start() + 1 :]


def _reached(parts: list[ScriptPart]) -> list[ScriptPart]:
    """Return the last part of the script, and all parts that it uses directly or indirectly."""
    owners = defaultdict(list)
    for number, part in enumerate(parts):
        for name in part.names:
            owners[name].append(number)
    taken, todo = set[int](), [len(parts) - 1]
    while todo:
        number = todo.pop()
        if number in taken:
            continue
        taken.add(number)
        text, _, function = parts[number]
        called = set(CALLED.findall(text))
        filled = {name for pair in FILLED.findall(text) for name in pair} if function else _used(text)
        for name in called | filled:
            todo += [one for one in owners[name] if name in (called if parts[one].function else filled)]
    return [parts[number] for number in sorted(taken)]


def _used(text: str) -> set[str]:
    """Return the names that code uses outside string literals."""
    at, code = 0, []
    for kind, start, stop, _ in _tokens(text, 0, len(text)):
        if kind == "said":
            code.append(text[at:start])
            at = stop
    return set(USED.findall(" ".join([*code, text[at:]])))


def _outside(text: str, at: int, end: int) -> str:
    """Return the code between two positions that is outside all brackets."""
    code, before = [], 0
    for _, start, stop, depth in _tokens(text, at, end):
        if before == 0:
            code.append(text[at:start])
        if depth == 0:
            at = stop
        before = depth
    return " ".join([*code, text[at:end]])


def _tokens(text: str, at: int, end: int) -> Iterator[tuple[str, int, int, int]]:
    """Yield each bracket or string: kind, start, end, and depth after it. Raises UnknownFormError for bad brackets."""
    first, depth, templates = at, 0, list[int]()
    while found := TOKEN.search(text, at, end):
        kind, at = str(found.lastgroup), found.end()
        if kind == "slash":
            if BEFORE.search(text, max(first, found.start() - 12), found.start()):
                pattern = PATTERN.match(text, found.start(), end)
                if pattern is None:
                    raise UnknownFormError
                at = pattern.end()
            continue
        depth += (kind == "opens") - (kind == "closes")
        if depth < 0:
            raise UnknownFormError
        if kind == "tick" or (kind == "closes" and templates and templates[-1] == depth):
            if kind == "closes":
                templates.pop()
            rest = TEMPLATE.match(text, at, end)
            if rest is None:
                raise UnknownFormError
            at = rest.end()
            if rest[1] != "`":  # code within the template string
                templates.append(depth)
                depth += 1
            kind = "template"
        yield kind, found.start(), at, depth
    if depth:
        raise UnknownFormError
