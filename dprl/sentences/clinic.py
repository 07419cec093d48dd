"""Sentences of a classroom that plays the clinic: they fill the texts of dprl/messages with numbers."""

from __future__ import annotations

import math

from dprl.messages import counted, filled, messages
from dprl.words import human, rough

SAID = messages("room")["clinic"]


def about(steps: int, asked: int) -> str:
    """Describe a phone's task. asked: the number of steps that the phone reports."""
    report = SAID["report"] if asked == 1 else filled(SAID["report_more"], some=asked)
    return f"{filled(SAID['about'], steps=steps)} {report}"


def proof(epsilon: float, bit: float, asked: int) -> str:
    """State the guarantee of the randomised bits, two for each step that is reported."""
    factor = human(math.exp(epsilon))
    return filled(SAID["proof"], bits=2 * asked, bit=human(bit), factor=factor, epsilon=human(epsilon))


def visits(n: int, steps: int, state: str, law: float, said: float, spread: float) -> str:
    """Describe the algorithm's data on the most visited state."""
    return filled(
        SAID["visits_see"],
        users=counted(n, "user"),
        visits=human(n * steps),
        law=f"{law:.0f}",
        state=state,
        said=f"{said:.0f}".replace("-", "−"),
        spread=rough(spread),
    )
