"""Offline as a page that compares runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dprl.simulation import OfflineSpec
from dprl.words import count, plural
from pages.offline.examples import EXAMPLES
from pages.offline.view import OfflineView
from pages.shared.comparison.record import ComparisonPage, ComparisonState
from pages.shared.offline import names
from pages.shared.offline.settings import OfflineSettings, drafted, settings_of


@dataclass(kw_only=True)
class OfflineState(ComparisonState[OfflineSpec, OfflineView, OfflineSettings]):
    """What a visitor has on the page. keep: Run adds to what is compared."""

    keep: bool = False

    def reset(self) -> Callable[[], None]:
        """The controls are those of the first view; what is compared stays. Returns what undoes it, but the draft."""
        keep, self.keep = self.keep, False
        undo = super().reset()

        def back() -> None:
            self.keep = keep
            undo()

        return back


OFFLINE = ComparisonPage(
    path="offline",
    kind=OfflineSpec.kind,
    view=OfflineView,
    state_type=OfflineState,
    examples=EXAMPLES,
    settings_of=settings_of,
    draft_of=drafted,
    titles=names.titles,
    in_common=names.in_common,
    most_private=names.most_private,
    amount=lambda specs: (
        f"{plural(len(specs), 'run')} on data sets of up to {count(specs[0].n)} trajectories"
    ),
)
