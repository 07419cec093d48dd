"""A bundle that somebody has sent: read with care, computed again, and compared file by file."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dprl.bundle import figures
from dprl.bundle.files import (
    BUNDLE,
    DIGESTS,
    MOST_BYTES,
    MOST_RUNS,
    SPECS,
    VERSIONS,
    check_specs,
    curves_of,
    file_digest,
    files_of,
    versions,
)
from dprl.curves import RunCurves
from dprl.fields import SpecError, read_json, shown
from dprl.messages import filled, messages
from dprl.simulation import Spec, run, spec_from_dict
from dprl.version import VERSION
from dprl.words import percent, plural

SAID = messages("checks")["bundle"]
MOST_FILES = MOST_RUNS + len(figures.FORMATS) * figures.MOST + 10
OTHER_FIGURES = "Note: the figures were not drawn again, for the bundle has those of another Matplotlib."


def files_in(path: str | Path) -> dict[str, bytes]:
    """The files of a bundle, by name. Nothing is written anywhere.

    Raises:
        SpecError: it cannot be read, is no zip, is too large, or holds what no bundle does.
    """
    given = Path(path)
    try:
        if given.stat().st_size > MOST_BYTES:
            raise SpecError(BUNDLE, f"it has more than {MOST_BYTES:,} bytes; no bundle has.")
        with zipfile.ZipFile(given) as archive:
            entries = archive.infolist()
            names = [entry.filename for entry in entries]
            if len(names) > MOST_FILES or sum(entry.file_size for entry in entries) > MOST_BYTES:
                raise SpecError(BUNDLE, f"unpacked it has more than {MOST_BYTES:,} bytes, or too many files.")
            if len(set(names)) < len(names):
                raise SpecError(BUNDLE, "it holds two files of one name; no bundle does.")
            for entry in entries:
                plain = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
                if not plain or entry.flag_bits & 1:
                    raise SpecError(
                        BUNDLE, f"{shown(entry.filename)} is packed in a way that no bundle is, or encrypted."
                    )
            return {entry.filename: archive.read(entry) for entry in entries}
    except SpecError:
        raise
    except OSError as error:
        raise SpecError(
            BUNDLE, f"{shown(str(path))} cannot be read ({error.strerror}); give the path of a bundle."
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError):
        raise SpecError(
            BUNDLE, f"{shown(str(path))} is no zip file, or damaged; give the bundle as it was made."
        ) from None


def runs_in(files: Mapping[str, bytes]) -> tuple[dict[str, Spec], dict[str, str]]:
    """The specs of a bundle by name, and its versions. Raises SpecError."""
    said = _object(files, VERSIONS)
    if "dprl" not in said or not all(isinstance(version, str) for version in said.values()):
        raise SpecError(VERSIONS, "it does not name versions; give the bundle as it was made.")
    specs: dict[str, Spec] = {}
    for name, fields in _object(files, SPECS).items():
        try:
            specs[name] = spec_from_dict(fields)
        except SpecError as error:
            why = [f"{shown(name)} cannot be run here: {error}"]
            if said["dprl"] != VERSION:
                why.append(f"dprl {shown(said['dprl'])} wrote it; here is {VERSION}.")
            raise SpecError(SPECS, " ".join(why)) from None
    check_specs(specs)
    return specs, said


def _object(files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    if name not in files:
        raise SpecError(BUNDLE, f"it has no {name}; give one that dprl has made.")
    found = read_json(name, files[name])
    if not isinstance(found, dict):
        raise SpecError(name, "this is no JSON object; give the bundle as it was made.")
    return found


def verified(path: str | Path, progress: Callable[[float], None] | None = None) -> tuple[bool, list[str]]:
    """Whether every file of a bundle comes out here with the same bytes, and the sentences that say so.

    Args:
        path: of the bundle.
        progress: is called with the share done, from 0 to 1.

    Raises:
        SpecError: it is no bundle, or a run of it is refused here.
    """
    there = files_in(path)
    specs, said = runs_in(there)
    drawn, others = _drawn(specs, said, there), list(_other_versions(said))
    here = files_of(specs, dict(_computed(specs, progress)), said, drawn)
    wrong = [*differences(here, there), *_other_digest(here, there)]
    if drawn:
        others.append(OTHER_FIGURES)
    if wrong:
        return False, [*wrong, *others]
    runs = plural(len(specs), "run")
    return True, [f"The same bytes as the author's: {plural(len(here), 'file')}, {runs}.", *others]


def _drawn(
    specs: Mapping[str, Spec], said: Mapping[str, str], there: Mapping[str, bytes]
) -> dict[str, bytes] | None:
    """The figures of a bundle as they are there, where another Matplotlib drew them: it gives other bytes."""
    if said.get(figures.MATPLOTLIB) in (None, figures.drawn_by()):
        return None
    return {name: there[name] for name in figures.files_named(specs) if name in there}


def _computed(
    specs: Mapping[str, Spec], progress: Callable[[float], None] | None
) -> Iterator[tuple[str, RunCurves]]:
    """The runs, one after the other: of each nothing but its curves is kept."""
    for place, (name, spec) in enumerate(specs.items()):

        def done(share: float, place: int = place) -> None:
            if progress:
                progress((place + share) / len(specs))

        yield name, curves_of(run(spec, done))


def differences(here: Mapping[str, bytes], there: Mapping[str, bytes]) -> Iterator[str]:
    """A sentence for each file that differs between what comes out here and a bundle."""
    for name, content in here.items():
        if name not in there:
            yield f"{name} is missing from the bundle."
        elif content != there[name]:
            curves = name.startswith("curves/")
            yield _first_number(name, content, there[name]) if curves else f"{name} differs."
    for name in there:
        if name not in here:
            yield f"{shown(name)} is in the bundle and is no file of one."


def _other_digest(here: Mapping[str, bytes], there: Mapping[str, bytes]) -> Iterator[str]:
    """A sentence for each file of a bundle that agrees with what follows from it here, but not with its digest there:
    what is computed follows from specs.json, whoever has changed that."""
    said = dict(line.split("  ", 1)[::-1] for line in _lines_of(there.get(DIGESTS, b"")) if "  " in line)
    for name, content in here.items():
        if name != DIGESTS and content == there.get(name) and said.get(name) != file_digest(content):
            yield f"{name} is not the file whose digest stands in {DIGESTS}."


def _lines_of(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines()


def _first_number(name: str, here: bytes, there: bytes) -> str:
    """Where two tables of that name part, and how far."""
    own, (head, *rows) = _lines_of(here), _lines_of(there) or [""]
    if len(own) != len(rows) + 1 or own[0] != head:
        return f"{name} differs: it has other rows or columns."
    apart = [(mine, row) for mine, row in zip(own[1:], rows, strict=True) if mine != row]
    if not apart:
        return f"{name} differs in the ends of its lines."
    (seed, at, value), (*place, other) = apart[0][0].split(","), apart[0][1].split(",")
    if place != [seed, at]:
        return f"{name} differs: it has other seeds or checkpoints."
    axis, measure = head.split(",")[1:]
    place_told = {"seed": seed, "axis": axis, "at": at, "measure": measure}
    counts = {"apart": f"{len(apart):,}", "values": plural(len(rows), "value")}
    how, share = how_far(value, other)
    told = {"file": name, "here": value, "there": shown(other), **counts, **place_told, **share}
    return filled(SAID[how], **told)


def how_far(here: float | str, there: float | str) -> tuple[str, dict[str, str]]:
    """Which template of checks.toml says what a number is here and there, and by which share it is more or less."""
    try:
        own, other = float(here), float(there)
    except ValueError:
        return "value", {}
    if own == 0 or not math.isfinite(other):
        return "value", {}
    return f"value_{'more' if other > own else 'less'}", {"share": percent(abs(other - own) / abs(own))}


def _other_versions(said: Mapping[str, str]) -> Iterable[str]:
    own = versions()
    for name in dict.fromkeys((*own, *said)):
        here, there = own.get(name, "not here"), said.get(name, "not named")
        if here != there:
            yield f"Note: {shown(name)} is {shown(there)} in the bundle; here: {here}."
