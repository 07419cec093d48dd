"""What a room says of its questions: who sees what, what the coin proves, and what the reports tell."""

from __future__ import annotations

import math

from dprl.metrics import Measured
from dprl.words import human, percent, plural, promise

TAP = (
    "Your phone draws a coin for you, once, and sends only the report: your answer or its opposite. What you tap never "
    "leaves the phone."
)
SCRIPT = (
    "This server sends the script that draws the coin. Your browser's developer tools show the script, and all that "
    "the page sends."
)
WATCHED = (
    "The room asks for no name and writes down no address. Somebody who watches the chart while you tap may still "
    "know which report is yours. The coin protects that report, too. That your device answered is not hidden."
)
LIVE = "Nobody mixes them here: the chart moves with every answer."
REPEATED = (
    "A device is a browser. If you answer again from another browser, you are counted again and spend another ε. The "
    "same happens after you empty its memory."
)
GUESSES = (
    "Predictions are about a chart, not about you. The room keeps them as you make them, without a name and without "
    "a coin."
)
WAITS = "Your prediction is not sent yet. When your teacher reveals the answer, your prediction counts as it stands."
TAKEN = "Your prediction was not sent, and counts as it stood when your teacher revealed the answer."
UNSENT = "Your prediction was not finished. Your teacher's chart does not count it."
MISSED = "Your last prediction was not finished. Your teacher's chart does not count it."
CLOSED = (
    "Your teacher has closed this room. Nobody answers any more. The last result stays here until the room is "
    "deleted, within a day."
)
GONE = "This room has been deleted: your teacher did so, or a day has passed."


def coin(epsilon: float, flip: float) -> str:
    """What the coin does, and what it proves."""
    return (
        f"The coin at ε = {human(epsilon)} keeps an answer {percent(1 - flip)} of the time. So either report is at "
        f"most exp(ε) = {human(math.exp(epsilon))} times as likely with the one answer as with the other: (ε, 0)-local "
        "differential privacy of one answer, whoever sees the report."
    )


def held(total: float) -> str:
    """What a device may use up in all."""
    return (
        f"All questions of this room together take at most ε = {human(total)} from your phone. The room refuses a "
        "question that would take more."
    )


def left(epsilon: float, total: float) -> str:
    """What a teacher's questions may still use up of it."""
    return f"Each phone has ε = {human(epsilon)} left of {human(total)}."


def spent_on_phone(epsilons: list[float], total: float) -> str:
    """What a device has used up; epsilons: of the questions that it answered. total: what it may in all."""
    return (
        f"You have answered {plural(len(epsilons), 'question')}. The privacy budgets add up: ε = "
        f"{human(math.fsum(epsilons))} for all your answers together, of at most {human(total)}."
    )


def found(n: int, reported: int, yes: Measured) -> str:
    """What the class said."""
    low, high = f"{yes.low:.0f}", f"{yes.high:.0f}"
    within = f"from {low} to {high}" if low != high else "no other number"
    return (
        f"{reported} of {plural(n, 'report')} {'says' if n == 1 else 'say'} yes. Coins taken into account, about "
        f"{yes.value:.0f} of {n} answered yes: {within}, with 95% confidence over the coins alone."
    )


def shuffled(n: int, epsilon: float, delta: float) -> str:
    """What the same reports would prove behind a shuffler."""
    mixed = (
        "One report has no others to hide among: behind a trusted shuffler it"
        if n == 1
        else f"The same {n:,} reports, had a trusted shuffler mixed them before they were seen once,"
    )
    proved = promise(float(f"{epsilon:.3g}"), delta)
    return f"**Shuffle.** {mixed} would prove {proved} when one answer is replaced. {LIVE}"


def central(n: int, epsilon: float, far: int) -> str:
    """What a trusted curator would have said."""
    off = f"at most {plural(far, 'answer')} off" if far else "exact"
    return (
        f"**Central, simulated.** Suppose that a trusted curator had seen {plural(n, 'answer')} as the local estimate "
        f"says. One noisy count at ε = {human(epsilon)} would be {off} in at least 95% of draws. One draw is shown."
    )


def local(epsilon: float) -> str:
    """What is proved of the reports as they are."""
    return f"**Local.** ε = {human(epsilon)} for each report, whoever sees it: each phone drew its own coin."


def three(n: int, epsilon: float, amplified: float, delta: float, far: int) -> str:
    """All three, for the teacher's page."""
    return "\n\n".join([local(epsilon), shuffled(n, amplified, delta), central(n, epsilon, far)])
