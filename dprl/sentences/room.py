"""Sentences that a class sees about its questions and about its clinic."""

from __future__ import annotations

import math

from dprl.messages import counted, filled, messages
from dprl.metrics.attack import Measured
from dprl.words import human, percent, proves, rough

COIN, PHONE = messages("room")["coin"], messages("room")["phone"]
RESULT = messages("room")["result"]
TEACHER, CLINIC = messages("room")["teacher"], messages("room")["clinic"]


def coin(epsilon: float, flip: float) -> str:
    """Explain how a phone randomises its response, and the guarantee. `flip` is the probability of a false answer."""
    return filled(
        PHONE["coin"], epsilon=human(epsilon), kept=percent(1 - flip), factor=human(math.exp(epsilon))
    )


def held(total: float) -> str:
    """State the total epsilon that a phone may spend."""
    return filled(PHONE["held"], total=human(total))


def left(epsilon: float, total: float) -> str:
    """State how much of the room's total epsilon is left for further questions."""
    return filled(TEACHER["left"], left=human(epsilon), total=human(total))


def spent_on_phone(epsilons: list[float], total: float) -> str:
    """State how much of a phone's budget (`total`) is spent. `epsilons` has a value for each answer."""
    return filled(
        PHONE["spent"],
        questions=counted(len(epsilons), "question"),
        spent=human(math.fsum(epsilons)),
        total=human(total),
    )


def found(n: int, reported: int, yes: Measured) -> str:
    """Describe the estimate of how many of n people would answer yes. `yes` is their share with its interval."""
    return filled(
        RESULT["found"],
        reported=reported,
        reports=counted(n, "report"),
        say=RESULT["says" if n == 1 else "say"],
        n=n,
        **{name: f"{n * share:.0f}" for name, share in zip(("yes", "low", "high"), yes, strict=True)},
    )


def if_more(now: Measured, n: int, then: Measured) -> str:
    """Compare the class's interval with the interval that n phones would give."""
    wide, narrow = (f"{round(100 * one.high) - round(100 * one.low)}" for one in (then, now))
    ends = {"low": f"{then.low:.0%}", "high": f"{then.high:.0%}"}
    return filled(RESULT["were_see"], n=human(n), wide=wide, now=narrow, **ends)


def shuffled(n: int, epsilon: float, delta: float) -> str:
    """State the guarantee that the phones' reports have if a trusted shuffler mixes them."""
    proved = proves(epsilon, delta)
    if n == 1:
        return filled(RESULT["mixed_one"], proved=proved, live=RESULT["live"])
    return filled(RESULT["mixed"], n=f"{n:,}", proved=proved, live=RESULT["live"])


def central(n: int, epsilon: float, far: int) -> str:
    """Describe the answer that a trusted curator would publish. Its error is likely at most `far` answers."""
    off = filled(RESULT["off"], answers=counted(far, "answer")) if far else RESULT["exact"]
    return filled(RESULT["central"], answers=counted(n, "answer"), epsilon=human(epsilon), off=off)


def three(n: int, epsilon: float, amplified: float, delta: float, far: int) -> list[str]:
    """Return a sentence about each privacy model: local, shuffle and central."""
    local = filled(RESULT["local"], epsilon=human(epsilon))
    return [local, shuffled(n, amplified, delta), central(n, epsilon, far)]


def about_clinic(steps: int, asked: int) -> str:
    """Describe what a phone does in the class's clinic. It reports `asked` of its steps."""
    report = CLINIC["report"] if asked == 1 else filled(CLINIC["report_more"], some=asked)
    return f"{filled(CLINIC['about'], steps=steps)} {report}"


def proof_of_bits(epsilon: float, bit: float, asked: int) -> str:
    """State the guarantee of the randomised bits, two for each reported step."""
    factor = human(math.exp(epsilon))
    return filled(CLINIC["proof"], bits=2 * asked, bit=human(bit), factor=factor, epsilon=human(epsilon))


def visits(n: int, steps: int, state: str, law: float, said: float, spread: float) -> str:
    """Describe what the algorithm learns about the most visited state."""
    return filled(
        CLINIC["visits_see"],
        users=counted(n, "user"),
        visits=human(n * steps),
        law=f"{law:.0f}",
        state=state,
        said=f"{said:.0f}".replace("-", "−"),
        spread=rough(spread),
    )
