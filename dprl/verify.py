"""Whether a result comes out again: `dprl verify LINK_OR_FILE`, and `dprl verify --write LINK` for its author.

A file may be a replication bundle, see `dprl/bundle.py`. The rest is about links.

A link of the page Online may carry the digest of its result and ten of its values, in one parameter of its own:

    check=<digest, 16 hex digits>.<ten float64 of 8 bytes, base64url>

The values lie evenly spread over the seeds of all curves, the first and the last value among them. They say where two
results part; the digest says whether any bit does, or any setting. Links without this parameter mean what they meant.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote_plus

import numpy as np
from numpy.typing import NDArray

from dprl import bundle
from dprl.bundle import how_far
from dprl.fields import SpecError, shown
from dprl.links import HIDE, MAX_CURVES, NAME, check_version, decode_curves, last
from dprl.messages import filled, messages
from dprl.simulation import RunSpec, Trace, run
from dprl.words import human, plural

SAID = messages("checks")["link"]
VALUES = 10
CURVE, CHECK = "c", "check"  # query parameters
PAGE = "explore"  # the address of Online
LONGEST = 100_000  # characters of a link
_FORM = re.compile(r"([0-9a-f]{16})\.([A-Za-z0-9_-]+)")

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LinkCheck:
    """What is compared of a result.

    Attributes:
        digest: of all settings, episodes and values, 16 hex digits.
        values: [VALUES] regret at the places that `places` gives.
    """

    digest: str
    values: tuple[float, ...]

    def __str__(self) -> str:
        content = base64.urlsafe_b64encode(np.asarray(self.values, "<f8").tobytes())
        return f"{self.digest}.{content.decode('ascii').rstrip('=')}"


def check_in(text: str) -> LinkCheck:
    """The check that a link carries. Raises SpecError where it is damaged."""
    damaged = SpecError(CHECK, "this is damaged; give the link as its author wrote it.")
    found = _FORM.fullmatch(text)
    if found is None:
        raise damaged
    try:
        content = base64.urlsafe_b64decode(found[2] + "=" * (-len(found[2]) % 4))
    except (binascii.Error, ValueError):
        raise damaged from None
    if len(content) != 8 * VALUES:
        raise damaged
    return LinkCheck(found[1], tuple(np.frombuffer(content, "<f8").tolist()))


def compared_places(traces: Sequence[Trace]) -> list[tuple[int, int, int]]:
    """[VALUES] (curve, seed, point) of the values that are compared."""
    every = [place for i, trace in enumerate(traces) for place in _places_of_curve(i, trace.values)]
    return [every[int(at)] for at in np.rint(np.linspace(0, len(every) - 1, VALUES))]


def _places_of_curve(curve: int, values: Array) -> list[tuple[int, int, int]]:
    return [(curve, int(seed), int(point)) for seed, point in np.ndindex(values.shape)]


def check_of(traces: Sequence[Trace]) -> LinkCheck:
    """What is compared of these results. At least one."""
    digest = hashlib.sha256()
    for trace in traces:
        digest.update(
            trace.spec.to_json().encode()
        )  # runs that learn nothing yet lose the same at any epsilon
        digest.update(np.asarray(trace.at, "<i8").tobytes())
        digest.update(np.asarray(trace.values, "<f8").tobytes())
    values = tuple(float(traces[i].values[seed, point]) for i, seed, point in compared_places(traces))
    return LinkCheck(digest.hexdigest()[:16], values)


def differing_bits(traces: Sequence[Trace], claimed: LinkCheck) -> list[str]:
    """What differs between results and what a link claims of them, a sentence each; none where no bit differs."""
    own = check_of(traces)
    said = []
    for number, (place, here, there) in enumerate(
        zip(compared_places(traces), own.values, claimed.values, strict=True), 1
    ):
        if np.float64(here).view(np.int64) != np.float64(there).view(np.int64):
            curve, seed, point = place
            how, share = how_far(here, there)
            told: dict[str, object] = {"number": number, "values": VALUES, "curve": curve + 1, "seed": seed}
            told |= {"users": human(traces[curve].at[point]), "here": repr(here), "there": repr(there)}
            said.append(filled(SAID[how], **told, **share))
    if not said and own.digest != claimed.digest:
        said.append(
            f"All {VALUES} check values agree, and the digests differ: {own.digest} here, {claimed.digest} in the "
            "link. Another value differs, or a setting."
        )
    return said


def query_of(link: str) -> str:
    """The query of a link to Online, or to a page without a server: of a whole address, of `explore?...`, or alone.
    Raises SpecError."""
    if len(link) > LONGEST:
        raise SpecError(
            "link", f"it is longer than {LONGEST:,} characters; give one that Online has written."
        )
    head, query = _parted(link)
    where = head.removesuffix("?")
    if where != head and where.rstrip("/").rpartition("/")[2] != PAGE:
        raise SpecError(
            "link", f"{shown(where)} is another page; give a link of the page Online ({PAGE}?...)."
        )
    return query


def _parted(link: str) -> tuple[str, str]:
    """A link up to its parameters, and these: they follow `?`, or `#` where it is of a page without a server."""
    text = link.strip()
    mark = "?" if "?" in text else "#"
    where, found, query = text.partition(mark)
    if not found:
        return "", text
    return where + mark, query.partition("#")[0]


def specs_in(parameters: dict[str, list[str]]) -> list[RunSpec]:
    """The runs of a link. Raises SpecError where there are none, or where one cannot be read as it was written."""
    problems: list[str] = []
    check_version(parameters, problems)
    given = parameters.get(CURVE, [])
    specs: list[RunSpec] = []
    for spec, _, wrong in decode_curves(given[:MAX_CURVES], (NAME, HIDE)):
        problems += wrong
        if spec is not None:
            specs.append(spec)
    if len(given) > MAX_CURVES:
        problems.append(f"it has {len(given)} curves, and at most {MAX_CURVES} are allowed.")
    if problems:
        raise SpecError("link", problems[0])
    if not specs:
        raise SpecError("link", f"it names no run; give a link of the page Online ({PAGE}?v=1&c=...).")
    return specs


def computed_results(
    specs: Sequence[RunSpec], progress: Callable[[float], None] | None = None
) -> list[Trace]:
    """The runs, computed here. progress: is called with the share done, from 0 to 1."""

    def of(place: int) -> Callable[[float], None] | None:
        return progress and (lambda share: progress((place + share) / len(specs)))

    return [run(spec, of(place)) for place, spec in enumerate(specs)]


def signed(link: str, progress: Callable[[float], None] | None = None) -> str:
    """The link with the check values of what comes out here. Raises SpecError."""
    parameters = parse_qs(query_of(link))
    check = check_of(computed_results(specs_in(parameters), progress))
    head, _ = _parted(link)
    pairs = [(key, value) for key, values in parameters.items() for value in values if key != CHECK]
    written = "&".join(
        f"{key}={quote_plus(value, safe='~:')}" for key, value in [*pairs, (CHECK, str(check))]
    )
    return head + written


def verified(link: str, progress: Callable[[float], None] | None = None) -> tuple[bool, list[str]]:
    """Whether what a link shows comes out here with the same bits, and the sentences that say so. Raises SpecError."""
    parameters = parse_qs(query_of(link))
    text = last(parameters, CHECK)
    if text is None:
        raise SpecError(
            "link", "it carries no check values; its author adds these by `dprl verify --write LINK`."
        )
    claimed, specs = check_in(text), specs_in(parameters)
    traces = computed_results(specs, progress)
    wrong = differing_bits(traces, claimed)
    if wrong:
        return False, wrong
    values = sum(trace.values.size for trace in traces)
    return True, [f"The same bits as the author's: {plural(len(specs), 'run')}, {plural(values, 'value')}."]


def add(commands: Any) -> None:
    """The flags of `verify`."""
    parser = commands.add_parser(
        "verify",
        help="compute what a link shows or a bundle holds, and compare it with its author's result",
        allow_abbrev=False,
    )
    parser.add_argument(
        "link",
        metavar="LINK_OR_FILE",
        help="a link of the page Online, a file that holds one, or a replication bundle (.zip)",
    )
    parser.add_argument(
        "--write", action="store_true", help="print the link with check values of what comes out here"
    )


def verify_command(given: Any, progress: Callable[[float], None] | None = None) -> int:
    """Print what was found. Returns 0 where no bit differs, else 1. Raises SpecError."""
    link = given.link
    if "=" not in link:  # a link has a parameter
        if link.endswith(".zip") and not given.write:
            return _as_sentence(bundle.verified(link, progress))
        try:
            link = Path(link).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError, ValueError):
            raise SpecError(
                "link",
                f"{shown(link)} cannot be read; give a link of the page Online, or a file that holds one.",
            ) from None
    if given.write:
        print(signed(link, progress))
        return 0
    return _as_sentence(verified(link, progress))


def _as_sentence(found: tuple[bool, list[str]]) -> int:
    good, sentences = found
    print("\n".join(sentences))
    return 0 if good else 1
