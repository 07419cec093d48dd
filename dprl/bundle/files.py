"""A replication bundle: one zip with the specs of runs, their numbers, and how to compute them again.

`files_of` alone says what is in it: `compare.py` computes the runs, asks it again, and compares.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import json
import platform
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dprl.bundle import figures
from dprl.cited import cite
from dprl.curves import RunCurves
from dprl.fields import SpecError, shown
from dprl.plugins import sources
from dprl.simulation import Spec, Trace
from dprl.simulation.kinds import kind_of
from dprl.simulation.spec import engine
from dprl.tables import csv
from dprl.version import VERSION
from dprl.words import plural

SPECS, VERSIONS, DIGESTS = "specs.json", "versions.json", "SHA256SUMS"
MOST_RUNS = 1000
MOST_BYTES = 100_000_000  # of all files together; 400 runs of 10 seeds take 25 MB
EPOCH = 1980, 1, 1, 0, 0, 0  # the first date of zip files: the same runs give the same bytes
BUNDLE = "bundle"  # what errors name

AGAIN = '''\
"""Computes the runs of specs.json again: their numbers and, with Matplotlib, their figures, in the folder again."""

import json
from pathlib import Path

import dprl

specs = json.loads(Path("specs.json").read_text(encoding="utf-8"))
traces = {name: dprl.run(spec) for name, spec in specs.items()}
out = Path("again")
out.mkdir(exist_ok=True)
for number, trace in enumerate(traces.values(), 1):
    trace.frame().to_csv(out / f"{number}.csv", index=False, lineterminator="\\n")
for kind in dict.fromkeys(trace.spec.kind for trace in traces.values()):
    some = {name: trace for name, trace in traces.items() if trace.spec.kind == kind}
    try:
        dprl.compare(some).plot().save(out / f"{kind}.pdf")
    except (ImportError, dprl.SpecError) as error:
        print(f"No figure of {kind} runs: {error}")
'''

FIGURES = "| figures/N.pdf, figures/N.svg | regret of online runs, suboptimality of runs on data sets: for a paper |\n"
README = """\
# Replication bundle

dprl {version} computed these runs.

| file | holds |
| --- | --- |
| {SPECS} | the settings of each run, by name |
| curves/N.csv | every seed of run N at every checkpoint, with all digits |
| {VERSIONS} | the versions that computed the runs |
{figures}| cite.bib | what to cite, as BibTeX |
| again.py | Python that computes the runs again, and draws them |
| {DIGESTS} | a digest of each other file, for `sha256sum --check` |

## Runs

{runs}

{drawn}## Compute them again

Install dprl {version}. Then one command computes the runs and compares every file:

    python -m dprl verify FILE.zip

`python again.py` writes the same numbers into the folder `again`.

## What "the same" means

A file is the same when each of its bytes is. So each number has the same bits.
You can expect that with the versions and the machine of {VERSIONS}.
Another version or another machine can change last digits, and then a run can take another course.
`verify` names each version and each file that differs, and the first number in it.
"""


def versions() -> dict[str, str]:
    """What the bits of a result depend on here: versions by name, those of plug-ins among them."""
    digest, numba, numpy = engine()
    return {
        "dprl": VERSION,
        "sources": digest,
        "numpy": numpy,
        "numba": numba,
        "scipy": importlib.metadata.version("scipy"),
        "python": platform.python_version(),
        "machine": " ".join(filter(None, (platform.system(), platform.machine(), *platform.libc_ver()))),
        **({figures.MATPLOTLIB: drawn} if (drawn := figures.drawn_by()) else {}),
        **dict(text.rsplit(" ", 1) for text in sorted(set(sources.values()))),
    }


def versions_json() -> str:
    """These as the file that stands beside specs."""
    return json.dumps(versions(), indent=2, ensure_ascii=False) + "\n"


def check_specs(specs: Mapping[str, Spec]) -> None:
    """Raises SpecError where there are too many runs or none, or one follows from data that no bundle may hold."""
    if not 1 <= len(specs) <= MOST_RUNS:
        raise SpecError(BUNDLE, f"it has {len(specs)} runs; give 1 to {MOST_RUNS:,}.")
    for spec in specs.values():
        if "data" in kind_of(spec).fields:  # which names what is kept for a day, and here alone
            raise SpecError(
                BUNDLE,
                f"{spec.label()} learned from a file of your own, which no bundle holds; leave it out.",
            )


def files_of(
    specs: Mapping[str, Spec],
    curves: Mapping[str, RunCurves],
    versions: Mapping[str, str],
    drawn: Mapping[str, bytes] | None = None,
) -> dict[str, bytes]:
    """What a bundle of finished runs holds, by the name of the file.

    Args:
        specs: of the runs, by name; 1 to 1,000.
        curves: of each, under the same name, whole.
        versions: that computed them, see `versions`. Where Matplotlib is among them, there are figures.
        drawn: the figures, where they are not to be drawn here.

    Raises:
        SpecError: there are too many runs or none, a run has not ended, or follows from data that no bundle may hold.
    """
    check_specs(specs)
    names = {name: f"curves/{number}.csv" for number, name in enumerate(specs, 1)}
    found = {SPECS: _json({name: spec.to_dict() for name, spec in specs.items()})}
    for name, spec in specs.items():
        if not curves[name].whole(spec.seeds):
            raise SpecError(BUNDLE, f"{spec.label()} has not ended yet; wait for all its seeds.")
        kind = kind_of(spec)
        found[names[name]] = _bytes(csv(curves[name].frame(kind.axis, kind.measure)))
    lines = (
        f"- {names[name]}: {' '.join(name.split())} ({plural(spec.seeds, 'seed')})"
        for name, spec in specs.items()
    )
    if drawn is None:
        drawn = figures.figures_of(specs, curves) if figures.MATPLOTLIB in versions else {}
    found |= drawn
    told = {"version": versions["dprl"], "runs": "\n".join(lines), **_told(specs if drawn else {}, names)}
    found |= {
        VERSIONS: _json(dict(versions)),
        "cite.bib": _bytes(cite(*specs.values())),
        "again.py": _bytes(AGAIN),
        "README.md": _bytes(README.format(SPECS=SPECS, VERSIONS=VERSIONS, DIGESTS=DIGESTS, **told)),
    }
    digests = (f"{file_digest(content)}  {name}\n" for name, content in found.items())
    return {**found, DIGESTS: _bytes("".join(digests))}


def _told(specs: Mapping[str, Spec], names: Mapping[str, str]) -> dict[str, str]:
    """What a README says of the figures of runs: nothing where there are none."""
    drawn = figures.names_of(specs)
    lines = (
        f"- {', '.join(f'{figure}.{suffix}' for suffix in figures.FORMATS)}: "
        f"{', '.join(names[run] for run in runs)}\n"
        for figure, runs in drawn.items()
    )
    return {
        "figures": FIGURES if drawn else "",
        "drawn": f"## Figures\n\n{''.join(lines)}\n" if drawn else "",
    }


def file_digest(content: bytes) -> str:
    """Of a file, as `sha256sum` writes it."""
    return hashlib.sha256(content).hexdigest()


def _json(value: Any) -> bytes:
    return _bytes(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # a name from a link may be no text


def zipped(specs: Mapping[str, Spec], curves: Mapping[str, RunCurves]) -> bytes:
    """The zip of runs that were computed here; the same runs give the same bytes. Raises SpecError, see `files_of`."""
    files = files_of(specs, curves, versions())
    size = sum(map(len, files.values()))
    if size > MOST_BYTES:
        raise SpecError(BUNDLE, f"the runs take {size:,} bytes, and {MOST_BYTES:,} are allowed; give fewer.")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # as Unix writes it, wherever this runs
            archive.writestr(entry, data)
    return content.getvalue()


def write_bundle(path: str | Path, specs: Mapping[str, Spec], curves: Mapping[str, RunCurves]) -> Path:
    """Writes the bundle of finished runs, by name. Raises SpecError."""
    target = Path(path)
    if target.suffix != ".zip":
        raise SpecError("path", f"{shown(target.name)} is not allowed; give a name that ends in .zip.")
    target.write_bytes(zipped(specs, curves))
    return target


def curves_of(trace: Trace) -> RunCurves:
    """The curves of a finished run."""
    return RunCurves(trace.at, trace.values)
