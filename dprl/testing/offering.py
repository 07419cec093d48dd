"""For a while, specs may name what no package registers yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from dprl.environments import ENVIRONMENTS, Environment
from dprl.learners import ALGORITHMS
from dprl.learners.tabular.planner import TabularLearner
from dprl.privacy import MECHANISMS, PRIVATIZERS, Mechanism, outside
from dprl.simulation import FIELDS
from dprl.testing.report import Keyed, key_taken, offered


@contextmanager
def offering(entry: TabularLearner | Environment | Mechanism) -> Iterator[None]:
    """In this block specs may name an algorithm, an environment or a mechanism that no package registers yet.

    Afterwards all is as before.

    Raises:
        ValueError: it is none of these, a mechanism that no privacy model can offer, or its key is another's.
    """
    if isinstance(entry, Mechanism):
        refuse(MECHANISMS, entry)
        if why := outside.refusal(entry):
            raise ValueError(f"mechanism: {why}.")
        models = dict(PRIVATIZERS)
        with offered(MECHANISMS, entry, FIELDS, "mechanism"):
            outside.offer(entry)
            try:
                yield
            finally:
                PRIVATIZERS.update(models)
    elif isinstance(entry, Environment):
        refuse(ENVIRONMENTS, entry)
        with offered(ENVIRONMENTS, entry, FIELDS, "environment"):
            yield
    elif hasattr(entry, "key"):
        refuse(ALGORITHMS, entry)
        with offered(ALGORITHMS, entry, FIELDS, "algorithm"):
            yield
    else:
        raise ValueError("entry: give the record of an algorithm, an environment or a mechanism.")


def refuse(registry: Mapping[str, Any], entry: Keyed) -> None:
    """Raises ValueError where its key is another's."""
    if key_taken(registry, entry):
        raise ValueError(f"key: there is already one with the key {entry.key}; give another.")
