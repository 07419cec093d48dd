"""Links to pages that compare runs and keep no names of them: the runs, and what is looked at.

    v=1 & c=<first run> & c=<each later one, as differences from the first> & ... & tab=coverage & i=1 & ...

See dprl/links.py for the form of a run. Usual values are left out. Reading never raises: a wrong value takes
its default, or is left out, with one sentence for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dprl import links
from dprl.simulation import Spec
from pages.shared.visitor import views

CURVE = "curve"  # the attribute of a view that names a run by its place, -1 for the usual one


def encode(specs: Sequence[Spec], view: Any = None) -> list[tuple[str, str]]:
    """Return the query parameters, in order, each key and value unescaped. view: None for the usual one."""
    items = links.link_heading()
    items += [("c", links.encode_spec(spec, specs[0] if i else None)) for i, spec in enumerate(specs)]
    return items + (views.pairs_of(view) if view is not None else [])


def decode(
    parameters: Mapping[str, Sequence[str]],
    view: type,
    kind: str,
    most: int,
    files: Mapping[str, str] | None = None,
) -> tuple[tuple[Any, ...], dict[str, Any], list[str]]:
    """Read the query parameters (each key with all its values): runs of a kind, at most that many; the attributes of
    the view; and the faults. Unknown keys are ignored.

    files: texts too long for a link that are known here, by their digest.
    """
    problems: list[str] = []
    links.check_version(parameters, problems)
    values = views.read(view, parameters, problems)
    given = list(parameters.get("c", ()))
    if len(given) > most:
        problems.append(f"The link has {len(given)} curves; the first {most} are shown.")
    specs: list[Any] = []
    for index, (spec, _, wrong) in enumerate(links.decode_curves(given[:most], (), files, kind)):
        if spec is not None and spec not in specs:
            specs.append(spec)
        problems += [f"Curve {index + 1}: {sentence}" for sentence in wrong]
    if values[CURVE] >= max(len(specs), 1):
        values[CURVE] = views.fields_of(view)[CURVE].default
    return tuple(specs), values, problems
