"""Words and numbers as the pages write them, and the one place where text is made safe to show."""

from __future__ import annotations

import math
import re

# Everything Markdown, Streamlit's directives (:red[...], :material/...:), LaTeX and HTML start with.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&^=@\"'/])")
# What becomes a link by itself, even where its signs are escaped: www.x, x://y, x@y.
_AUTOLINK = re.compile(r"www\.|://|@\w", re.IGNORECASE)
_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def escape(text: str) -> str:
    """`text` for a place that reads Markdown: shown as it is written, never interpreted."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return _SPECIAL.sub(r"\\\1", unlinked(flat))


def unlinked(text: str) -> str:
    """`text` with an invisible joint in whatever Markdown would make a link of although nobody marked it as one."""
    return _AUTOLINK.sub(lambda match: match.group()[0] + "\u2060" + match.group()[1:], text)


def count(value: float) -> str:
    """A number of episodes: 50,000, then 10⁹ or 3.2×10⁷."""
    if abs(value) < 100_000:
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
    exponent = math.floor(math.log10(abs(value)))
    mantissa = round(value / 10**exponent, 2)
    if mantissa >= 10:
        mantissa, exponent = 1.0, exponent + 1
    power = "10" + str(exponent).translate(_SUPERSCRIPT)
    return power if mantissa == 1 else f"{mantissa:g}×{power}"


def significant(value: float | None, digits: int = 4) -> str:
    """A quantity at a few significant digits; a dash when there is none."""
    if value is None or not math.isfinite(value):
        return "–"
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        exponent = math.floor(math.log10(abs(value)))
        mantissa = f"{value / 10**exponent:.{max(digits - 2, 0)}f}".rstrip("0").rstrip(".")
        return f"{mantissa}×10{str(exponent).translate(_SUPERSCRIPT)}"
    return f"{value:,.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"


def duration(seconds: float | None) -> str:
    """How long, in words, rounded as one would say it."""
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
    """An amount of storage."""
    for unit in ("bytes", "kB", "MB"):
        if bytes_ < 1000:
            return f"{bytes_:.0f} {unit}" if unit == "bytes" else f"{bytes_:.3g} {unit}"
        bytes_ /= 1000
    return f"{bytes_:.3g} GB"


def plural(n: int, one: str, many: str = "") -> str:
    """1 seed, 5 seeds."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def ordinal(n: int) -> str:
    """1st, 2nd, 3rd, 11th."""
    suffix = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{suffix}"


def plain_number(value: float) -> str:
    """A number as one would type it into a field: 0.5, 20, 250000, 1e9."""
    if value == int(value) and abs(value) >= 1e6:
        mantissa, _, exponent = f"{value:.15e}".partition("e")
        short = mantissa.rstrip("0").rstrip(".")
        if len(short) <= 6:
            return f"{short}e{int(exponent)}"
    return str(int(value)) if value == int(value) else f"{value:.12g}"
