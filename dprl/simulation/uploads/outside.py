"""The parts of a file of trajectories that violate its declaration, for its owner alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import inf

from dprl.fields import shown
from dprl.messages import counted, filled, messages
from dprl.simulation.uploads.declaration import Declaration
from dprl.words import percent, plural

SAID = messages("refusals")["outside"]
MOST_NAMED = 5  # labels
MOST_UNDECLARED = 0.05  # of the rows, before the owner has to agree


@dataclass
class Outside:
    """The parts of a file outside of its declaration. Not private: for its owner alone.

    Attributes:
        declared: the declaration.
        rows: the number of rows of the file, without the heading.
        labels: the number of rows with each undeclared label, by column.
        last: the label as which these count, by column.
        padded: the number of episodes with fewer steps than declared; episodes: the number of all episodes.
        moved: the number of rows that were out of order.
        cut: the number of episodes with more steps than declared.
        beyond: the number of episodes that do not count because enough of their person's come first.
        rewards: the number of rows with a reward outside the declared range; lowest, highest: among all rewards.
    """

    declared: Declaration
    rows: int = 0
    labels: dict[str, Counter[str]] = field(default_factory=dict)
    last: dict[str, str] = field(default_factory=dict)
    padded: int = 0
    episodes: int = 0
    moved: int = 0
    cut: int = 0
    beyond: int = 0
    rewards: int = 0
    lowest: float = inf
    highest: float = -inf

    def __bool__(self) -> bool:
        """Return whether there are any such parts."""
        numbers = self.rewards, self.padded, self.moved, self.cut, self.beyond
        return any(numbers) or any(self.labels.values())

    def __str__(self) -> str:
        return " ".join(("Only for you, because it is not private:", *self.sentences()))

    def refusal(self) -> str:
        """Explain why this many undeclared labels need the owner's consent, in a sentence; "" if they are few."""
        for name, found in self.labels.items():
            if found.total() > MOST_UNDECLARED * self.rows:
                share = percent(found.total() / self.rows)
                most = ", ".join(shown(label) for label, _ in found.most_common(MOST_NAMED))
                return filled(
                    SAID["undeclared"], column=name, share=share, labels=most, last=shown(self.last[name])
                )
        return ""

    def sentences(self) -> list[str]:
        """Describe each kind of such parts, and how it counts, in a sentence."""
        said = []
        for name, found in self.labels.items():
            if found:
                most = found.most_common(MOST_NAMED)
                named = ", ".join(f"{shown(label)} ({count:,})" for label, count in most)
                told = {"column": name, "found": f"{found.total():,}", "rows": counted(self.rows, "row")}
                told |= {"named": named, "last": shown(self.last[name])}
                others = len(found) - len(most)
                more = {"others": counted(others, "other_label")} if others else {}
                said.append(filled(SAID["labels_more" if others else "labels"], **told, **more))
        if self.rewards:
            low, high = self.declared.reward_range
            column = self.declared.columns.get("reward", "reward")
            said.append(
                f"Column {column}: {self.rewards:,} of {plural(self.rows, 'row')} are outside the declared range "
                f"{low:g} to {high:g}; the file has {self.lowest:g} to {self.highest:g}. Each counts as the nearest "
                "limit."
            )
        if self.moved:
            said.append(
                f"{self.moved:,} of {plural(self.rows, 'row')} were not in order; they have been sorted."
            )
        if self.padded:
            said.append(
                f"{self.padded:,} of {plural(self.episodes, 'episode')} have fewer steps than {self.declared.size.H}; "
                f"they are continued in {shown(self.declared.absorbing)}."
            )
        if self.cut:
            H = self.declared.size.H
            said.append(
                f"{self.cut:,} of {plural(self.episodes, 'episode')} have more than {plural(H, 'step')}. Only the "
                f"first {H} steps of each count."
            )
        if self.beyond:
            said.append(
                f"{self.beyond:,} of {plural(self.episodes, 'episode')} come after the first "
                f"{self.declared.episodes} of their user; they do not count."
            )
        return said
