"""What to cite for runs: the papers of their algorithms and their noise, and this program."""

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

Source = tuple[str, str]  # what it is of, and the text that names the papers
NOTIONS = {
    "zcdp": "Bun, Steinke 2016"
}  # where a notion of privacy comes from, for those that have a paper of ours


def cite(*runs: Spec | Trace | Mapping[str, Any]) -> str:
    """Return the sources to cite for runs, as a BibTeX file.

    Args:
        runs: specs, finished runs, or dicts of a spec's fields.

    Returns:
        An entry for dprl and for each paper that the algorithms, privacy models and mechanisms come from, once.
        Comments say which paper is whose.

    Raises:
        SpecError: one is no spec, or a field of it is not allowed.

    Example:
        >>> print(dprl.cite(dprl.RunSpec()).splitlines()[-1])
        }
    """
    specs = [given_spec(run.spec if isinstance(run, Trace) else run) for run in runs]
    return bibliography((source for spec in specs for source in SOURCES[spec.kind](spec)), VERSION)


def of_online(spec: Any) -> Iterator[Source]:
    """Yield the sources of an online run: of its algorithm and, with privacy, of its model and mechanism."""
    yield _of(ALGORITHMS[spec.algorithm])
    if spec.mechanism is not None:
        yield _of(PRIVATIZERS[spec.privacy])
        yield _of(MECHANISMS[spec.mechanism])


def of_data_set(spec: Any) -> Iterator[Source]:
    """Yield the sources of a run on a data set: of its algorithm and, with privacy, of its guarantee and its noise."""
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
