"""What a room says of a class that plays the clinic. The words are in dprl/messages; here are the numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dprl.messages import counted, filled, messages
from dprl.words import human, percent, rough

SAID = messages("room")["clinic"]
LEARNED = 0.1  # share of the best possible reward: who loses less has learned


def about(steps: int, asked: int) -> str:
    """What a phone is to do. asked: about so many steps the phone reports."""
    report = SAID["report"] if asked == 1 else filled(SAID["report_more"], some=asked)
    return f"{filled(SAID['about'], steps=steps)} {report}"


def proof(epsilon: float, bit: float, asked: int) -> str:
    """What the randomised bits prove."""
    factor = human(math.exp(epsilon))
    return filled(SAID["proof"], bits=2 * asked, bit=human(bit), factor=factor, epsilon=human(epsilon))


def visits(n: int, steps: int, state: str, law: float, said: float, spread: float) -> str:
    """What to see in what the algorithm reads, of the state that is visited most."""
    return filled(
        SAID["visits_see"],
        users=counted(n, "user"),
        visits=human(n * steps),
        law=f"{law:.0f}",
        state=state,
        said=f"{said:.0f}".replace("-", "−"),
        spread=rough(spread),
    )


def after(n: int, same: bool, lost: float, plain: float) -> str:
    """What the class's reports have taught the algorithm. lost: by one more user; plain: without privacy."""
    told = filled(SAID["fails" if same else "moves"], lost=percent(lost))
    return f"{told} {filled(SAID['plain'], n=n, plain=percent(plain))}"


def learns(who: str, curve: Sequence[tuple[int, float]]) -> str:
    """From how many users on the average loss is small for good."""
    late = [users for users, lost in curve if lost >= LEARNED]
    users = next((users for users, _ in curve if not late or users > late[-1]), None)
    if users is None:
        return filled(SAID["never"], who=who)
    return filled(SAID["needs"], who=who, users=rough(users))


def three(n: int, epsilon: float, delta: float) -> str:
    """Whose data each curve is of."""
    simulated = {"epsilon": human(epsilon), "delta": human(delta)}
    return "\n\n".join(
        [
            filled(SAID["local"], n=n, epsilon=human(epsilon)),
            filled(SAID["shuffle"], **simulated),
            filled(SAID["central"], **simulated),
        ]
    )
