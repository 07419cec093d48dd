"""`UploadSpec`, the description of a run on an uploaded data set. It refers to stored counts but contains no data."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, TextIO, cast

from dprl import names
from dprl.fields import Field, Frozen, SpecError, check_type, documented, read_text, reject, shown
from dprl.mdp import Size
from dprl.messages import filled, messages
from dprl.messages.brief import described, tabulated
from dprl.simulation.base import field_table
from dprl.simulation.budgeted import Budgeted
from dprl.simulation.cost import Estimate
from dprl.simulation.offline_spec import FIELDS as OFFLINE
from dprl.simulation.uploads import kept
from dprl.simulation.uploads.check import SHARE
from dprl.simulation.uploads.declaration import FORM, Declaration, declaration, declaration_text
from dprl.simulation.uploads.ledger import Budget, digest_of, read_before
from dprl.simulation.uploads.prepare import Outside, counted
from dprl.statistics import DATASET

if TYPE_CHECKING:
    import pandas as pd

SAID = messages("refusals")["release"]
NOWHERE = "0" * 32  # the name of no data set
AXIS, MEASURE = "n", "lower"
LEARNERS = "dp-kl-lcb", "dp-plug-in"  # both plan from one release; the first has a proved bound

# Fields that a link may not carry have no query key.
FIELDS = field_table("upload", OFFLINE, declared={"help": FORM})


@documented(FIELDS)
@dataclass(frozen=True, kw_only=True, eq=False)
class UploadSpec(Budgeted):
    """A run on an uploaded data set, described in canonical form, so that specs with the same meaning are equal.

    `upload` makes a spec from a file. Two specs for one data set are two releases of it, unless their noise has the
    same scale: then they share one release. The curve has one point, the released lower bound on the learned policy's
    value. data is the name of the stored counts, declared is canonical JSON, n is the public number of people, and rho
    is the budget of zero-concentrated privacy.

    Raises:
        SpecError: A field is not allowed. The message names it and the allowed values.
    """

    data: str = ""
    declared: str = ""
    n: names.Whole = 1  # type: ignore[assignment]
    rho: names.NumberOrNone = None  # type: ignore[assignment]
    beta: names.Number = 0.1  # type: ignore[assignment]
    held_out: names.Number = 0.0  # type: ignore[assignment]
    checked: names.Whole = 0  # type: ignore[assignment]
    first_step: names.Whole = 0  # type: ignore[assignment]

    kind: ClassVar[str] = "upload"
    algorithm: ClassVar[str] = LEARNERS[0]  # type: ignore[misc]
    algorithm_params: ClassVar[Mapping[str, Any]] = Frozen({})  # type: ignore[misc]
    seeds: ClassVar[int] = 1  # each would be one more release
    TABLE: ClassVar[Mapping[str, Field]] = FIELDS
    privacy, calibration, epsilon, delta = "zcdp", "calibrated", None, None  # of every release

    __repr__ = described
    _repr_html_ = tabulated

    def __post_init__(self) -> None:
        self._check_fields()
        if not kept.NAME.fullmatch(self.data):
            raise SpecError("data", "a link never contains a private data set; give its file.")
        self._set("declared", declaration(self.declared).text)
        self._set("rho", 1.0 if self.rho is None else self.rho)
        self._check_cells("declared")
        if not 0 <= self.checked < self.n:
            raise reject("checked", SAID["held_out"], checked=f"{self.checked:,}", n=f"{self.n:,}")

    @property
    def learned_from(self) -> int:
        """Return the number of people from whose data the learner learns."""
        return self.n - self.checked

    @property
    def public(self) -> Declaration:
        """Return the public facts about the data set, parsed from `declared`."""
        return declaration(self.declared)

    @property
    def problem_size(self) -> Size:
        return self.public.size

    @property
    def rewards(self) -> str:
        """Return "known" if the mean rewards are declared, or "learned" if they are estimated from the data."""
        return "learned" if self.public.rewards is None else "known"

    @property
    def size(self) -> int:
        """Return the largest value on the curve's axis: n trajectories."""
        return self.n

    @property
    def contribution(self) -> int:
        return self.public.episodes

    def estimate(self) -> Estimate:
        """Estimate the cost of the release, on one core of a machine with two cores."""
        cells = DATASET.draws(self.problem_size)
        return Estimate(0.01 + cells * 3e-5, 8 * 40 * cells, 1)


def warn(message: object) -> None:
    """Give the caller of `upload` a Python warning."""
    warnings.warn(str(message), stacklevel=4)


def upload(
    file: str | Path | BinaryIO | TextIO | pd.DataFrame,
    declared: str | Path | Mapping[str, Any],
    *,
    held_out: float = SHARE,
    accept_undeclared: bool = False,
    tell: Callable[[Outside], object] = warn,
    budget: Budget | None = None,
    recall: Callable[[str], object] = warn,
    **fields: Any,
) -> UploadSpec:
    """Count the trajectories in a file, store the counts for a day, and return a spec that learns from them.

    Args:
        file: a CSV or Parquet file (its path, or an open file), or a pandas table; its columns are episode, step,
            state, action and reward, or have the declared names.
        declared: the public facts: the path of a JSON file, its text, or an object; see declaration.KEYS.
        held_out: the probability, from 0 to 0.5, that a person is held out to compare the learned policy with today's
            practice.
        accept_undeclared: whether undeclared labels, which count as the last declared one, may exceed 5% of a column.
        tell: a function called before the release with the labels and rewards outside the declaration, if there are
            any. They are for the owner alone. By default, it warns.
        budget: a budget that records each release, and may refuse it.
        recall: a function called with a sentence if a budget has a release of the file. By default, it warns.
        fields: fields of the spec, such as rho.

    Raises:
        SpecError: A field is not allowed, or the file is malformed. The message then names the row and column.

    Example:
        >>> import io
        >>> rows = "".join(f"{user},{h},{user % 2},{h},1\\n" for user in range(200) for h in range(2))
        >>> file = io.BytesIO(f"episode,step,state,action,reward\\n{rows}".encode())
        >>> spec = dprl.upload(file, {"states": 2, "actions": 2, "horizon": 2}, rho=1.0)
        >>> dprl.run(spec).seeds[0].verdict
        'too close'
    """
    check_type("declared", declared, str | Path | Mapping, f"the path of a JSON file, its text, or {FORM}")
    check_type("budget", budget, Budget | None, "a dprl.Budget")
    text = declaration_text(declared) if isinstance(declared, Mapping) else str(declared)
    if not text.lstrip("\ufeff \n\r\t").startswith("{"):
        text = read_text("declared", text, f"the path of a JSON file: {FORM}")
    return take(
        _opened(file), text, fields | {"held_out": held_out}, kept.new_name(),
        tell=tell, budget=budget, recall=recall, accept_undeclared=accept_undeclared,
    )  # fmt: skip


def take(
    file: Path | BinaryIO | pd.DataFrame,
    declared: str,
    fields: Mapping[str, Any],
    name: str,
    *,
    tell: Callable[[Outside], object],
    budget: Budget | None,
    recall: Callable[[str], object],
    accept_undeclared: bool = False,
) -> UploadSpec:
    """Count a file as `upload` does, with a declaration in JSON text and a given name for the stored counts."""
    public = declaration(declared)
    UploadSpec(data=NOWHERE, declared=public.text, n=1, **fields)  # an error in the rest comes first
    under = None
    if budget is not None:
        # a table is written as CSV only for its digest
        digest = digest_of(io.BytesIO(file.to_csv(index=False).encode()) if hasattr(file, "to_csv") else file)
        if before := read_before(digest):
            names = " and ".join(f"{shown(name)} ({day})" for name, day in before)
            recall(filled(SAID["before"], names=names))
        under = budget.name, budget.total, Budget.known(budget.name), digest
    found = counted(file, public, fields["held_out"])
    if found.outside:
        tell(found.outside)
    if not accept_undeclared and (wrong := found.outside.refusal()):
        raise SpecError("accept_undeclared", wrong)
    if found.checked == found.n:
        raise SpecError("data", "everyone would be held out; give more people, or hold nobody out.")
    kept.keep(name, found, public, under)
    numbers = {"n": found.n, "checked": found.checked, "first_step": found.first_step}
    return UploadSpec(data=name, declared=public.text, **numbers, **fields)


def _opened(file: Any) -> Path | BinaryIO | pd.DataFrame:
    """Return a file in a readable form: a path, a binary file, or a DataFrame. Raises SpecError for anything else."""
    if isinstance(file, str | Path):
        return Path(file)
    if isinstance(file, io.StringIO):
        return io.BytesIO(file.getvalue().encode())
    if isinstance(file, io.TextIOBase):
        file = getattr(file, "buffer", file)
    if not (hasattr(file, "to_csv") or (hasattr(file, "read") and not isinstance(file, io.TextIOBase))):
        allowed = "give the path of a CSV or Parquet file, or a pandas DataFrame"
        raise SpecError("data", f"{shown(file)} is not allowed; {allowed}.")
    return cast("BinaryIO | pd.DataFrame", file)
