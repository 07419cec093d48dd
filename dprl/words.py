"""Write numbers as text for sentences, tables and axes. The sentences around them are in dprl/messages.

A million is "1 million" in every sentence. Powers of ten from 10⁶ to 10¹⁴ appear only in tables of measured quantities
and at axes without room for words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from dprl.messages import filled, messages

SAID = messages("words")["number"]
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def raised(n: float) -> str:
    """Write a number as an exponent: ², ⁻⁶, or ^−0.5 if it is not an integer."""
    if n != int(n):
        return f"^{n:g}".replace("-", "−")
    return f"{n:g}".translate(_RAISED)


def human(value: float) -> str:
    """Write a number for a sentence, to three digits: 0.0571, 12,300, 1.2 million, 3.4 trillion, 1.5×10¹⁵.

    Integers below a million keep all digits, and numbers that are not finite become "unknown".
    """
    if not math.isfinite(value):
        return str(SAID["unknown"])
    sign, size = ("−" if value < 0 else ""), abs(float(value))
    if size == 0:
        return "0"
    if size < 1e-4 or size >= 9.995e14:
        factor, ten = _scientific(size, 2)
        return sign + (ten if factor == "1" else f"{factor}×{ten}")
    for unit, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if size >= 0.9995 * unit:
            return filled(SAID[word], n=f"{sign}{float(f'{size / unit:.3g}'):g}")
    rounded = size if size == round(size) else float(f"{size:.3g}")
    if size >= 1000:
        return sign + f"{rounded:,.0f}".replace(",", SAID["thousands"])
    return sign + (f"{rounded:.4f}".rstrip("0").rstrip(".") if size < 0.01 else f"{rounded:g}")


def at_least(value: float, digits: int = 3) -> str:
    """Write a lower bound as `human` does, but rounded down: 1.996 becomes 1.99."""
    return human(_cut(Decimal(value), ROUND_FLOOR, digits)) if math.isfinite(value) else human(value)


def at_most(value: float, digits: int = 3) -> str:
    """Write an upper bound like `human`, but rounded up: 3.6624 becomes 3.67. Ignore a relative excess up to SLACK."""
    return human(_cut(_eased(value), ROUND_CEILING, digits)) if math.isfinite(value) else human(value)


def proves(epsilon: float, delta: float) -> str:
    """Write a proved pair (ε, δ), with both rounded up by `at_most`."""
    return f"({at_most(epsilon)}, {at_most(delta)})"


def share_at_most(share: float) -> str:
    """Write an upper bound on a share as a percentage with one decimal, rounded up."""
    return f"{(1000 * _eased(share)).to_integral_value(ROUND_CEILING) / 10:.1f}%"


def upward(value: float, digits: int = 6) -> float:
    """Round a number up to `digits` significant digits. Infinity stays infinite."""
    return float(Context(digits, ROUND_CEILING).plus(_eased(value))) if math.isfinite(value) else value


SLACK = Decimal("1e-9")  # relative, more than the error of floating-point arithmetic


def _eased(value: float) -> Decimal:
    return Decimal(value) * (1 - SLACK) if value > 0 else Decimal(value)


def _cut(value: Decimal, way: str, digits: int) -> float:
    """Round a number with the `decimal` rounding mode `way`, so that `human` need not round it further."""
    size = abs(value)
    if Decimal("1e-4") <= size < Decimal("0.01"):
        return float(value.quantize(Decimal("1e-4"), way))
    if size == size.to_integral_value() and 1000 <= size < 999_500:
        return float(value)
    return float(Context(digits, way).plus(value))


def rough(value: float) -> str:
    """Write a number that is known only to two digits, for a sentence: 4.7 million, 320 times."""
    return human(float(f"{value:.2g}"))


def percent(share: float) -> str:
    """Write a share as a percentage, to two digits: 0.018 is 1.8%. Extremes are "less than 0.01%" and "99.9%"."""
    if not math.isfinite(share):
        return str(SAID["unknown"])
    value = 100 * share
    if 0 < value < 0.01:
        return str(SAID["tiny"])
    if 99 < value < 100:
        return f"{math.floor(10 * value) / 10:g}%"
    return (f"{float(f'{value:.2g}'):g}%" if abs(value) < 99 else f"{value:.0f}%").replace("-", "−")


def exponent(value: float) -> str:
    """Write the exponent x of K^x to two decimal places: 0.50, −1.02, and 0.00 without a sign."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "−")


def exponents(mean: float, low: float, high: float) -> str:
    """Write an exponent with its interval, if any: 0.50 (0.48 to 0.52)."""
    return interval(exponent(mean), low, high, exponent)


def to_the(base: str, mean: float, low: float = math.nan, high: float = math.nan) -> str:
    """Write a power with a measured exponent and, if there is one, its interval: K^0.50 (exponent 0.48 to 0.52)."""
    power = f"{base}^{exponent(mean)}"
    known = math.isfinite(low) and math.isfinite(high)
    return filled(SAID["exponent"], power=power, low=exponent(low), high=exponent(high)) if known else power


BUDGETS = ("ε", "ρ")  # the symbols of budgets in sentences


def halving(slope: tuple[float, float, float], symbol: str, short: bool, what: str) -> str:
    """Describe the effect of halving the budget, as in "halving ε multiplies the cost by 1.7 (1.6 to 1.8)". Return ""
    unless the cost's exponent `slope` (mean, low, high) is negative and `symbol` is a budget."""
    if symbol not in BUDGETS or not slope[0] < 0:
        return ""
    mean, low, high = (2**-e for e in (slope[0], slope[2], slope[1]))
    times = human(mean) if short else interval(human(mean), low, high)
    return filled(SAID["halving"], symbol=symbol, what=what, times=times)


def interval(value: str, low: float, high: float, write: Callable[[float], str] = human) -> str:
    """Write a measurement with its interval, if any: 5 times as much (4.2 to 6.1)."""
    known = math.isfinite(low) and math.isfinite(high)
    return filled(SAID["interval"], value=value, low=write(low), high=write(high)) if known else value


def after(episode: float) -> str:
    """Write a time, such as "after 1.2 million episodes"."""
    return "after 1 episode" if episode == 1 else f"after {human(episode)} episodes"


def plural(n: int, one: str, many: str = "") -> str:
    """Write a number and its noun: 1 seed, 5 seeds."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def ordinal(n: int) -> str:
    """Write an ordinal: 1st, 2nd, 3rd, 11th."""
    suffix = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{suffix}"


def listed(parts: Sequence[str]) -> str:
    """Join parts with commas and "and": a; a and b; a, b and c."""
    if len(parts) == 1:
        return parts[0]
    return filled(SAID["list"], some=str(SAID["comma"]).join(parts[:-1]), last=parts[-1])


def some(parts: Sequence[str], most: int = 3) -> str:
    """List the first parts and count the rest: a, b, c and 2 more."""
    return listed([*parts[:most], f"{len(parts) - most} more"] if len(parts) > most else parts)


def duration(seconds: float | None) -> str:
    """Write a rounded duration: about 40 s, about 3 min, about 1.5 h."""
    if seconds is None or not math.isfinite(seconds):
        return "an unknown time"
    if seconds < 1:
        return "less than a second"
    if seconds < 90:
        return f"about {round(seconds)} s"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min"
    return f"about {seconds / 3600:.1f} h"


def size(bytes_: float) -> str:
    """Write an amount of storage: 512 bytes, 1.5 kB, 20 MB, 3 GB."""
    for unit in ("bytes", "kB", "MB"):
        if bytes_ < 1000:
            return f"{bytes_:.0f} {unit}" if unit == "bytes" else f"{bytes_:.3g} {unit}"
        bytes_ /= 1000
    return f"{bytes_:.3g} GB"


def promise(epsilon: float, delta: float) -> str:
    """Write a pair (ε, δ): (1, 10⁻⁶)."""
    return f"({human(epsilon)}, {human(delta)})"


def odds(chance: float) -> str:
    """Write a small positive chance in words: one in a million, one in 40,000, one in 10¹⁵."""
    return "one in " + re.sub(r"^1 (?=[mbt])", "a ", human(1 / chance))


def quoted(label: str) -> str:
    """Write a label in bold Markdown, with special characters escaped."""
    return "**" + re.sub(r"([\\`*_\[\]$:<>~#|])", r"\\\1", label) + "**"


def power(value: float) -> str:
    """Write a number for an axis, as a power of ten, perhaps with a factor: 1, 100, 10⁶, −10³, 3×10⁴."""
    if value == 0:
        return "0"
    sign, size = ("−" if value < 0 else ""), abs(value)
    exponent = math.floor(math.log10(size) + 1e-12)
    factor = size / 10.0**exponent
    if -3 < exponent < 3:
        return f"{sign}{size:g}"
    ten = f"10{raised(exponent)}"
    return f"{sign}{ten}" if abs(factor - 1) < 1e-9 else f"{sign}{factor:.2g}×{ten}"


def brief(value: float) -> str:
    """Write a count briefly for a cell: 0, 950, −5.2k, 1.2M, 3.4B, 5.6T, 10¹⁵."""
    sign, size = ("−" if value < 0 else ""), abs(float(value))
    if size >= 9.5e14:
        return power(float(f"{value:.1g}"))
    for unit, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if size >= 0.9995 * unit:
            factor = float(f"{size / unit:.2g}") if size < 99.5 * unit else round(size / unit)
            return f"{sign}{factor:g}{letter}"
    return f"{sign}{size:.0f}"


def count(value: float) -> str:
    """Write a number of episodes for a label: 50,000, 250,000, 3.2 million, 10¹⁵."""
    if abs(value) < 100_000:
        return f"{value:,.{0 if float(value).is_integer() else 1}f}".replace("-", "−")
    return human(value)


def significant(value: float | None, digits: int = 4) -> str:
    """Write a quantity for a table, to a few significant digits, or a dash for None."""
    if value is None or not math.isfinite(value):
        return "–"
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        return "×".join(_scientific(value, max(digits - 2, 0)))
    return (f"{value:,.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}").replace("-", "−")


def _scientific(value: float, decimals: int) -> tuple[str, str]:
    """Split a nonzero number into a rounded factor below ten and a power of ten."""
    mantissa, exponent = f"{value:.{decimals}e}".split("e")
    factor = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return factor.replace("-", "−"), f"10{raised(int(exponent))}"


def typed(value: float) -> str:
    """Write a number as a user would type it into a field: 0.5, 20, 250000, 1e9."""
    if value == int(value) and abs(value) >= 1e6:
        mantissa, _, exponent = f"{value:.15e}".partition("e")
        short = mantissa.rstrip("0").rstrip(".")
        if len(short) <= 6:
            return f"{short}e{int(exponent)}"
    return str(int(value)) if value == int(value) else f"{value:.12g}"
