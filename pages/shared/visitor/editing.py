"""An environment in the editor, as a visitor's session holds it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Editing:
    """An environment in the editor.

    Attributes:
        of: the text that it was when the editor opened.
        model: what the tables were drawn from.
        edited: what they hold now.
        past: what they held before each edit.
        drawn: part of their keys, raised when they are drawn again.
        undone: part of the keys of the names, raised when an edit is undone.
        open: whether the editor is; closed, it keeps what was edited until that is used or discarded.
    """

    of: str
    model: dict[str, Any]
    edited: dict[str, Any]
    past: list[dict[str, Any]] = field(default_factory=list)
    drawn: int = 0
    undone: int = 0
    open: bool = True

    def draw(self, model: dict[str, Any]) -> None:
        """Draw the tables from another model."""
        self.model = self.edited = model
        self.drawn += 1

    def undo(self) -> None:
        """Undo the last edit."""
        self.draw(self.past.pop())
        self.undone += 1
