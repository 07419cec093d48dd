"""Warnings: what they count, and that they are silent where there is nothing to warn of."""

from __future__ import annotations

import numpy as np

from dprl import metrics
from dprl.sentences import doubts

EPISODES = np.array([1, 10, 100, 1000, 10_000])


def test_seeds_that_lose_in_proportion_to_the_users_are_counted() -> None:
    flat = np.array([1.0, 5.0, 9.0, 9.0, 9.0])
    relapsed = flat + np.array([0.0, 0.0, 0.0, 1e3, 1e4])
    assert metrics.unsettled(EPISODES, np.array([flat, relapsed, EPISODES / 2])) == 2
    assert metrics.unsettled(EPISODES, np.array([np.zeros(5), np.sqrt(EPISODES)])) == 0
    assert metrics.unsettled(np.zeros(0, np.int64), np.zeros((2, 0))) == 0


def test_nothing_to_warn_of() -> None:
    assert doubts.unsettled(0, 5) == doubts.about_negative_prices([]) == ""


def test_words() -> None:
    assert "at K = 10 and K = 100 in up to 3 of 5 seeds" in doubts.unsettled(3, 5, ["K = 10", "K = 100"])
    assert "for these: a, b, c and 2 more. There" in doubts.about_negative_prices(list("abcde"))
