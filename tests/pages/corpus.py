"""What links mean: a corpus of links of every page and version, frozen, with what each was read as.

`corpus.json` holds, of each link, its page and query; `means`, which holds for ever: the specs that it stands for (by
their place in `specs`), the name of the unit of work of the first seed of each without what depends on the sources, and
every number; and `looks`, what of the rest the page shows: it may be dropped when looks are to change. It was made from
the links in tests and docs, from what the pages write for each kind of spec, tab and field, of all versions and tables
of defaults, and from damaged ones, by the code of November 2026.

To add links (never change an entry: a link that means something else than it did is a fault):

    python -m tests.pages.corpus explore 'v=2&t=4&c=priv.local' [page query ...]
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import streamlit as st

from dprl.jobs.requests import Requests
from dprl.links import defaults_of
from dprl.simulation.kinds import Spec
from dprl.simulation.spec import engine
from pages.attack.state import Attack
from pages.claims.state import Claims
from pages.free.state import Free
from pages.home.state import Home
from pages.landscape.state import LandscapePageState
from pages.lessons.state import Lessons
from pages.linear.record import LINEAR
from pages.offline.record import OFFLINE
from pages.room.state import Class
from pages.shared.comparison.record import ComparisonPage
from pages.shared.visitor.state import ExploreState, PageState, Session, read_address, session
from pages.tradeoffs.state import SweepPageState
from pages.users.state import Users

FILE = Path(__file__).with_suffix(".json")
Specs = Callable[[Any], Sequence[Spec]]


def _none(_: Any) -> Sequence[Spec]:
    return ()


# Of each page: what it keeps of a visitor, and the specs that this stands for.
PAGES: dict[str, tuple[type[PageState] | ComparisonPage[Any], Specs]] = {
    "attack": (Attack, lambda part: [part.spec]),
    "claims": (Claims, _none),
    "explore": (ExploreState, lambda part: [curve.spec for curve in part.curves]),
    "free": (Free, lambda part: [part.base]),
    "home": (Home, _none),
    "landscape": (LandscapePageState, _none),
    "lessons": (Lessons, _none),
    "linear": (LINEAR, lambda part: part.specs),
    "offline": (OFFLINE, lambda part: [*part.specs, *(part.own.asked() if part.own.linked else ())]),
    "room": (Class, _none),
    "tradeoffs": (SweepPageState, lambda part: [part.study.base]),
    "users": (Users, _none),
}
# Of a page that shows many runs: them, of which the corpus has how many they are, and a digest of all their names.
MANY: dict[str, Specs] = {"tradeoffs": lambda part: part.study.sweep.specs}
# Keys of a link, as the page writes it: what says the specs, and which table of defaults it was written with; and all
# that says how they are looked at. What is left are numbers, and what is looked up.
SPECS = {"v", "t", "c", "up"}
STREAMLIT = {"embed", "embed_options"}  # which it keeps to itself
BASES = {"attack", "free", "tradeoffs"}  # where `b` is a spec
LOOKS = {
    "attack": {"show", "chart", "step"},
    "explore": {"tab", "m", "stat", "x", "y", "each", "ch", "of", "see", "pol"},
    "free": {"show", "each", "bounds"},
    "landscape": {"y", "sort", "down"},
    "lessons": {"present"},
    "linear": {"tab", "m", "stat", "x", "y", "each", "of", "near"},
    "offline": {"tab", "m", "y", "each", "pol"},
    "tradeoffs": {"show", "stat"},
}


@contextmanager
def reading() -> Iterator[None]:
    """Nothing is started, and no name of a unit of work depends on the sources."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Requests, "cost", lambda *_: (0.0, math.inf))  # more than a link may start
        for name, module in list(sys.modules.items()):
            if name.startswith("dprl.") and getattr(module, "engine", None) is engine:
                patch.setattr(module, "engine", lambda: ("frozen",))
        yield


def opened(page: str, query: str) -> PageState:
    """What a page keeps of a visitor who comes by a link. Raises nothing, whatever the link."""
    kind, _ = PAGES[page]
    st.session_state["session"] = Session()
    session().page = "" if page == "home" else page
    given = parse_qs(query, keep_blank_values=True)
    st.query_params.from_dict({key: given[key] for key in given if key.lower() not in STREAMLIT})
    part: PageState = kind.state if isinstance(kind, ComparisonPage) else session().part(kind)
    read_address(part)
    return part


def specs_of(page: str, part: PageState) -> list[Spec]:
    """Those that a page stands for."""
    return list(PAGES[page][1](part))


def read(page: str, query: str) -> tuple[list[Spec], dict[str, Any], dict[str, Any]]:
    """The specs, all else that a link means, and how that is looked at."""
    part = opened(page, query)
    looked, known = LOOKS.get(page, set()), SPECS | ({"b"} if page in BASES else set())
    items = [(key, value) for key, value in part.items if key not in known]
    own = [dict(_own(text)) for key, text in part.items if key == "c"]
    means = {
        "numbers": [item for item in items if item[0] not in looked],
        "names": [pairs.get("name", "") for pairs in own],
        "many": _digest(MANY.get(page, _none)(part)),
    }
    looks = {
        "looks": [item for item in items if item[0] in looked],
        "hidden": [pairs.get("hide", "no") for pairs in own],
        "problems": list(part.problems),
    }
    return specs_of(page, part), _jsonable(means), _jsonable(looks)


def _digest(specs: Sequence[Spec]) -> list[str]:
    names = " ".join(f"{spec.seed_key(0)} {spec.seeds}" for spec in specs)
    return [str(len(specs)), hashlib.sha256(names.encode()).hexdigest()[:16]] if specs else []


def _own(curve: str) -> Iterator[tuple[str, str]]:
    """What the text of a curve says beside its spec."""
    for text in curve.split("~"):
        key, _, value = text.partition(".")
        if key in ("name", "hide"):
            yield key, value


def _jsonable(found: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON reads it back; what is empty, or as usual, left out."""
    kept = {key: value for key, value in found.items() if any(each not in ("", "no") for each in value)}
    again: dict[str, Any] = json.loads(json.dumps(kept))
    return again


def meant(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What a link means beside specs, as it is written now: a privacy model alone is written with the mechanism that it
    stood for. The digest of all runs says that these are the same."""
    names = defaults_of(parse_qs(entry["query"]), []).models
    found: dict[str, Any] = dict(entry["means"])
    if "numbers" in found:
        found["numbers"] = [
            [key, names.get(text, text) if key == "m" else text] for key, text in found["numbers"]
        ]
    return found


def load() -> dict[str, Any]:
    """The corpus."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def add(links: Sequence[tuple[str, str]]) -> None:
    """Freezes what further links mean now."""
    corpus = load() if FILE.exists() else {"specs": [], "links": []}
    places = {json.dumps(entry["spec"]): i for i, entry in enumerate(corpus["specs"])}
    known = {(entry["page"], entry["query"]) for entry in corpus["links"]}
    with reading():
        for page, query in links:
            if (page, query) in known:
                continue
            specs, means, looks = read(page, query)
            for spec in specs:
                text = json.dumps(spec.to_dict())
                if text not in places:
                    places[text] = len(places)
                    corpus["specs"].append({"spec": spec.to_dict(), "key": spec.seed_key(0)[:16]})
            stands = [places[json.dumps(spec.to_dict())] for spec in specs]
            corpus["links"].append(
                {"page": page, "query": query, "specs": stands, "means": means, "looks": looks}
            )
    parts = [
        f' "{part}": [\n' + ",\n".join(f"  {json.dumps(entry)}" for entry in corpus[part]) + "\n ]"
        for part in ("specs", "links")
    ]
    FILE.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    add(list(zip(sys.argv[1::2], sys.argv[2::2], strict=True)))
