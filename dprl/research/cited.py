"""The sources to cite for runs: the papers of their algorithms and noise, and this program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dprl.learners import ALGORITHMS, OFFLINE
from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.privacy.curator import PROMISES
from dprl.simulation import AttackSpec, OfflineSpec, RunSpec, Spec, Trace, UploadSpec
from dprl.simulation.kinds import given_spec
from dprl.theory.papers import bibliography
from dprl.version import VERSION

Source = tuple[str, str]  # the subject of a source, and the text that names its papers
NOTIONS = {"zcdp": "Bun, Steinke 2016"}  # the paper that introduced each notion of privacy, if we know it


def cite(*runs: Spec | Trace | Mapping[str, Any]) -> str:
    """Return the sources to cite for runs, as a BibTeX file.

    Args:
        runs: specs, finished runs, or dicts of a spec's fields.

    Returns:
        One entry each for dprl and for every paper behind the algorithms, privacy models and mechanisms. Comments
        state the subject of each paper.

    Raises:
        SpecError: One of the runs is not a spec, or one of its fields is not allowed.

    Example:
        >>> print(dprl.cite(dprl.RunSpec()).splitlines()[-1])
        }
    """
    specs = [given_spec(run.spec if isinstance(run, Trace) else run) for run in runs]
    return bibliography((source for spec in specs for source in SOURCES[spec.kind](spec)), VERSION)


def of_online(spec: Any) -> Iterator[Source]:
    """Yield the sources of an online run: its algorithm and, if private, its privacy model and mechanism."""
    yield _of(ALGORITHMS[spec.algorithm])
    if spec.mechanism is not None:
        yield _of(PRIVATIZERS[spec.privacy])
        yield _of(MECHANISMS[spec.mechanism])


def of_data_set(spec: Any) -> Iterator[Source]:
    """Yield the sources of a run on a data set: its algorithm and, if private, its guarantee and its noise."""
    yield _of(OFFLINE[spec.algorithm])
    promise = PROMISES[spec.privacy]
    if spec.privacy in NOTIONS:
        yield f"{promise.title} privacy", NOTIONS[spec.privacy]
    if promise.mechanism in MECHANISMS:
        yield _of(MECHANISMS[promise.mechanism])


def _of(entry: Any) -> Source:
    return entry.title, entry.source


SOURCES: dict[str, Callable[[Any], Iterator[Source]]] = {
    RunSpec.kind: of_online,
    OfflineSpec.kind: of_data_set,
    UploadSpec.kind: of_data_set,
    AttackSpec.kind: lambda spec: of_online(spec.run),
}
