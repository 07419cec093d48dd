"""Eight lessons of about five minutes: questions, predictions, and what runs say."""

from __future__ import annotations

from dprl.lessons.lesson import Attempt, Drawn, Evidence, Known, Lesson, Plot, Step
from dprl.lessons.prediction import Marker, Order, Prediction, Slope, cloud
from dprl.lessons.trust import TRUST

LESSONS = {lesson.key: lesson for lesson in (TRUST,)}

__all__ = [
    "LESSONS", "Attempt", "Drawn", "Evidence", "Known", "Lesson", "Marker", "Order", "Plot", "Prediction", "Slope",
    "Step", "cloud",
]  # fmt: skip
