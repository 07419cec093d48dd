"""What the points of a study do not say."""

from __future__ import annotations

from dprl.research.frontiers import SYMBOLS
from dprl.sentences import doubts as sentences
from dprl.words import count
from pages.shared.results import doubts
from pages.tradeoffs import state as trade
from pages.tradeoffs.study import SweepView


def of_study(study: SweepView) -> list[str]:
    """Of runs without privacy that have not found the best policy, and where the axis is not epsilon at which values;
    of prices below zero."""
    symbol = SYMBOLS.get(study.x, study.x)
    stuck: dict[str, tuple[int, int]] = {}
    negative: list[str] = []
    for line, title in study.titles.items():
        for x, spec in trade.points(study, line):
            at = f"{symbol} = {count(x) if x >= 1 else format(x, 'g')}"
            if study.subject.doubted(spec) and (seeds := doubts.stuck(spec.baseline())):
                stuck["" if study.x == study.subject.budget(study.base) else at] = (seeds, spec.seeds)
            if spec != spec.baseline():
                price = trade.ends(spec) - trade.ends(spec.baseline())
                negative += doubts.below_zero(f"{title} at {at}", price)
    said = [sentences.unsettled(*max(stuck.values()), at=list(filter(None, stuck)))] if stuck else []
    return [*said, sentences.about_negative_prices(negative)]
