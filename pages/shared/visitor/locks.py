"""`lock=` in a link: settings that are shown but cannot be changed. It keeps a class together; it keeps nothing secret.

lock=all             every setting, and Run
lock=epsilon,seeds   these
lock=all,-epsilon    all but these; Run stays open, so that the others can be tried
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from dprl.fields import shown
from dprl.links import last

KEY = "lock"
ALL = "all"
# The names of the settings: fields of a spec, with their parameters, and further settings of pages.
NAMES = (
    "environment", "algorithm", "structure", "privacy", "epsilon", "rho", "delta", "calibration", "mechanism",
    "reports", "contribution", "episodes", "n", "behaviour", "rewards", "bonus", "schedule", "seeds", "root_seed",
    "beta", "compare", "against", "run",
)  # fmt: skip
RUN = "run"
EVERYTHING = frozenset(NAMES)
MOST_LETTERS = 400

Locked = frozenset[str]


def decode(given: Mapping[str, Sequence[str]], problems: list[str]) -> Locked:
    """Return the locked settings of a link; a sentence about an unknown name is added to `problems`."""
    text = last(given, KEY)
    if text is None:
        return frozenset()
    if len(text) > MOST_LETTERS:
        problems.append(f"lock: it has {len(text)} letters, more than {MOST_LETTERS}, and was not read.")
        return frozenset()
    parts = [part.strip().lower() for part in text.split(",")]
    opened = {part[1:] for part in parts if part.startswith("-")}
    named = {part for part in parts if not part.startswith("-")}
    unknown = sorted((opened | named - {ALL}) - EVERYTHING)
    if unknown:
        allowed = f"all, or some of {', '.join(NAMES)}, and with all some of them after a -"
        problems.append(f"lock: {shown(unknown[0]) or 'nothing'} is not allowed; give {allowed}.")
    if ALL in named:
        return EVERYTHING - opened - ({RUN} if opened & EVERYTHING else set())
    return frozenset(named & EVERYTHING - opened)


def encode(locked: Collection[str]) -> list[tuple[str, str]]:
    """Return the query parameter from which `decode` reads these settings; none if nothing is locked."""
    if not locked:
        return []
    left = [name for name in NAMES if name not in locked]
    if not left:
        return [(KEY, ALL)]
    besides = [name for name in left if name != RUN]
    if RUN in left and besides and len(besides) < len(locked):
        return [(KEY, ",".join([ALL, *(f"-{name}" for name in besides)]))]
    return [(KEY, ",".join(name for name in NAMES if name in locked))]


def locked_in_words(locked: Collection[str]) -> str:
    """List the locked settings in words."""
    left = [name for name in NAMES if name not in locked and name != RUN]
    if not left:
        return "the settings"
    named = [name for name in NAMES if name in locked]
    if len(left) < len(named):
        return f"all settings but {', '.join(left)}"
    return ", ".join(named)
