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
    """The parts of a file outside of its declaration. Not private: for its owner alone."""

    declared: Declaration
    rows: int = 0  # of the file, without the heading
    labels: dict[str, Counter[str]] = field(
        default_factory=dict
    )  # rows with each undeclared label, by column
    last: dict[str, str] = field(default_factory=dict)  # the label as which these count, by column
    episodes: int = 0  # all
    padded: int = 0  # episodes with fewer steps than declared
    cut: int = 0  # episodes with more steps than declared
    beyond: int = 0  # episodes that do not count because enough of their person's come first
    moved: int = 0  # rows that were out of order
    rewards: int = 0  # rows with a reward outside the declared range
    lowest: float = inf  # among all rewards, like the highest
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
                if others := len(found) - len(most):
                    told["others"] = counted(others, "other_label")
                said.append(filled(SAID["labels_more" if others else "labels"], **told))
        H, rows, episodes = self.declared.size.H, plural(self.rows, "row"), plural(self.episodes, "episode")
        if self.rewards:
            low, high = self.declared.reward_range
            column = self.declared.columns.get("reward", "reward")
            said.append(
                f"Column {column}: {self.rewards:,} of {rows} are outside the declared range {low:g} to {high:g}; the "
                f"file has {self.lowest:g} to {self.highest:g}. Each counts as the nearest limit."
            )
        if self.moved:
            said.append(f"{self.moved:,} of {rows} were not in order; they have been sorted.")
        if self.padded:
            goes_on = f"they are continued in {shown(self.declared.absorbing)}."
            said.append(f"{self.padded:,} of {episodes} have fewer steps than {H}; {goes_on}")
        if self.cut:
            counts = f"Only the first {H} steps of each count."
            said.append(f"{self.cut:,} of {episodes} have more than {plural(H, 'step')}. {counts}")
        if self.beyond:
            first = f"the first {self.declared.episodes} of their user; they do not count."
            said.append(f"{self.beyond:,} of {episodes} come after {first}")
        return said
