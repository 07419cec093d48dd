"""Generate parts of the documentation from the program: the algorithms and other choices, the fields of specs, the
glossary, commands, claims with their verdicts, lessons, and the proofs behind sentences about privacy.

`make docs` writes them; `tests/test_documents.py` looks at them without Sphinx.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dprl import ALGORITHMS, ENVIRONMENTS, MECHANISMS, OFFLINE
from dprl.__main__ import command_line
from dprl.fields import Field
from dprl.lessons import LESSONS
from dprl.messages.glossary import TERMS
from dprl.papers import CLAIMS
from dprl.privacy import PRIVATIZERS
from dprl.privacy.curator import PROMISES
from dprl.simulation.kinds import KINDS
from dprl.theory import BOUNDS, LEFT_OUT
from pages.shared.results.data import bundled_papers

PROOFS = tomllib.loads(Path(__file__).with_name("proofs.toml").read_text("utf-8"))


def pages() -> dict[str, str]:
    """Return the MyST text of each generated part, by its file name."""
    return {
        "algorithms": _lines(_algorithms()),
        "mechanisms": _lines(_mechanisms()),
        "environments": _lines(_environments()),
        "bounds": _lines(_bounds()),
        "fields": _lines(_specs()),
        "claims": _lines(_claims()),
        "commands": _lines(_commands()),
        "glossary": _lines(_glossary()),
        "lessons": _lines(_lessons()),
        "sentences": _lines(_sentences()),
    }


def write(folder: Path) -> None:
    """Write each generated part into `folder`, unless the file already has this text."""
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        file = folder / f"{name}.md"
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _plain(text: object) -> str:
    """Return a text in one line, with all Markdown characters escaped."""
    return re.sub(r"([\\`*_\[\]<>|~^$#])", r"\\\1", " ".join(str(text).split()))


def _code(keys: Iterable[str]) -> str:
    return ", ".join(f"`{key}`" for key in keys) or "none"


def _default(field: Field) -> str:
    """Return a field's default value as a user would type it."""
    if field.default is None:
        return "chosen for you"
    if field.default == "":
        return "empty"
    return f"`{field.default:g}`" if isinstance(field.default, float) else f"`{field.default}`"


def _table(fields: Iterable[Field]) -> Iterator[str]:
    """Yield the lines of a Markdown table with a row for each field."""
    rows = list(fields)
    if rows:
        yield from ("| name | meaning | allowed | default |", "| --- | --- | --- | --- |")
    for f in rows:
        allowed = "see meaning" if f.kind == "text" else f.allowed
        yield f"| `{f.name}` | {_plain(f.help)} | {_plain(allowed)} | {_default(f)} |"
    yield ""


def _entry(entry: Any, told: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a section about one choice: its title, summary, key, and other facts (`told`, by name)."""
    yield from (f"({type(entry).__name__.lower()}-{entry.key})=", f"### {_plain(entry.title)}", "")
    yield from (_plain(entry.summary), "")
    for name, text in {"Key": f"`{entry.key}`", **told}.items():
        if text:
            yield f"- {name}: {text}"
    yield ""


def _algorithms() -> Iterator[str]:
    yield from ("## Online", "")
    for a in ALGORITHMS.values():
        told = {
            "Source": _plain(a.source) + ("; our reconstruction" if a.reconstructed else ""),
            "Privacy models": _code(a.privacies),
            "Bonus": _code(a.bonuses),
            "Needs": {"features": "a linear MDP", "mixture": "a linear mixture"}.get(a.needs, ""),
            "Note": _plain(a.note),
        }
        yield from (*_entry(a, told), *_table(a.fields))
    yield from ("## Offline", "")
    for b in OFFLINE.values():
        yield from (
            *_entry(b, {"Source": _plain(b.source), "Privacy": _code(b.privacies)}),
            *_table(b.fields),
        )


def _mechanisms() -> Iterator[str]:
    yield from ("## Privacy models", "")
    for p in PRIVATIZERS.values():
        yield from _entry(p, {"Mechanisms": _code(p.mechanisms)})
    yield from ("## Mechanisms", "")
    for m in MECHANISMS.values():
        delta = "" if m.pure else ("above 0" if m.needs_delta else "0 or more")
        told = {"Source": _plain(m.source), "Proves": "(epsilon, 0)" if m.pure else "", "Delta": delta}
        yield from _entry(m, told)
    yield from ("## Notions of privacy of data sets", "")
    for q in PROMISES.values():
        yield f"- `{q.key}`: {_plain(q.summary)}"
    yield ""


def _environments() -> Iterator[str]:
    for e in ENVIRONMENTS.values():
        yield from (*_entry(e, {"Source": _plain(e.source)}), *_table(e.fields))


def _bounds() -> Iterator[str]:
    for title, of in (
        ("Regret", "regret"),
        ("Alpha-suboptimal episodes", "mistakes"),
        ("Suboptimality of a policy from data", "suboptimality"),
    ):
        yield from (f"## {title}", "")
        for b in BOUNDS.values():
            if b.of != of:
                continue
            yield from (f"### {_plain(b.title)}: {_plain(b.paper)}", "")
            yield f"- Key: `{b.key}`"
            yield f"- {'Upper' if b.upper else 'Lower'} bound, {b.model}, {_plain(b.world)}"
            yield f"- Formula: `{b.formula}`"
            if b.budget:
                yield f"- Privacy: {_plain(b.budget)}"
            if b.conditions:
                yield f"- Holds for: {_plain(b.conditions)}"
            yield ""
    yield from ("## Left out", "", _plain(LEFT_OUT), "")


def _specs() -> Iterator[str]:
    for kind in KINDS.values():
        yield from (f"## Fields of a run of kind `{kind.key}`", "", *_table(kind.fields.values()))


def _claims() -> Iterator[str]:
    """Yield the lines of a table of claims, each with its result in the runs that come with the program."""
    yield from ("| claim | says | from | found |", "| --- | --- | --- | --- |")
    for key, claim in CLAIMS.items():
        found = bundled_papers().reports[key].summary
        yield f"| `{key}` | {_plain(claim.says)} | {_plain(claim.source)} | {_plain(found)} |"


def _lessons() -> Iterator[str]:
    yield from ("| lesson | what it is about | link |", "| --- | --- | --- |")
    for number, one in enumerate(LESSONS.values()):
        yield f"| {number}. {_plain(one.title)} | {_plain(one.say)} | `/lessons?v=1&lesson={one.key}` |"


def _commands() -> Iterator[str]:
    """Yield the help text of each command, as the program prints it."""
    parser = command_line()
    (commands,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    for name, command in commands.choices.items():
        formatter = argparse.HelpFormatter(f"dprl {name}", width=72)
        formatter.add_usage(command.usage, command._actions, command._mutually_exclusive_groups)
        formatter.start_section("options")
        formatter.add_arguments(command._actions)
        formatter.end_section()
        yield from (f"## dprl {name}", "", "```text", formatter.format_help().rstrip(), "```", "")


def _glossary() -> Iterator[str]:
    for t in TERMS.values():
        yield from (f"## {_plain(t.term)}", "", _plain(t.definition), "")
        if t.symbol:
            yield f"- Symbol: {_plain(t.symbol)}"
        if t.unit:
            yield f"- Unit: {_plain(t.unit)}"
        if t.avoid:
            yield f"- We do not say: {', '.join(map(_plain, t.avoid))}"
        yield ""


def _sentences() -> Iterator[str]:
    """Yield each sentence about privacy with its proof, grouped by the place that shows it."""
    for place, title in PROOFS["places"].items():
        yield from (f"## {_plain(title)}", "", *_proofs(place), "")
    yield from ("## These documents, and controls of the dashboard", "")
    for place in dict.fromkeys(row["where"] for row in PROOFS["sentence"]):
        if place not in PROOFS["places"]:
            page = place.removeprefix("docs/")
            title = f"[{page}](../{page})" if page != place else f"`{place}`"
            yield from (f"### {title}", "", *_proofs(place), "")


def _proofs(place: str) -> Iterator[str]:
    for row in PROOFS["sentence"]:
        if row["where"] == place:
            follows = re.sub(r"tests/\S+\.py::\w+", r"`\g<0>`", row["follows"])
            yield from (f"- {_plain(row['says'])}", f"  - {follows[0].upper()}{follows[1:]}")
