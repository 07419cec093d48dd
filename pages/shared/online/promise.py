"""The noise's proved epsilon for each delta, as a curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from dprl.figures import attack as figures
from dprl.figures.picture import Picture
from dprl.privacy import Guarantee
from dprl.sentences import attack as sentences


def epsilon_picture(card: Guarantee, curves: dict[str, Any], night: bool) -> Picture:
    """Epsilon against delta."""
    deltas, epsilons = curves["deltas"], curves["epsilons"]
    own = (card.proved_epsilon, card.proved_delta) if card.proved_epsilon and card.proved_delta else None
    return figures.epsilon_of_delta(
        np.array(deltas),
        np.array(epsilons),
        own=own,
        see=sentences.about_epsilons(deltas, epsilons),
        dark=night,
    )
