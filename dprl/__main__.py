"""The command line, `dprl` or `python -m dprl`."""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

from dprl import RunSpec, SpecError, Sweep, __version__, cite, run, serve, spec_from_json
from dprl.commands import Parser, directory, fail, list_command, status, text_of, web_command, write_files
from dprl.fields import Field, parse_params, read_json, shown
from dprl.messages import filled, messages
from dprl.metrics.curves import regret_band
from dprl.metrics.growth import unsettled
from dprl.research import release
from dprl.research.background import RunFailed, progress_bar
from dprl.research.sweeps import check_runs
from dprl.runs import cluster
from dprl.runs.database import StoreError
from dprl.runs.store import opened
from dprl.sentences import doubts, verdict
from dprl.simulation import Trace, UploadSpec
from dprl.simulation.kinds import KINDS, spec_from_dict
from dprl.simulation.uploads import kept
from dprl.tables import csv

COMMAND_LINE = "command line"  # the name under which the command line requests runs
HELP = messages("commands")["flags"]
ATTACKED = '; describe the attacked run in a file for --spec, as in {"kind": "attack", "run": {"epsilon": 1}}'
ENGINE: dict[str, Any] = {"metavar": "ADDRESS", "help": HELP["engine"]}
SIMULATED = [key for key in KINDS if key != UploadSpec.kind]  # the kinds of specs that `dprl run` accepts


def command_line() -> Parser:
    """Return the parser for all commands and their flags."""
    parser = Parser(prog="dprl", description="Measure the cost of privacy in reinforcement learning.")
    parser.add_argument("--version", action="version", version=f"dprl {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    add_run(commands)
    release.add(commands)
    sweep = commands.add_parser("sweep", help="simulate a spec for every combination of values")
    sweep.add_argument("--spec", metavar="FILE", help=HELP["sweep_spec"])
    sweep.add_argument("--axis", metavar="NAME=V1,V2,...", action="append", default=[], help=HELP["axis"])
    sweep.add_argument("--out", metavar="DIR", required=True, help=HELP["sweep_out"])
    sweep.add_argument("--engine", **ENGINE)
    reproduce = commands.add_parser("reproduce", help="test the claims of the papers")
    reproduce.add_argument("claim", nargs="?", help=HELP["claim"])
    reproduce.add_argument("--out", metavar="DIR", help=HELP["claim_out"])
    reproduce.add_argument("--engine", **ENGINE)
    web = commands.add_parser("web", help=HELP["web"])
    web.add_argument("--out", metavar="DIR", required=True, help=HELP["web_out"])
    cited = commands.add_parser("cite", help="print the BibTeX entries to cite for runs")
    cited.add_argument("specs", metavar="SPEC", nargs="+", help="a spec.json")
    commands.add_parser("list", help="print the registries")
    for name, what, fields in (
        ("serve", "open the dashboard", (serve.HOST, serve.PORT)),
        ("cluster", "start a Dask cluster on this machine", (cluster.WORKERS, cluster.PORT)),
    ):
        simple = commands.add_parser(name, help=what)
        for field in fields:
            said = f"{field.help} (default {field.default})"
            simple.add_argument(field.flag, default=str(field.default), help=said)
    look = commands.add_parser("status", help="show the queue, the workers and the store")
    look.add_argument("--json", action="store_true", help="as JSON on one line")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status. Exit with status 2 if an argument is wrong."""
    for stream in (sys.stdout, sys.stderr):  # print a verdict even if the terminal lacks a character
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        try:
            return command(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader of the output, such as head, has left
        # when Python exits, it writes the rest of the output to the null device
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


def command(arguments: Sequence[str] | None) -> int:
    """Parse the arguments, run one command, and return the exit status. Print an error as one line on stderr."""
    given = command_line().parse_args(arguments)
    try:
        kept.remove_old()
        return COMMANDS[given.command](given)
    except (SpecError, StoreError) as error:
        fail(" ".join([str(error), *getattr(error, "__notes__", ())]))
    except RunFailed as error:
        sys.stderr.write(f"dprl: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\ndprl: stopped.\n")
        return 130


def add_run(commands: Any) -> None:
    """Add the flags of `run`: one for each field of a spec."""
    parser = commands.add_parser("run", help="simulate one spec and write its curve")
    kinds = filled(HELP["kind"], kinds=", ".join(SIMULATED), default=RunSpec.kind)
    parser.add_argument("--kind", default=RunSpec.kind, help=kinds)
    parser.add_argument("--spec", metavar="FILE", help=HELP["run_spec"])
    parser.add_argument("--out", metavar="DIR", required=True, help=HELP["run_out"])
    parser.add_argument("--engine", **ENGINE)
    for field in flags():
        ways = [field.way]
        for kind in (KINDS[key] for key in SIMULATED):
            other = kind.fields.get(field.name, field)
            if other.way not in ways:
                ways += [f"with --kind {kind.key}: {other.way}"]
        field.add_to(parser, "; ".join(ways))


def spec_of(given: argparse.Namespace) -> Any:
    """Build the spec from the flags, starting from the given file if there is one. Raises SpecError."""
    base = None if given.spec is None else spec_from_json(text_of(given.spec))
    key = base.kind if base is not None else given.kind
    if key == UploadSpec.kind:
        raise SpecError("kind", "dprl run cannot use your own file; use dprl release, which keeps a budget.")
    if key not in SIMULATED:
        raise SpecError("kind", f"{shown(key)} is not allowed; give one of {', '.join(SIMULATED)}.")
    kind = KINDS[key]
    changes: dict[str, Any] = {}
    for field in flags():
        if (text := getattr(given, field.name)) is None:
            continue
        if field.name not in kind.fields:
            way = ATTACKED if "run" in kind.fields else ""
            raise SpecError(field.name, f"this is not a field of a spec of kind {kind.key}{way}.")
        own = kind.fields[field.name]  # two kinds of specs may have fields of the same name
        changes[field.name] = parse_params(field.name, *text) if own.kind == "params" else own.parse(text)
    if base is None:
        return kind.from_dict(changes)
    for name in changes:
        owner = name.removesuffix("_params")
        if owner != name and changes.get(owner, getattr(base, owner)) == getattr(base, owner):
            changes[name] = {**getattr(base, name), **changes[name]}
    return base.replace(**changes)


def flags() -> list[Field]:
    """Return the fields of all kinds of specs, without duplicate names."""
    kinds = [KINDS[key].fields for key in SIMULATED]
    found = {name: field for fields in reversed(kinds) for name, field in fields.items()}
    ordered = [name for fields in kinds for name in fields]
    return [found[name] for name in dict.fromkeys(ordered)]


def run_one(spec: Any, folder: str, engine: str | None, releases: int = 1) -> int:
    """Compute a spec's run and write its files to a folder. Raises SpecError and RunFailed.

    releases: the number of releases about the same people, including this one.
    """
    out = directory(folder)
    progress = progress_bar() if sys.stderr.isatty() else None
    trace: Trace = run(spec, progress, engine=cluster.engine(engine))
    axis, measure = KINDS[spec.kind].axis, KINDS[spec.kind].measure
    summary = trace.summary()
    files = {"spec.json": spec.to_dict(), f"{measure}.csv": csv(trace.frame()), "summary.json": summary}
    files |= {name: text(trace.seeds[0]) for name, text in KINDS[spec.kind].files.items()}
    if isinstance(spec, UploadSpec):
        from dprl.research.sheet import sheet  # imports Plotly

        files["sheet.html"] = sheet(trace.seeds[0].portable, releases)
    write_files(folder, files)
    mean = summary[f"final_{measure}_mean"]
    print(f"{spec.label()}: final {measure} {mean:.6g} at {axis} {spec.size:,}; see {out}")
    if isinstance(spec, UploadSpec):
        seed = trace.seeds[0]
        held = seed.held_out(seed.recommended)
        by_group = filter(None, [*verdict.group_lines(held), verdict.about_groups(held)])
        for sentence in (*verdict.said(seed, releases), *by_group, verdict.proved(seed)):
            print(f"Note: {sentence}".replace("**", ""))
    if spec == spec.baseline() and (stuck := unsettled(trace.at, trace.values)):
        print(f"Note: {doubts.unsettled(stuck, spec.seeds)}")
    return 0


def sweep_of(given: argparse.Namespace) -> Sweep[Any]:
    """Build the sweep from the given file, if any, and the flags, whose axes replace the file's. Raises SpecError."""
    base: Any = RunSpec()
    axes: dict[str, Any] = {}
    if given.spec is not None:
        text = text_of(given.spec)
        found = read_json("spec", text)
        if isinstance(found, dict) and "axes" in found:
            sweep = Sweep.from_dict(found)
            base, axes = sweep.base, dict(sweep.axes)
        else:
            base = spec_from_dict(found)
    for text in given.axis:
        name, sign, values = (part.strip() for part in text.partition("="))
        if not sign or not name:
            raise SpecError("axis", f"{shown(text)} is not allowed; give NAME=V1,V2,...")
        axes[name] = tuple(value.strip() for value in values.split(",") if value.strip())
    return Sweep(base, axes)


def sweep_command(given: argparse.Namespace) -> int:
    """Compute every run in background processes that share the store, and write DIR/sweep.json and DIR/sweep.csv."""
    sweep = sweep_of(given)
    check_runs(sweep)
    out = directory(given.out)
    result = sweep.run(engine=given.engine)
    write_files(given.out, {"sweep.json": sweep.to_dict(), "sweep.csv": csv(result.frame())})
    print(f"{len(sweep.points)} points, {len(sweep.specs)} runs: see {out}")
    baselines = [result.curves[spec.baseline()] for spec in sweep.specs]
    if stuck := max(unsettled(one.at, one.values) for one in baselines):
        print(f"Note: {doubts.unsettled(stuck, sweep.base.seeds)}")
    below = []
    for point in sweep.points:
        spec: Any = point.spec
        price: Any = result.curves[spec].ends - result.curves[spec.baseline()].ends
        if regret_band(price[:, None])[2][0] < 0:
            below.append(", ".join(map(str, point.values)))
    if below:
        print(f"Note: {doubts.about_negative_prices(below)}")
    return 0


def reproduce_command(given: argparse.Namespace) -> int:
    """Print the verdict on one or all of the papers' claims, and write DIR/CLAIM.json."""
    from dprl.papers import CLAIMS, items, ranking  # which makes hundreds of specs

    every = (*CLAIMS, ranking.KEY, "all")
    if given.claim is None:
        for key, says in (*((c.key, c.says) for c in CLAIMS.values()), (ranking.KEY, ranking.SAYS)):
            print(f"{key:<20} {says}")
        return 0
    if given.claim not in every:
        raise SpecError("claim", f"{shown(given.claim)} is not allowed; give one of {', '.join(every)}.")
    out = None if given.out is None else directory(given.out)
    progress = progress_bar() if sys.stderr.isatty() else None
    if given.claim == ranking.KEY:
        made = iter([ranking.reproduce(progress)])
    else:
        store, claims = opened().begin(engine=cluster.engine(given.engine)), CLAIMS.values()
        asked = [claim for claim in claims if given.claim in (claim.key, "all")]
        made = (items.reproduce(one, store, COMMAND_LINE, progress, out is not None) for one in asked)
    for files in made:  # a claim's files are written before the next claim is judged
        if out is not None:
            write_files(given.out, files)
    return 0


def cite_command(given: argparse.Namespace) -> int:
    """Print the BibTeX entries to cite for the runs in the given files, and return 0. Raises SpecError."""
    print(cite(*(spec_from_json(text_of(path)) for path in given.specs)), end="")
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "run": lambda given: run_one(spec_of(given), given.out, given.engine),
    "check": release.check_command,
    "release": lambda given: release.release_command(
        given, lambda spec, releases: run_one(spec, given.out, None, releases)
    ),
    "sweep": sweep_command,
    "cite": cite_command,
    "reproduce": reproduce_command,
    "web": web_command,
    "serve": lambda given: serve.main(given.host, serve.PORT.parse(given.port)),
    "cluster": lambda given: cluster.main(
        cluster.WORKERS.parse(given.workers), cluster.PORT.parse(given.port)
    ),
    "status": lambda given: status(given.json),
    "list": lambda given: list_command(),
}

if __name__ == "__main__":
    sys.exit(main())
