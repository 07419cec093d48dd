"""A reader's own prediction in a lesson: the possible answers, with the verdict on each."""

from __future__ import annotations

import itertools
from typing import Any

from dprl.lessons import Choice, Marker, Step
from pages.shared.lessons import evidence


def guess_of(step: Step) -> dict[str, Any]:
    """Return the controls of a question, and the verdict on each of their settings, as JSON.

    A marker becomes a slider over its marks, with `stops` their places on the chart; a choice becomes a menu; an order
    becomes a menu for each curve. Settings are written by `Prediction.write`.
    """
    asked = step.prediction
    if isinstance(asked, Marker):
        return {
            "menus": [],
            "words": [asked.said(mark) for mark in asked.marks],
            "ends": list(asked.ends),
            "stops": list(asked.marks),
            "at": asked.marks.index(asked.untouched),
            "verdicts": {str(i): judged(step, asked.write(mark)) for i, mark in enumerate(asked.marks)},
        }
    if isinstance(asked, Choice):
        return {
            "menus": ["Your prediction"],
            "words": [said for _, said in asked.choices],
            "verdicts": {
                str(i): judged(step, asked.write(power)) for i, (power, _) in enumerate(asked.choices)
            },
        }
    curves = range(1, len(asked.items) + 1)
    return {
        "menus": [f"Curve {number}" for number in curves],
        "words": list(asked.items),
        "verdicts": {
            ",".join(map(str, order)): judged(step, asked.write(order))
            for order in itertools.permutations(range(len(asked.items)))
        },
    }


def judged(step: Step, text: str) -> str:
    """Describe the error of a guess, with the usual reasoning behind it."""
    known = evidence()
    return f"{step.off(text, known)} {step.reply(text, known)}".strip()
