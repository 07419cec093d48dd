"""What of a file of trajectories is outside of what is declared of it, as its owner alone is told."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import inf

from dprl.fields import shown
from dprl.messages import counted, filled, messages
from dprl.simulation.uploads.declaration import Declaration
from dprl.words import plural

SAID = messages("refusals")["outside"]
LABELS = ("state", "action", "next_state")  # columns
MOST_NAMED = 5  # labels


@dataclass
class Outside:
    """What of a file is outside of what is declared. Not private: for its owner alone.

    Attributes:
        declared: the declaration.
        rows: of the file, without the heading.
        labels: by column, how many rows have each label that is not declared.
        last: by column, what these count as.
        padded: how many episodes have fewer steps than declared; episodes: how many there are.
        moved: how many rows did not stand in order.
        beyond: how many episodes come after the first of their person that count.
        rewards: how many rows have a reward outside the declared range; lowest, highest: of all rewards.
    """

    declared: Declaration
    rows: int = 0
    labels: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in LABELS})
    last: dict[str, str] = field(default_factory=dict)
    padded: int = 0
    episodes: int = 0
    moved: int = 0
    beyond: int = 0
    rewards: int = 0
    lowest: float = inf
    highest: float = -inf

    def __bool__(self) -> bool:
        """Whether anything is."""
        numbers = self.rewards, self.padded, self.moved, self.beyond
        return any(numbers) or any(self.labels.values())

    def __str__(self) -> str:
        return " ".join(("Only for you, not private and kept nowhere:", *self.sentences()))

    def sentences(self) -> list[str]:
        """One for each column in which anything is, and what it counts as."""
        said = []
        for name, found in self.labels.items():
            if found:
                most = found.most_common(MOST_NAMED)
                named = ", ".join(f"{shown(label)} ({count:,})" for label, count in most)
                declared = (self.declared.actions if name == "action" else self.declared.states)[-1]
                told = {"column": name, "found": f"{found.total():,}", "rows": counted(self.rows, "row")}
                told |= {"named": named, "last": shown(self.last.get(name, declared))}
                if others := len(found) - len(most):
                    said.append(filled(SAID["labels_more"], others=counted(others, "other_label"), **told))
                else:
                    said.append(filled(SAID["labels"], **told))
        if self.rewards:
            low, high = self.declared.reward_range
            column = self.declared.columns.get("reward", "reward")
            said.append(
                f"Column {column}: {self.rewards:,} of {plural(self.rows, 'row')} are outside the declared "
                f"range {low:g} to {high:g}; the file has {self.lowest:g} to {self.highest:g}. Each counts "
                "as the nearest end."
            )
        if self.moved:
            said.append(
                f"{self.moved:,} of {plural(self.rows, 'row')} do not stand in order; they were sorted."
            )
        if self.padded:
            said.append(
                f"{self.padded:,} of {plural(self.episodes, 'episode')} have fewer steps than {self.declared.size.H}; "
                f"they go on in {shown(self.declared.absorbing)}."
            )
        if self.beyond:
            said.append(
                f"{self.beyond:,} of {plural(self.episodes, 'episode')} come after the first "
                f"{self.declared.episodes} of their user; they do not count."
            )
        return said
