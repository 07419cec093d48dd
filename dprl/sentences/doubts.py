"""What a run, or a price of privacy, does not say: warnings, alike on every page and on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from dprl.words import listed, plural

NAMED = 3  # prices below zero that are named one by one


def unsettled(stuck: int, of: int, at: Sequence[str] = ()) -> str:
    """Of a run without privacy that has not found the best policy in `stuck` of so many seeds, see `metrics.unsettled`;
    "" where it has in all. at: the points of a sweep where that is so, `stuck` at the worst of them."""
    if not stuck:
        return ""
    where = f" at {listed(at)}" if at else ""
    return (
        f"Without privacy the learner has not found the best policy{where} in {'up to ' if len(at) > 1 else ''}{stuck} "
        f"of {plural(of, 'seed')}: its regret there grows in proportion to the users, so what privacy costs cannot be "
        "read off such a seed."
    )


def about_negative_prices(names: Sequence[str]) -> str:
    """Of prices whose whole interval lies below zero; "" where there are none."""
    if not names:
        return ""
    said = list(names[:NAMED]) + ([f"{len(names) - NAMED} more"] if len(names) > NAMED else [])
    return (
        f"The mean price of privacy is below zero, with its whole 95% interval, for {listed(said)}: there the run "
        "without privacy lost more than the private one, so this is no price of privacy."
    )


def retired(cautions: Sequence[str]) -> str:
    """Of runs with constants that are not offered any more; "" where there are none."""
    return " ".join(
        f"Computed with earlier constants: {words}." for words in dict.fromkeys(filter(None, cautions))
    )
