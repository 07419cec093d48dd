"""A page that compares runs of one kind, as one record. What it keeps of a visitor and its link follow from it; so do
its examples, its strip, its box with Run (`parts`) and the menus of a close look (`closely`).

What only one page has is in its own folder: its view and its record, its settings, its tabs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from dprl.links import MAX_CURVES
from dprl.simulation import RunSpec
from pages.shared.controls.view import Widgets
from pages.shared.results.runs import Runs
from pages.shared.visitor import multi_run_link
from pages.shared.visitor.address import Query
from pages.shared.visitor.draft import Draft, draft_of
from pages.shared.visitor.state import ViewedState, session, write_address
from pages.shared.visitor.views import changed, fields_of

SpecT = TypeVar("SpecT")
ViewT = TypeVar("ViewT")
SettingsT = TypeVar("SettingsT")
StateT = TypeVar("StateT", bound="ComparisonState[Any, Any, Any]")


class Example(NamedTuple):
    """A comparison worth looking at.

    Attributes:
        title: on its button.
        say: what to see, in one sentence of plain text.
        view: how; None where it is seen in whatever tab is open.
    """

    title: str
    say: str
    specs: tuple[Any, ...]
    view: Any = None


class ComparisonLink(NamedTuple):
    """What a link says. problems: one plain sentence for each thing that could not be used."""

    specs: tuple[Any, ...]
    view: Any
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ComparisonPage(Generic[StateT]):
    """What such a page has of its own.

    Attributes:
        path: its key in the table of pages, that of the file of assets/ with the runs that come with it, and that of
            the group of its other runs.
        kind: key of that of its specs.
        view: what can be looked at: a dataclass of `looked` attributes, `tab` and `curve` among them.
        state_type: what it keeps of a visitor.
        examples: the first is what it opens with; their runs come with the program.
        settings_of(specs): the settings that give these runs, as far as there are such.
        draft_of(draft, specs): the draft that does, from one that there is.
        titles(specs): what each run is called, plain text, no two alike.
        in_common(specs): what all share and a reader needs to know, plain text.
        most_private(specs): the place of the run that promises most.
        amount(specs): how much these runs are, in words.
    """

    path: str
    kind: str
    view: type
    state_type: type[StateT]
    examples: tuple[Example, ...]
    settings_of: Callable[[Sequence[Any]], Any]
    draft_of: Callable[[Draft, Sequence[Any]], Draft]
    titles: Callable[[Sequence[Any]], list[str]]
    in_common: Callable[[Sequence[Any]], str]
    most_private: Callable[[Sequence[Any]], int]
    amount: Callable[[Sequence[Any]], str]

    @property
    def state(self) -> StateT:
        """This visitor's state of the page."""
        return session().state_of(self.path, self.begin)

    @cached_property
    def runs(self) -> Runs:
        """Where its runs are found."""
        return Runs((self.path,), self.path)

    @cached_property
    def widgets(self) -> Widgets:
        """Widgets of its view."""
        return Widgets(lambda: self.state, fields_of(self.view))

    def bundled_specs(self) -> list[Any]:
        """All runs of the examples, which come with the program."""
        return list(dict.fromkeys(spec for example in self.examples for spec in example.specs))

    def begin(self) -> StateT:
        """What a new visitor has."""
        first = self.examples[0]
        view, settings = first.view or self.view(), self.settings_of(first.specs)
        return self.state_type(page=self, specs=first.specs, view=view, settings=settings)

    def encode(self, specs: Sequence[Any], view: Any) -> list[tuple[str, str]]:
        """The query parameters of a link, in order, each key and value unescaped."""
        return multi_run_link.encode(specs, view)

    def decode(
        self, parameters: Mapping[str, Sequence[str]], files: Mapping[str, str] | None = None
    ) -> ComparisonLink:
        """Reads the query parameters (each key with all its values). files: see `multi_run_link.decode`."""
        specs, values, problems = multi_run_link.decode(parameters, self.view, self.kind, MAX_CURVES, files)
        return ComparisonLink(specs, self.view(**values), tuple(problems))

    @property
    def usual_curve(self) -> int:
        """What a view says of the run looked at while none was chosen."""
        return int(fields_of(self.view)[multi_run_link.CURVE].default)


@dataclass(kw_only=True)
class ComparisonState(ViewedState[ViewT], Generic[SpecT, ViewT, SettingsT]):
    """What such a page keeps of a visitor.

    Attributes:
        specs: the runs that are compared.
        settings: what the controls say besides the draft.
    """

    page: ComparisonPage[Any]
    specs: tuple[SpecT, ...]
    settings: SettingsT

    @property
    def first_draft(self) -> Draft:
        """That of the runs."""
        return self.page.draft_of(draft_of(RunSpec()), self.specs)

    @property
    def link(self) -> list[tuple[str, str]]:
        """The query parameters of the link to what is seen."""
        return self.page.encode(self.specs, self.view)

    def follow(self, given: Query) -> None:
        """Takes over a link, and starts what it names."""
        found = self.page.decode(given, session().files)
        self.problems, self.view = found.problems, found.view
        if found.specs:
            self.specs = found.specs
        self.set_controls(self.specs)
        self.page.runs.begin(self.specs)

    def set_controls(self, specs: Sequence[SpecT]) -> None:
        """Makes the controls those that give these runs."""
        s = session()
        self.settings = self.page.settings_of(specs)
        s.draft = self.page.draft_of(s.draft, specs)
        s.version += 1

    def reset(self) -> Callable[[], None]:
        """The controls are those of the first view; what is compared stays. Returns what undoes it, but the draft."""
        before = self.settings
        self.set_controls(self.page.examples[0].specs)

        def back() -> None:
            self.settings = before

        return back

    def compare(self, specs: Sequence[SpecT], view: ViewT | None = None) -> None:
        """Shows these runs, starts what is missing of them, and puts them into the address."""
        self.specs, self.problems = tuple(specs), ()
        if view is not None:
            self.view = view
        else:
            self.view = changed(self.view, curve=self.page.usual_curve)
        self.start()
        write_address(self)

    def take(self, example: Example) -> None:
        """Shows an example, and makes the controls those that give it."""
        self.compare(example.specs, example.view)
        self.set_controls(example.specs)

    def start(self) -> None:
        """Asks for the runs that are not there yet."""
        self.page.runs.start(self.specs)
