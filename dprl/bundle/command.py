"""`dprl bundle`: runs from files of specs, and their replication bundle."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dprl.bundle.files import check_specs, write_bundle
from dprl.curves import RunCurves
from dprl.fields import SpecError, read_json, shown
from dprl.given import text_of
from dprl.simulation import spec_from_dict
from dprl.simulation.kinds import KINDS
from dprl.simulation.sweep import Sweep
from dprl.words import plural


def add(commands: Any) -> argparse.ArgumentParser:
    """The flags of `bundle`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "bundle", help="simulate specs and write a replication bundle", allow_abbrev=False
    )
    parser.add_argument(
        "specs", metavar="SPEC", nargs="+", help="a spec.json, the specs.json of a bundle, or a sweep.json"
    )
    parser.add_argument("--out", metavar="FILE.zip", required=True, help="the file to write")
    return parser


def specs_in(path: str) -> list[tuple[str, Any]]:
    """The specs of a file with their names: of one spec, of a bundle or of a sweep. Raises SpecError."""
    found = read_json("spec", text_of(path))
    if isinstance(found, dict) and "axes" in found:
        return [(spec.label(), spec) for spec in Sweep.from_dict(found).specs]
    several = isinstance(found, dict) and all(isinstance(one, dict) for one in found.values())
    if several and not any(name in kind.fields for kind in KINDS.values() for name in found):
        return [(name, spec_from_dict(one)) for name, one in found.items()]
    spec: Any = spec_from_dict(found)
    return [(spec.label(), spec)]


def bundle_command(
    given: argparse.Namespace, compute: Callable[[Iterable[Any]], Mapping[Any, RunCurves]]
) -> int:
    """Compute runs and write their bundle. compute: the curves of specs. Raises SpecError."""
    from dprl.figures.regret import distinct  # and with it Plotly

    named = [one for path in given.specs for one in specs_in(path)]
    specs = dict(zip(distinct([name for name, _ in named]), (spec for _, spec in named), strict=True))
    check_specs(specs)
    found = compute(specs.values())
    try:
        out = write_bundle(given.out, specs, {name: found[spec] for name, spec in specs.items()})
    except OSError as error:
        raise SpecError("out", f"{shown(given.out)} cannot be written to ({error.strerror}).") from None
    print(f"{plural(len(specs), 'run')}: see {out}, and `dprl verify {out}`")
    return 0
