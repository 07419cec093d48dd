"""What Trade-offs asks of a kind of specs: what is compared, along which axes, and where a run is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from dprl.fields import Field
from dprl.figures.tradeoff import Measure
from dprl.simulation import RunSpec
from pages.shared.offline.settings import OfflineSettings
from pages.shared.visitor.draft import Draft
from pages.tradeoffs.offline import Offline
from pages.tradeoffs.online import Online


class SweepKind(Protocol):
    """One kind of specs on this page.

    A chart has a line for each of `models`, or where there is a second axis for each of them at each of its values.

    Attributes:
        title: in the menu; asked: on the button that leads to it.
        base: the run to begin with.
        shows: the charts there are, with their titles.
        measures: what figures call what `price` and `regret` show.
        worst_named: all there is to lose, in a table's heading.
        page: the path of the one on which a run is looked at.
    """

    title: str
    asked: str
    base: Any
    shows: Mapping[str, str]
    measures: Mapping[str, Measure]
    worst_named: str
    page: str

    def based(self, base: Any) -> Any:
        """The base, or one like it that can be swept."""

    def budget(self, base: Any) -> str:
        """The axis that is the privacy budget."""

    def axes(self, base: Any) -> dict[str, Field]:
        """What can be on the axis, the budget first."""

    def values(self, base: Any, x: str) -> tuple[Any, ...]:
        """Values of an axis to begin with."""

    def usual(self, base: Any) -> tuple[str, ...]:
        """Models to begin with."""

    def checked(self, base: Any, models: Sequence[str]) -> tuple[str, ...]:
        """The models in canonical form. Raises SpecError."""

    def second(self, base: Any, x: str) -> str:
        """The second axis beside this one, "" for none."""

    def among(self, base: Any, x: str) -> tuple[Any, ...]:
        """Values of the second axis to begin with."""

    def lines(
        self, base: Any, models: tuple[str, ...], x: str, among: tuple[Any, ...]
    ) -> dict[str, Sequence[Any]]:
        """All axes of the sweep but x."""

    def titles(self, base: Any, x: str, lines: Sequence[tuple[Any, ...]], free: Sequence[bool]) -> list[str]:
        """What each line is called. lines: values of those axes; free: whether it is without privacy."""

    def proved(self, specs: Sequence[Any], x: str, show: str) -> str:
        """What is proved of these runs' exponents, in a sentence, where that is not said on another page."""

    def doubted(self, spec: Any) -> bool:
        """Whether a run without privacy may have missed the best policy for good, which is then looked for."""

    def size(self, spec: Any) -> str:
        """How many people a run has, in words."""

    def view(self, spec: Any) -> list[tuple[str, str]]:
        """The link to a run beside the same without privacy, as query parameters."""

    def common(self, base: Any, x: str, users: bool) -> list[str]:
        """What all points share, in words. users: how many users it takes is what is shown."""

    def draft(self, base: Any) -> Draft:
        """The draft of the environment and constants."""

    def settings(self, base: Any, models: tuple[str, ...]) -> OfflineSettings:
        """Of runs on data sets, who the data come from, learners and promise."""

    def questions(self, base: Any, models: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        """Other studies of the same base, by the question they answer, as fields of a SweepView. models: those now."""


SUBJECTS: dict[str, SweepKind] = {RunSpec.kind: Online(), "offline": Offline()}
