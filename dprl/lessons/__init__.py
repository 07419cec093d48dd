"""Nine lessons of about five minutes: questions, predictions, and what runs say."""

from __future__ import annotations

from dprl.lessons.episode import EPISODE
from dprl.lessons.epsilon import GUARANTEE
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.one_draw import ONE_DRAW
from dprl.lessons.pessimism import PESSIMISM
from dprl.lessons.prediction import Marker, Order, Prediction, Slope, cloud
from dprl.lessons.price import PRICE
from dprl.lessons.proved import PROVED
from dprl.lessons.trust import TRUST
from dprl.lessons.users import USERS
from dprl.lessons.weights import WEIGHTS

LESSONS = {
    lesson.key: lesson
    for lesson in (GUARANTEE, EPISODE, TRUST, ONE_DRAW, PRICE, PROVED, PESSIMISM, WEIGHTS, USERS)
}

__all__ = [
    "LESSONS", "Attempt", "DrawnSeries", "Lesson", "Marker", "Order", "Plot", "Prediction", "Slope",
    "Step", "cloud",
]  # fmt: skip
