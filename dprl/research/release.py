"""The commands for a user's file: `dprl check` describes it, and `dprl release` learns from it under a budget."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dprl.fields import SpecError, parse_params, read_text, shown
from dprl.messages import messages
from dprl.sentences import uploads, verdict
from dprl.simulation import Budget, UploadSpec
from dprl.simulation.uploads import kept, ledger
from dprl.simulation.uploads.check import SHARE
from dprl.simulation.uploads.declaration import Declaration, declaration
from dprl.simulation.uploads.ledger import together
from dprl.simulation.uploads.noise import outlook
from dprl.simulation.uploads.prepare import Outside, counted
from dprl.simulation.uploads.run import draws_of
from dprl.simulation.uploads.spec import FIELDS, NOWHERE, take
from dprl.words import plural

STOPS = 3  # the exit status of a check after which a release would be refused
HELP = messages("commands")["release"]
NOT_SHOWN = HELP["not_shown"]
FROM_FILES = ("data", "declared", "n", "checked", "first_step")  # fields without flags here
FLAGS = [field for name, field in FIELDS.items() if name not in FROM_FILES]


def add(commands: Any) -> None:
    """Add the commands `check` and `release` with their flags."""
    check = commands.add_parser("check", help=HELP["check"])
    release = commands.add_parser("release", help=HELP["release"])
    for parser in (check, release):
        parser.add_argument("data", metavar="FILE", help=FIELDS["data"].way)
        parser.add_argument("--declaration", metavar="FILE", required=True, help=HELP["declaration"])
        for field in FLAGS:
            field.add_to(parser, field.way)
    check.add_argument("--budget", metavar="NAME", help=HELP["what_is_left"])
    release.add_argument("--accept-undeclared", action="store_true", help=HELP["accept_undeclared"])
    release.add_argument("--budget", metavar="NAME", required=True, help=HELP["budget"])
    release.add_argument("--notes", metavar="FILE", help=HELP["notes"])
    release.add_argument("--total", metavar="FLOAT", help=HELP["total"])
    release.add_argument("--out", metavar="DIR", required=True, help=HELP["out"])


def asked(given: argparse.Namespace) -> tuple[Declaration, dict[str, Any]]:
    """Read the declaration and the fields given as flags. Raises SpecError."""
    public = declaration(read_text("declaration", given.declaration, "the path of a JSON file"))
    found: dict[str, Any] = {}
    for field in FLAGS:
        text = getattr(given, field.name)
        if text is not None:
            found[field.name] = (
                parse_params(field.name, *text) if field.kind == "params" else field.parse(text)
            )
    return public, found


def check_command(given: argparse.Namespace) -> int:
    """Describe a file, the rows that violate the declaration, and the limits of a release, but store nothing. Return
    the exit status, which is STOPS if a release would be refused."""
    public, fields = asked(given)
    held_out = fields.get("held_out", SHARE)
    blank = UploadSpec(data=NOWHERE, declared=public.text, n=1, **fields | {"held_out": held_out})
    found = counted(Path(given.data), public)
    n, outside = found.n, found.outside
    key = ledger.known_key()
    for name, day in ledger.read_before(ledger.digest_of(Path(given.data), key)) if key else ():
        print(f"Note: an earlier release used this file, under the budget {name} ({day}). Releases add up.")
    S, A, H, _ = public.size
    sizes = f"{plural(S, 'state')}, {plural(A, 'action')}, {plural(H, 'step')}"
    print(f"{uploads.people(n, public.episodes)}: {sizes}.")
    print(outside if outside else "Everything in the file is declared.")
    stops = list(filter(None, [outside.refusal()]))
    checked = round(held_out * n)
    if checked == n:
        raise SpecError("held_out", "this would hold out everyone; give a smaller share.")
    spec = blank.replace(n=n, checked=checked)
    print(" ".join(uploads.outlook(*outlook(spec))))
    if given.budget is not None:
        budget = Budget(given.budget)
        known = uploads.budget_so_far(budget) if Budget.known(budget.name) else uploads.PAGE["new_budget"]
        print(known.replace("**", ""))
        stops += filter(None, [budget.refusal(draws_of(spec))])
    for wrong in stops:
        print(f"A release would stop here: {wrong}")
    print("Nothing was released or kept.")
    return STOPS if stops else 0


def note(said: str) -> None:
    """Print a note on stderr."""
    print(f"Note: {said}", file=sys.stderr)


def tell_owner(outside: Outside, path: str | None) -> None:
    """Show undeclared content only to the file's owner, in a file that nobody else can open or on a terminal."""
    if path is None:
        if sys.stderr.isatty():
            note(str(outside))
        return
    try:
        mode = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with open(os.open(path, mode, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{outside}\n")
    except OSError as error:
        raise SpecError("notes", f"{shown(path)} cannot be written to ({error.strerror}).") from None


def release_command(given: argparse.Namespace, run_one: Callable[[UploadSpec, int], int]) -> int:
    """Make one release and write its files, then delete the stored content of the user's file. `run_one` computes a
    spec and writes its files. Its second argument is the number of releases under the budget, including this one."""
    public, fields = asked(given)
    total = None if given.total is None else FIELDS["rho"].parse(given.total)
    UploadSpec(data=NOWHERE, declared=public.text, n=1, **fields)  # checks the other arguments first
    if (Path(given.out) / "policy.json").exists():
        raise SpecError("out", f"{shown(given.out)} already contains a policy.json; give another folder.")
    budget = Budget(given.budget, rho=total)
    if given.notes is None and not sys.stderr.isatty():
        note(NOT_SHOWN)
    name = kept.new_name()
    marker = kept.hold(name)  # if this process is killed, the next command deletes the stored content
    try:
        spec = take(
            Path(given.data), public.text, {"held_out": SHARE} | fields, name,
            tell=lambda outside: tell_owner(outside, given.notes), recall=note, budget=budget,
            accept_undeclared=given.accept_undeclared,
        )  # fmt: skip
        draws = draws_of(spec)
        if wrong := budget.refusal(draws):
            raise SpecError("budget", wrong)
        after = together((*budget.draws, *draws))
        sizes = spec.public.episodes, len(spec.public.groups)
        told = verdict.beforehand(spec.learned_from, spec.checked, together(draws).text, *sizes, after.text)
        note(" ".join([told, *uploads.outlook(*outlook(spec))]).replace("**", ""))
        status = run_one(spec, len(budget.releases) + 1)
        print(f"Note: {uploads.budget_so_far(budget)}".replace("**", ""))
    finally:
        kept.forget(name)
        marker.close()
    return status
